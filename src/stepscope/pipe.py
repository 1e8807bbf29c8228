"""The pipe between the training process and its sidecar: JSON messages over a socket pair.

Standard library only, and no threads: the training process reads it between steps, so that nothing runs beside the
training. A peer that is gone, or that does not read for `SEND_TIMEOUT`, is `PipeClosed`; nothing here blocks for ever
but a `receive` without timeout, which waits for the user of the debugger.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import time
from typing import Any

SEND_TIMEOUT = 10.0
MAX_MESSAGE = 64 << 20
_LENGTH = struct.Struct(">I")

Message = dict[str, Any]


class PipeClosed(Exception):
    """The other end is gone, or sent what is no message."""


class Pipe:
    """One end. A message is a dict with its kind under "is"."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._buffer = bytearray()
        self._poll = select.poll()
        self._poll.register(sock, select.POLLIN)

    def send(self, kind: str, /, **fields: Any) -> None:
        try:
            self._socket.settimeout(SEND_TIMEOUT)
            # The user may have given SIGPIPE back its default action, which would end the training.
            self._socket.sendall(encode({"is": kind, **fields}), socket.MSG_NOSIGNAL)
        except OSError as error:
            raise PipeClosed(str(error)) from error

    def receive(self, timeout: float | None = None) -> Message | None:
        """The next message; None when `timeout` seconds (None: no limit) went by without one."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            message = take(self._buffer)
            if message is not None:
                return message
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not self._poll.poll(None if left is None else left * 1000):
                return None
            try:
                data = self._socket.recv(1 << 16)
            except OSError as error:
                raise PipeClosed(str(error)) from error
            if not data:
                raise PipeClosed("the other end is gone")
            self._buffer += data

    def pending(self) -> bool:
        """Whether there is something to receive (or the end to notice): about a microsecond."""
        return bool(self._buffer) or bool(self._poll.poll(0))

    def fileno(self) -> int:
        """To wait for it together with something else; `pending` tells of what has been read already."""
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()

    def leave_open(self) -> None:
        """It ends with this process, whose end the other one sees by that."""
        self._socket.detach()


def encode(message: Message) -> bytes:
    body = json.dumps(message, separators=(",", ":")).encode()
    return _LENGTH.pack(len(body)) + body


def take(buffer: bytearray) -> Message | None:
    """Takes the first whole message out of `buffer`; None while there is none."""
    if len(buffer) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack_from(buffer)
    if length > MAX_MESSAGE:
        raise PipeClosed(f"a message of {length} bytes")
    end = _LENGTH.size + length
    if len(buffer) < end:
        return None
    body = bytes(buffer[_LENGTH.size : end])
    del buffer[:end]
    try:
        message = json.loads(body)
    except ValueError as error:
        raise PipeClosed("not a message") from error
    if not isinstance(message, dict) or "is" not in message:
        raise PipeClosed("not a message")
    return message
