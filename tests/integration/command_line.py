"""`stepscope` as a process, in a workspace and on ports of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

from stepscope.server.workspace import read_running

SECONDS = 180.0  # for anything, on a busy machine


def free_ports(count: int) -> list[str]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    numbers = [str(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return numbers


class CommandLine:
    def __init__(self, workspace: Path):
        self.workspace = workspace
        self.port, self.debugger_port = free_ports(2)
        unwanted = ("STEPSCOPE_", "ENABLE_MS_DEBUGGER", "MS_DEBUGGER_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
        self.environment = {**kept, "STEPSCOPE_WORKSPACE": str(workspace)}

    @property
    def ports(self) -> list[str]:
        return ["--port", self.port, "--debugger-port", self.debugger_port]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def popen(self, *words: str, **options) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "stepscope.cli", *words]
        return subprocess.Popen(command, env=self.environment, text=True, **options)

    def pipes(self, *words: str) -> subprocess.Popen[str]:
        return self.popen(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        process = self.pipes(*words)
        out, err = process.communicate(timeout=SECONDS)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def start(self, *options: str) -> tuple[subprocess.Popen[str], list[str]]:
        """A server in the foreground, and the two lines that it prints."""
        process = self.pipes("start", *self.ports, *options)
        assert process.stdout is not None
        return process, [process.stdout.readline().strip() for _ in range(2)]

    def stop(self) -> None:
        """The server that a command left behind."""
        if read_running(self.workspace):
            assert self("stop").returncode == 0
