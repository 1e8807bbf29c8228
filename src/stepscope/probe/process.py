"""What the probes of all frameworks have in common: how a process is told of, ended, and let go."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stepscope.pipe import Message
from stepscope.probe.settings import Settings

PROGRESS_INTERVAL = 0.25  # seconds between two reports of a training that runs free
_NUMBER = re.compile("[0-9]{1,9}")
SIDECAR_GONE = "the debugger's sidecar is gone; going on undebugged"


class Terminated(SystemExit):
    """Ends the training as the user of the debugger asked: 128 + SIGTERM."""

    def __init__(self) -> None:
        super().__init__(143)


class Uncaught:
    """The exception that ends the script, in one line; "" while there is none."""

    def __init__(self) -> None:
        self.text = ""

    def watch(self) -> None:
        sys.excepthook, self._excepthook = self._note, sys.excepthook

    def _note(self, kind: type[BaseException], value: BaseException, trace: Any) -> None:
        self.text = kind.__name__
        with contextlib.suppress(Exception):  # of the user's own __str__
            if not isinstance(value, KeyboardInterrupt):
                self.text = f"{kind.__name__}: {value}".splitlines()[0][:300]
        self._excepthook(kind, value, trace)


def first_number(*values: str | int | None) -> int:
    """The first value that is a number, as launchers put them into the environment; 0 for none."""
    texts = (str(value).strip() for value in values)
    return next((int(text) for text in texts if _NUMBER.fullmatch(text)), 0)


def hello(settings: Settings, folder: Path, **about: Any) -> Message:
    """The fields of the first message to the agent. `about`: framework, framework_version, device, rank, rank_count and
    stepping of `SourceInfo`."""
    info = {
        "job_id": secrets.token_hex(8),
        "host": _of_system(socket.gethostname),
        "pid": os.getpid(),
        "command_line": [sys.executable, *sys.orig_argv[1:]],
        "working_directory": _of_system(os.getcwd),
        "step_unit": settings.step_unit,
        "started_at": time.time(),
        **about,
    }
    return {
        "host": settings.host,
        "port": settings.port,
        "token": settings.token,
        "connect_wait": settings.connect_wait,
        "lost_wait": settings.lost_wait,
        "folder": str(folder),
        "info": info,
    }


def _of_system(ask: Callable[[], str]) -> str:
    """ "" where there is none: a working directory may have been removed."""
    try:
        return ask()
    except OSError:
        return ""


def server_of(message: Message | None, settings: Settings) -> tuple[str, str]:
    """Where people find the server, by what the agent says of it; or "", and why the training goes on without it."""
    where = f"{settings.host}:{settings.port}"
    if message is not None and message["is"] == "connected":
        return message.get("server") or where, ""
    reason = message.get("reason", "") if message else "the sidecar does not answer"
    return "", f"no debugger at {where} ({reason}); going on undebugged"
