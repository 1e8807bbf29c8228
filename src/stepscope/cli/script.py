"""The user's script as a process: what is run, whether it can be debugged, how signals and its status pass through."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path

from stepscope.cli.command import USAGE, Failure

_PYTHON = re.compile(r"python[\d.]*t?")
_FROM_TERMINAL = 0x80  # SI_KERNEL, the code of a signal that all foreground processes of a terminal got
_PASSED_ON = (signal.SIGINT, signal.SIGTERM)


def split(words: Sequence[str], flags: Mapping[str, Collection[str]]) -> tuple[list[str], list[str]]:
    """What is meant for us, and the script's command line. argparse can't be trusted with this: it would take the
    script's own options.

    flags: for each command that runs a script, those of its options that take no value.
    """
    if not words or words[0] not in flags:
        return list(words), []
    end = 1
    while end < len(words) and words[end].startswith("-") and words[end] != "--":
        end += 1 if words[end] in flags[words[0]] or "=" in words[end] else 2
    return list(words[:end]), list(words[end + 1 :] if words[end : end + 1] == ["--"] else words[end:])


def resolve(words: Sequence[str], command: str = "run") -> list[str]:
    """What to run; a plain `train.py` is run with this Python. Failure where there is nothing to run."""
    if not words:
        raise Failure(f"which script? For example: stepscope {command} python train.py", USAGE)
    line = list(words)
    if line[0].endswith(".py"):
        line.insert(0, sys.executable)
    if shutil.which(line[0]) is None:
        raise Failure(f"{line[0]}: no such command", USAGE)
    script = _script_of(line)
    if script is not None and not Path(script).exists():
        raise Failure(f"{script}: no such file", USAGE)
    return line


def _is_python(program: str) -> bool:
    return _PYTHON.fullmatch(Path(program).name) is not None


def _script_of(command: Sequence[str]) -> str | None:
    """The file that `python … train.py` runs; None for a module, for code, and for other programs than Python."""
    if not _is_python(command[0]):
        return None
    words = iter(command[1:])
    for word in words:
        if not word.startswith("-"):
            return word
        if word in ("-W", "-X", "--check-hash-based-pycs"):
            next(words, None)
        elif word == "-" or (not word.startswith(("--", "-W", "-X")) and set("cm") & set(word)):
            return None
    return None


def check_hook(command: Sequence[str]) -> None:
    """Asks the Python that is to run the script whether it can be debugged. Failure where it can't."""
    program = command[0]
    if _is_python(program) and not has_hook(program):
        path = shutil.which(program)
        raise Failure(f"{path} lacks stepscope's start-up hook; install it with: {path} -m pip install stepscope")


def has_hook(python: str) -> bool:
    """Whether this interpreter runs the start-up hook when its environment asks for it."""
    code = "import sys; sys.exit('stepscope.probe.bootstrap' not in sys.modules)"
    try:
        return subprocess.run(
            [python, "-c", code],
            env={**os.environ, "STEPSCOPE_ENABLE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ).returncode == 0  # fmt: skip
    except OSError:
        return False


def run_script(command: Sequence[str], environment: Mapping[str, str], started: Callable[[], None]) -> int:
    """Runs the script to its end and returns its exit status as a shell has it: 128 + n for signal n.

    It shares our terminal, whose Ctrl-C reaches it anyway; a SIGINT or SIGTERM that was sent to us alone is passed on.
    """
    watched = {*_PASSED_ON, signal.SIGCHLD}
    # Blocked, so that only sigwaitinfo gets them, which sees where they come from. The script starts with none blocked.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    try:
        process = subprocess.Popen(
            command,
            env={**os.environ, **environment},
            preexec_fn=partial(signal.pthread_sigmask, signal.SIG_SETMASK, mask),
        )
        started()
        while process.poll() is None:
            came = signal.sigwaitinfo(watched)
            if came.si_signo in _PASSED_ON and came.si_code != _FROM_TERMINAL:
                process.send_signal(came.si_signo)
    except OSError as error:
        raise Failure(f"{command[0]} can't be run: {error.strerror}", USAGE) from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    return process.returncode if process.returncode >= 0 else 128 - process.returncode
