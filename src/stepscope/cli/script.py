"""The user's training as a process: what is run, whether it can be debugged, and how its signals and status pass through."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from stepscope.cli.command import USAGE, Failure

_PYTHON = re.compile(r"pythonw?[\d.]*t?(\.exe)?")
_TAKES_VALUE = ("-W", "-X", "--check-hash-based-pycs")  # options of Python itself; -c and -m end them
_HOOK = "import sys; sys.exit('stepscope.probe.bootstrap' not in sys.modules)"
_TERMINAL = 0x80  # si_code of a signal from the terminal (SI_KERNEL), which all of its foreground processes get
_PASSED_ON = (signal.SIGINT, signal.SIGTERM)


def resolve(words: Sequence[str]) -> list[str]:
    """The command to run; a plain `train.py` is run with this Python. Failure where there is nothing to run."""
    if not words:
        raise Failure("which script? For example: stepscope run python train.py", USAGE)
    command = list(words)
    if command[0].endswith(".py"):
        command.insert(0, sys.executable)
    if shutil.which(command[0]) is None:
        raise Failure(f"{command[0]}: no such command", USAGE)
    script = _script_of(command)
    if script is not None and not Path(script).exists():
        raise Failure(f"{script}: no such file", USAGE)
    return command


def _is_python(program: str) -> bool:
    return _PYTHON.fullmatch(Path(program).name) is not None


def _script_of(command: Sequence[str]) -> str | None:
    """The file that `python … train.py` runs; None for a module, for code, and for other programs."""
    if not _is_python(command[0]):
        return None
    words = iter(command[1:])
    for word in words:
        if not word.startswith("-"):
            return word
        if word in _TAKES_VALUE:
            next(words, None)
        elif word == "-" or word[1] in "cm" or word.startswith("-V"):
            return None
    return None


def check_hook(command: Sequence[str]) -> None:
    """Asks the Python that is to run the script whether it attaches to the debugger. Failure where it doesn't."""
    program = command[0]
    if _is_python(program) and not has_hook(program):
        own = program if os.path.isabs(program) else shutil.which(program) or program
        raise Failure(f"{own} has no stepscope in it, so nothing there could be debugged: {own} -m pip install stepscope")


def has_hook(python: str) -> bool:
    """Whether this interpreter runs the start-up hook when the environment asks for it."""
    environment = {**os.environ, "STEPSCOPE_ENABLE": "1"}
    done = subprocess.run(
        [python, "-c", _HOOK], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return done.returncode == 0


class Training:
    """A script that runs. It shares our terminal; SIGINT and SIGTERM that only we get are passed on to it."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]):
        watched = {*_PASSED_ON, signal.SIGCHLD}
        # Blocked signals wait for `wait`, which alone sees where they come from; the script starts with none blocked.
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
        self._watched = watched
        mask = self._mask
        try:
            self.process = subprocess.Popen(
                command,
                env={**os.environ, **environment},
                preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, mask) and None,
            )
        except OSError as error:
            self._unblock()
            raise Failure(f"{command[0]} can't be run: {error.strerror}", USAGE) from None

    def wait(self, timeout: float | None = None) -> int | None:
        """The exit status as a shell has it (128 + n for signal n), or None where `timeout` seconds were not enough.

        Without a timeout, returns only when the script has ended, whatever signals come.
        """
        while self.process.poll() is None:
            if timeout is None:
                self._pass_on(signal.sigwaitinfo(self._watched))
                continue
            came = signal.sigtimedwait(self._watched, timeout)
            if came is None or self.process.poll() is None and came.si_signo == signal.SIGCHLD:
                return None
            self._pass_on(came)
        status = self.process.returncode
        return status if status >= 0 else 128 - status

    def _pass_on(self, came: signal.struct_siginfo) -> None:
        if came.si_signo in _PASSED_ON and came.si_code != _TERMINAL and self.process.poll() is None:
            self.process.send_signal(came.si_signo)

    def close(self) -> None:
        """Ends the script if it still runs."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._unblock()

    def _unblock(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
