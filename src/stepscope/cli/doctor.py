"""`stepscope doctor`: what would keep the debugger from working here, and what to do about it. Imports no framework."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

import stepscope
from stepscope.cli.command import Command, port
from stepscope.cli.script import has_hook
from stepscope.cli.server import add_workspace_option
from stepscope.server.workspace import RunningServer, read_running

GIB = 1 << 30
LITTLE = GIB  # free bytes under which big networks will not fit
TOO_LITTLE = GIB // 8  # under which nothing will
_DISTRIBUTIONS = {"MindSpore": ("mindspore", "mindspore-dev"), "PyTorch": ("torch",), "JAX": ("jax",)}
_OLDEST = {"MindSpore": (2, 7, 1), "PyTorch": (2, 4)}  # that can be debugged


@dataclass(frozen=True)
class Finding:
    level: Literal["OK", "WARN", "FAIL"]
    text: str
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.level:4}  {self.text}" + (f" -> {self.advice}" if self.advice else "")


def add_options(parser: argparse.ArgumentParser) -> None:
    add_workspace_option(parser)
    parser.add_argument("--host", default="127.0.0.1", help="address that the server would listen on")
    parser.add_argument("--port", type=port, default=8080, help="of the web page")
    parser.add_argument("--debugger-port", type=port, default=50051, help="that training processes connect to")


def run(options: argparse.Namespace) -> int:
    findings = [*installation(), *frameworks(), *environment(), *ports(options), *space(options.workspace)]
    for finding in findings:
        print(finding)
    return 1 if any(finding.level == "FAIL" for finding in findings) else 0


def installation() -> Iterator[Finding]:
    yield Finding("OK", f"stepscope {stepscope.__version__}, Python {sys.version.split()[0]} at {sys.executable}")
    if has_hook(sys.executable):
        yield Finding("OK", "the start-up hook is installed: scripts that this Python runs can be debugged")
    else:
        yield Finding("FAIL", "the start-up hook (stepscope.pth) is not installed in this Python",
                      "pip install --force-reinstall --no-deps stepscope")  # fmt: skip


def frameworks() -> Iterator[Finding]:
    versions = {name: _version(*distributions) for name, distributions in _DISTRIBUTIONS.items()}
    if not any(versions.values()):
        yield Finding("WARN", "no framework in this Python: only trainings of another environment can be debugged",
                      "pip install 'stepscope[mindspore]'")  # fmt: skip
    for name, version in versions.items():
        if version is None:
            continue
        if name not in _OLDEST:
            yield Finding("OK", f"{name} {version} found; this version of stepscope does not debug it yet")
        elif _numbers(version) < _OLDEST[name]:
            oldest = ".".join(map(str, _OLDEST[name]))
            yield Finding("FAIL", f"{name} {version} can't be debugged", f"install {name} {oldest} or later")
        else:
            yield Finding("OK", f"{name} {version}")
    numpy = _version("numpy")
    if versions["MindSpore"] and numpy and _numbers(numpy) >= (2,):
        yield Finding("WARN", f"numpy {numpy}: MindSpore's datasets over Python and numpy data fail with numpy 2",
                      "pip install 'numpy<2'")  # fmt: skip


def environment() -> Iterator[Finding]:
    config = os.environ.get("MINDSPORE_DUMP_CONFIG")
    if config:
        yield Finding("WARN", f"MINDSPORE_DUMP_CONFIG is set to {config}: MindSpore can't be debugged while it dumps",
                      "unset MINDSPORE_DUMP_CONFIG")  # fmt: skip


def ports(options: argparse.Namespace) -> Iterator[Finding]:
    running = read_running(options.workspace)
    for option, number, of_ours in (
        ("--port", options.port, running and running.url.endswith(f":{options.port}")),
        ("--debugger-port", options.debugger_port, running and running.debugger_port == options.debugger_port),
    ):
        yield _port(option, options.host, number, running if of_ours else None)


def _port(option: str, host: str, number: int, ours: RunningServer | None) -> Finding:
    if ours:
        return Finding("OK", f"port {number} is used by our own server, process {ours.pid}")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0]
        socket.create_server(address[:2], family=family).close()
    except OSError as error:
        if isinstance(error, socket.gaierror):
            return Finding("FAIL", f"{host} is no address of this machine", "choose another --host")
        why = os.strerror(error.errno).lower() if error.errno else str(error)
        return Finding("FAIL", f"port {number} can't be used: {why}", f"choose another with {option}")
    return Finding("OK", f"port {number} is free")


def space(workspace: Path) -> Iterator[Finding]:
    """Step data go to memory where it is ample, else to the roomiest of these: one of them has to have room."""
    places = {"/dev/shm": Path("/dev/shm"), "TMPDIR": Path(tempfile.gettempdir()), "workspace": workspace}
    free = {name: _free(path) for name, path in places.items()}
    best = max(free.values())
    for name, path in places.items():
        label = name if name == str(path) else f"{name} {path}"
        text = f"{label}: {free[name] / GIB:.1f} GiB free"
        if best < TOO_LITTLE:
            yield Finding("FAIL", f"{text}, too little for the data of a step", "make room")
        elif free[name] < LITTLE:
            yield Finding("WARN", text, "make room" if best < LITTLE else "the step data will go to a roomier place")
        else:
            yield Finding("OK", text)
    parent = _existing(workspace)
    if not os.access(parent, os.W_OK | os.X_OK):
        yield Finding("FAIL", f"the workspace {workspace} can't be written", "choose another with --workspace")


def _free(path: Path) -> int:
    """Bytes that we may write; 0 where there is no such folder and none can be made."""
    try:
        return shutil.disk_usage(_existing(path)).free if str(path) != "/dev/shm" or path.is_dir() else 0
    except OSError:
        return 0


def _existing(path: Path) -> Path:
    path = path.expanduser().absolute()
    return next(folder for folder in (path, *path.parents) if folder.exists())


def _version(*distributions: str) -> str | None:
    for distribution in distributions:
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


COMMAND = Command(
    name="doctor",
    summary="Say what would keep stepscope from working on this machine, and what to do about it.",
    example="stepscope doctor --port 8080",
    add_options=add_options,
    run=run,
)
