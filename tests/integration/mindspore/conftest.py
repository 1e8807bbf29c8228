"""Real MindSpore trainings under a real server: scripts as users write them, each in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import stepscope
from stepscope.client.job import Job
from stepscope.testing.server import ServerThread

SCRIPTS = Path(__file__).parent / "scripts"
COMPILE = 120  # seconds that MindSpore may take to compile on a busy machine


class Script:
    """A training process; its output is read as it comes."""

    def __init__(self, arguments: list[str], environment: dict[str, str], folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            arguments, env=environment, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.out: list[str] = []
        self.err: list[str] = []
        self._readers = [
            threading.Thread(target=self._read, args=pair, daemon=True)
            for pair in ((self.process.stdout, self.out), (self.process.stderr, self.err))
        ]
        for reader in self._readers:
            reader.start()

    @staticmethod
    def _read(stream, lines: list[str]) -> None:
        for line in stream:
            lines.append(line.rstrip("\n"))

    def wait(self, timeout: float = COMPILE) -> int:
        status = self.process.wait(timeout)
        for reader in self._readers:
            reader.join(10)
        return status

    def printed(self, word: str) -> list[str]:
        return [line for line in self.out if line.startswith(word)]

    @property
    def said(self) -> list[str]:
        """What stepscope wrote into the user's terminal."""
        return [line for line in self.err if line.startswith("stepscope:")]

    @property
    def complaints(self) -> list[str]:
        """The same without the line about the first pause."""
        return [line for line in self.said if not line.startswith("stepscope: paused before the first step; go on")]

    def kill(self, number: int = signal.SIGKILL) -> None:
        self.process.send_signal(number)


Train = Callable[..., Script]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerThread]:
    with ServerThread(tmp_path / "workspace") as running:
        yield running


@pytest.fixture
def train(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Train]:
    """Starts a script: under the debugger of `server`, unless `debug=False` or another address is given."""
    scripts: list[Script] = []

    def start(script: str | Path, *arguments: str, debug: bool = True, launcher=(), **variables: str) -> Script:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("STEPSCOPE_")}
        if debug:
            environment["ENABLE_MS_DEBUGGER"] = "1"
            if "MS_DEBUGGER_PORT" not in variables:
                host, _, port = request.getfixturevalue("server").debugger_address.rpartition(":")
                environment.update(MS_DEBUGGER_HOST=host, MS_DEBUGGER_PORT=port)
        environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment.get('PATH', '')}"  # msrun's "python"
        environment.update(variables)
        path = SCRIPTS / script
        command = [*launcher, str(path)] if launcher else [sys.executable, str(path)]
        scripts.append(Script([*command, *arguments], environment, tmp_path / f"run{len(scripts)}"))
        return scripts[-1]

    yield start
    for script in scripts:
        if script.process.poll() is None:
            script.process.kill()
        script.wait()


@pytest.fixture
def job(server: ServerThread) -> Callable[[], Job]:
    """Waits for a job and its first pause."""

    def first_pause() -> Job:
        found = stepscope.connect(server.url).wait_for_job(timeout=COMPILE)
        assert found.wait(timeout=COMPILE) == "paused"
        return found

    return first_pause


def step_on(job: Job, command: Callable[[], None]) -> str:
    """Gives a command and waits for what comes of it."""
    command()
    return job.wait(timeout=COMPILE)
