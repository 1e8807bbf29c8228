"""The start of the agent: a process of its own, nobody's child, with nothing of the user's folder in it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from stepscope.probe import sidecar

SOURCE = Path(__file__).parents[3] / "src"

# A training process that starts its agent, gets an answer, and looks around.
TRAINING = """
import os, pathlib, sys
from stepscope.probe.sidecar import launch
pipe = launch()
info = {"job_id": "j", "framework": "mindspore", "command_line": []}
pipe.send("hello", host="127.0.0.1", port=int(sys.argv[1]), token="", connect_wait=0, lost_wait=1, folder=sys.argv[2],
          info=info)
print(pipe.receive(30)["is"])
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no children")
agents = []
for folder in pathlib.Path("/proc").glob("[0-9]*"):
    try:
        words = (folder / "cmdline").read_bytes().split(b"\\0")
        if len(words) > 4 and b"stepscope.agent" in words[2] and int(words[4]) == os.getpid():
            agents.append(folder)
    except OSError:
        pass
(agent,) = agents
names = {line.partition(b"=")[0] for line in (agent / "environ").read_bytes().split(b"\\0")}
print(sorted(names & {b"ENABLE_MS_DEBUGGER", b"STEPSCOPE_ENABLE", b"MINDSPORE_DUMP_CONFIG", b"KEPT"}))
print(os.getsid(int(agent.name)) == os.getsid(0), os.readlink(agent / "fd" / "0"))
"""


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def test_an_agent_is_started_and_left_to_itself(tmp_path):
    for name in ("asyncio", "grpc", "stepscope", "google"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('a file of the user')")
    script = tmp_path / "elsewhere" / "train.py"
    script.parent.mkdir()
    script.write_text(TRAINING)
    environ = {**os.environ, "PYTHONPATH": str(SOURCE), "KEPT": "1", "MINDSPORE_DUMP_CONFIG": "x"}
    environ |= {"ENABLE_MS_DEBUGGER": "0", "STEPSCOPE_ENABLE": "0"}
    done = subprocess.run(
        [sys.executable, str(script), str(free_port()), str(tmp_path / "data")],
        env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["unreachable", "no children", "[b'KEPT']", "False /dev/null"]


@pytest.mark.parametrize("python", ["/bin/false", "/no/such/python"])
def test_a_python_that_does_not_start(python, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", python)
    monkeypatch.setenv("STEPSCOPE_AGENT_LOG", str(tmp_path / "log"))
    before = os.listdir("/proc/self/fd")
    with pytest.raises(OSError, match=python) as raised:  # and keeps the frame
        sidecar.launch()
    assert raised.value.__traceback__ is not None
    assert os.listdir("/proc/self/fd") == before


def test_the_agents_own_faults_go_to_a_file_if_one_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv("STEPSCOPE_AGENT_LOG", raising=False)
    assert sidecar._log() == subprocess.DEVNULL
    monkeypatch.setenv("STEPSCOPE_AGENT_LOG", str(tmp_path / "log"))
    descriptor = sidecar._log()
    os.write(descriptor, b"a fault")
    os.close(descriptor)
    assert (tmp_path / "log").read_text() == "a fault"
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600


def test_a_file_that_can_not_be_opened_costs_only_that(tmp_path, monkeypatch):
    monkeypatch.setenv("STEPSCOPE_AGENT_LOG", str(tmp_path / "nowhere" / "log"))
    assert sidecar._log() == subprocess.DEVNULL
