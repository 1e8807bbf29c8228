"""The folder with the step data of one process: in memory or on the roomiest place, and gone when the process is.

Memory, where it has room: a step of hundreds of small files is recorded several times as fast there as on a disk.

A lock on a file inside tells the living from the dead, across containers that share the place but not the process
numbers. Whoever makes a folder sweeps away those that nobody holds any more.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import re
import secrets
import shutil
import tempfile
import time
from pathlib import Path

from stepscope.core.step_data import COUNTER
from stepscope.probe.descriptors import above_standard_streams

PREFIX = "stepscope_"
_USABLE = re.compile(r"[A-Za-z0-9_/-]+")  # MindSpore takes no other path, not even one with a dot
MEMORY = Path("/dev/shm")
_AMPLE = 4 << 30  # bytes free in memory, from which on it is preferred
_GRACE = 60.0  # seconds in which a folder may still be without its lock


class DataFolder:
    """Made in the constructor; OSError if no place is usable."""

    @above_standard_streams()
    def __init__(self, root: str = "") -> None:
        self._owner = os.getpid()
        self.path, self._lock = _make(root)
        self._step = self._counter()

    def count(self, step: int) -> None:
        """Leaves the last step's number where the agent finds it even if this process is killed; no system call."""
        self._step[:] = step.to_bytes(8, "little")

    def free_bytes(self) -> int:
        stat = os.statvfs(self.path)
        return stat.f_bavail * stat.f_frsize

    def remove(self) -> None:
        """Removes the folder; does nothing in a forked child, whose parent goes on using it."""
        if os.getpid() == self._owner:
            shutil.rmtree(self.path, ignore_errors=True)
            self.close()

    def _counter(self) -> mmap.mmap:
        with open(self.path / COUNTER, "w+b") as file:
            file.write(bytes(8))  # takes its room now: a full place would be a SIGBUS at the first `count`
            file.flush()
            return mmap.mmap(file.fileno(), 8)

    def close(self) -> None:
        """Lets go of the lock's file (in a forked child: of the inherited copy, which leaves the lock as it is)."""
        lock, self._lock = self._lock, -1
        with contextlib.suppress(OSError):
            os.close(lock)


def candidates(root: str = "") -> list[Path]:
    """Where step data can go, the best first."""
    workspace = Path(os.environ.get("STEPSCOPE_WORKSPACE") or os.path.expanduser("~/.stepscope"))
    beside = workspace if _USABLE.fullmatch(str(workspace)) else workspace.parent
    makers = [lambda: Path(root)] if root else [lambda: MEMORY, lambda: Path(tempfile.gettempdir()), lambda: beside]
    usable = []
    for make in makers:
        with contextlib.suppress(OSError):  # no temporary folder; one below a working directory that was removed
            place = make().absolute()
            if _USABLE.fullmatch(str(place)) and os.access(_existing(place), os.W_OK):
                usable.append(place)
    return sorted(usable, key=lambda place: (place == MEMORY and _free(place) >= _AMPLE, _free(place)), reverse=True)


def sweep(place: Path) -> None:
    """Removes the folders of processes that are gone."""
    for folder in place.glob(f"{PREFIX}{os.getuid()}_*"):
        try:
            lock = os.open(folder / "lock", os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)  # whatever lies there: no wait
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
        except BlockingIOError:
            continue
        except OSError:
            with contextlib.suppress(OSError):
                if time.time() - folder.stat().st_mtime > _GRACE:
                    shutil.rmtree(folder, ignore_errors=True)


def _make(root: str) -> tuple[Path, int]:
    problem: OSError = OSError("no writable place whose path has only letters, digits, '-', '_' and '/'")
    for place in candidates(root):
        try:
            place.mkdir(parents=True, exist_ok=True)
            sweep(place)
            path = place / f"{PREFIX}{os.getuid()}_{os.getpid()}_{secrets.token_hex(4)}"
            path.mkdir(mode=0o700)
            lock = os.open(path / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return path, lock
        except OSError as error:
            problem = error
    raise OSError(f"no place for step data: {problem}")


def _existing(place: Path) -> Path:
    while not os.path.exists(place):  # unlike `Path.exists`, False also where we may not look
        place = place.parent
    return place


def _free(place: Path) -> int:
    stat = os.statvfs(_existing(place))
    free = stat.f_bavail * stat.f_frsize
    return min(free, _available_memory() // 2) if place == MEMORY else free


def _available_memory() -> int:
    """Bytes that could be used without swapping; what lies in /dev/shm is taken from them."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return 0
