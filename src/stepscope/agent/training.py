"""The training process as the agent sees it: its pipe, and how it ended."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from stepscope.core.ports import Farewell
from stepscope.pipe import Message, PipeClosed, encode, take

_LAST_WORDS = 5.0  # seconds that a process may take from its goodbye to its end


class Training:
    """One end of the pipe in asyncio. `pid` is no child of ours: the agent is nobody's parent and nobody's child."""

    def __init__(self, sock: socket.socket, pid: int) -> None:
        sock.setblocking(False)
        self._socket = sock
        self.pid = pid
        self._buffer = bytearray()
        self._pidfd = _open_pidfd(pid)
        self._over = asyncio.Event()  # only with a pidfd
        self._sending = asyncio.Lock()  # a message is whole before the next one begins

    async def messages(self) -> AsyncIterator[Message]:
        """What the probe says, until the pipe ends."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                message = take(self._buffer)
                if message is not None:
                    yield message
                    continue
                data = await loop.sock_recv(self._socket, 1 << 16)
            except (OSError, PipeClosed):
                return
            if not data:
                return
            self._buffer += data

    async def send(self, kind: str, /, **fields: Any) -> None:
        data = encode({"is": kind, **fields})
        async with self._sending:
            with contextlib.suppress(OSError):  # its end is seen in `messages`
                await asyncio.get_running_loop().sock_sendall(self._socket, data)

    async def farewell(self, goodbye: Message | None, terminated: bool) -> Farewell:
        """How the process ended, as far as one who is not its parent can tell."""
        status = await self._exit_status(_LAST_WORDS)
        error = str(goodbye.get("error", "")) if goodbye else ""
        if error and status is None:
            status = 1
        if terminated:
            return Farewell("terminated", "", status)
        if goodbye is not None and not error and status in (0, None):
            return Farewell("finished", "", status)
        return Farewell("lost", error or _describe(status), status)

    def kill(self, number: int) -> None:
        with contextlib.suppress(OSError):
            os.kill(self.pid, number)

    async def ended(self, timeout: float) -> bool:
        """Whether the process ends within `timeout` seconds."""
        loop = asyncio.get_running_loop()
        if self._pidfd is None:
            deadline = loop.time() + timeout
            while _alive(self.pid) and loop.time() < deadline:
                await asyncio.sleep(0.05)
            return not _alive(self.pid)
        if not self._over.is_set():
            loop.add_reader(self._pidfd, self._note_end, loop)  # once for all who wait
        try:
            await asyncio.wait_for(self._over.wait(), timeout)
        except asyncio.TimeoutError:
            return False
        return True

    def _note_end(self, loop: asyncio.AbstractEventLoop) -> None:
        self._over.set()
        loop.remove_reader(self._pidfd)

    async def _exit_status(self, timeout: float) -> int | None:
        """As in `subprocess`: negative for a signal. Only while its parent has not yet asked can a stranger read it."""
        if not await self.ended(timeout):
            return None
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
            code = int(fields[49])
        except (OSError, ValueError, IndexError):
            return None
        if fields[0] != "Z":
            return None
        return -(code & 0x7F) if code & 0x7F else code >> 8


def _describe(status: int | None) -> str:
    if status is None:
        return "the training process died without a word (killed, or ended by os._exit)"
    if status < 0:
        return f"the training process was killed by signal {-status}"
    return f"the training process ended with exit status {status}"


def _open_pidfd(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
