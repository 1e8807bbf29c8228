"""The workspace: the folder in which one server at a time keeps its state.

The lock file is held (flock) as long as the server lives, so that a crash frees it. `server.json`, readable by its
owner only, says how to reach the server; it is only valid while the lock is held.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from stepscope.server.errors import StartError


def default_workspace() -> Path:
    return Path(os.environ.get("STEPSCOPE_WORKSPACE") or Path.home() / ".stepscope")


@dataclass(frozen=True)
class RunningServer:
    """What `server.json` says of the server that holds a workspace."""

    pid: int
    url: str  # without the token
    debugger_host: str
    debugger_port: int | None
    token: str | None
    version: str


def read_running(workspace: Path) -> RunningServer | None:
    """The server that holds `workspace`, or None where there is none (or it isn't ready yet)."""
    try:
        with open(workspace / "lock") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EAGAIN):
                    raise
            else:
                return None
        return RunningServer(**json.loads((workspace / "server.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None


class Workspace:
    """A workspace that this process holds. Raises StartError where it can't."""

    def __init__(self, path: Path):
        self.path = path
        self._lock = self._take()
        self._file.unlink(missing_ok=True)  # of a server that crashed

    @property
    def _file(self) -> Path:
        return self.path / "server.json"

    def _take(self) -> IO[str]:
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = open(self.path / "lock", "a")  # noqa: SIM115 - held until close()
        except OSError as error:
            raise StartError(f"the workspace {self.path} can't be written: {error.strerror}") from None
        for _ in range(5):  # `read_running` holds the lock for an instant, too
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return lock
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EAGAIN):
                    lock.close()
                    raise StartError(f"the workspace {self.path} can't be locked: {error.strerror}") from None
            time.sleep(0.02)
        lock.close()
        other = read_running(self.path)
        who = f"process {other.pid} at {other.url}" if other else "one that is just starting or ending"
        raise StartError(f"the workspace {self.path} is in use by another server: {who}")

    def announce(self, server: RunningServer) -> None:
        """Write `server.json` in one go, for the owner's eyes only."""
        draft = self.path / f"server.json.{os.getpid()}"
        draft.unlink(missing_ok=True)
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(asdict(server), file)
        draft.replace(self._file)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._file.unlink(missing_ok=True)
        self._lock.close()
