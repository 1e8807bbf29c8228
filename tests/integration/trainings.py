"""What the tests of real trainings share: the process that trains, and waiting for it."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import stepscope
from stepscope.client.job import Job
from stepscope.testing.server import ServerThread

COMPILE = 120  # seconds that a framework may take to be imported, and to compile, on a busy machine


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
            lines.append(line.rstrip("\n"))  # noqa: PERF401 (it is read while it grows)

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


@contextmanager
def scripts_in(folder: Path) -> Iterator[Callable[[list[str], dict[str, str]], Script]]:
    """Starts scripts, each in a folder of its own; none outlives the block."""
    scripts: list[Script] = []

    def start(command: list[str], environment: dict[str, str]) -> Script:
        scripts.append(Script(command, environment, folder / f"run{len(scripts)}"))
        return scripts[-1]

    yield start
    for script in scripts:
        if script.process.poll() is None:
            script.process.kill()
        script.wait()


def without_ours() -> dict[str, str]:
    """The environment that a user has."""
    return {name: value for name, value in os.environ.items() if not name.startswith("STEPSCOPE_")}


def first_pause(server: ServerThread) -> Job:
    """Waits for a job and its first pause."""
    found = stepscope.connect(server.url).wait_for_job(timeout=COMPILE)
    assert found.wait(timeout=COMPILE) == "paused"
    return found


def step_on(job: Job, command: Callable[[], None]) -> str:
    """Gives a command and waits for what comes of it."""
    command()
    return job.wait(timeout=COMPILE)


def until(condition: Callable[[], object], timeout: float = 60.0):
    """Waits for a condition to hold; returns what it gave."""
    deadline = time.monotonic() + timeout
    while not (value := condition()):
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)
    return value
