"""What the tests of real trainings share: the process that trains, and waiting for it."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

from stepscope.client.job import Job

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


def step_on(job: Job, command: Callable[[], None]) -> str:
    """Gives a command and waits for what comes of it."""
    command()
    return job.wait(timeout=COMPILE)


def until(condition: Callable[[], object], timeout: float = 30.0):
    """Waits for a condition to hold; returns what it gave."""
    deadline = time.monotonic() + timeout
    while not (value := condition()):
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)
    return value
