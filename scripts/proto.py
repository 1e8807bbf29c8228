"""Generates the Python code of the protocol. Runs in the environment that has protoc: `make proto`."""

from __future__ import annotations

from pathlib import Path

from grpc_tools import protoc

CHECKOUT = Path(__file__).resolve().parents[1]
PROTO = CHECKOUT / "proto"
OUT = CHECKOUT / "src" / "stepscope" / "protocol" / "gen"

options = [f"--{kind}_out={OUT}" for kind in ("python", "pyi", "grpc_python")]
if protoc.main(["protoc", f"-I{PROTO}", *options, str(PROTO / "stepscope.proto")]) != 0:
    raise SystemExit(1)
service = OUT / "stepscope_pb2_grpc.py"
imported = "import stepscope_pb2 as"
service.write_text(service.read_text().replace(f"\n{imported}", f"\nfrom stepscope.protocol.gen {imported}"))
