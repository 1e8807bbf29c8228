"""Waiting in a training thread for what the agent says, so that Ctrl-C still ends the training at once.

In the main thread Python itself wakes up for a signal. In a thread of the autograd engine it does not: the main thread
waits for the backward pass, in C++, and handles no signal until that is over. So signals write into a socket there,
which is waited for together with the pipe. The wait ends then and nothing is raised: as soon as the backward pass is
over, the main thread does that, and would do it a second time after an exception from here.
"""

from __future__ import annotations

import select
import signal
import socket
import threading

from stepscope.pipe import Message, Pipe
from stepscope.probe.descriptors import above_standard_streams


class Waiting:
    """`install` and `remove` only have an effect in the main thread, and where nobody else wants to be woken."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._ours: socket.socket | None = None
        self._signals: socket.socket | None = None  # what the interpreter writes into

    @above_standard_streams()
    def install(self) -> None:
        if self._signals is not None or threading.current_thread() is not threading.main_thread():
            return
        ours, signals = socket.socketpair()
        ours.setblocking(False)
        signals.setblocking(False)
        if (other := signal.set_wakeup_fd(signals.fileno(), warn_on_full_buffer=False)) != -1:
            signal.set_wakeup_fd(other)
            ours.close()
            signals.close()
            return
        self._ours, self._signals = ours, signals

    def remove(self) -> None:
        if self._ours is None or self._signals is None or threading.current_thread() is not threading.main_thread():
            return
        present = signal.set_wakeup_fd(-1)
        if present != self._signals.fileno():  # somebody took our place
            signal.set_wakeup_fd(present)
        self._ours.close()
        self._signals.close()
        self._ours = self._signals = None

    def message(self) -> Message:
        """The next message, whenever it comes. For Ctrl-C KeyboardInterrupt, or in a thread of the engine the message
        "interrupted"; PipeClosed when the agent is gone."""
        while True:
            in_engine = self._ours is not None and threading.current_thread() is not threading.main_thread()
            if in_engine and self._is_interrupted(self._ours):
                return {"is": "interrupted"}
            message = self._pipe.receive(None)
            if message is not None:
                return message

    def _is_interrupted(self, signals: socket.socket) -> bool:
        """Waits for a signal or a message; whether it is Ctrl-C."""
        poll = select.poll()
        poll.register(signals, select.POLLIN)
        poll.register(self._pipe.fileno(), select.POLLIN)
        while not self._pipe.pending():
            ready = {descriptor for descriptor, _ in poll.poll()}
            if signals.fileno() in ready and _interrupted(signals.recv(4096)):
                return True
        return False


def _interrupted(numbers: bytes) -> bool:
    """Whether Ctrl-C is among the signals, and means what it usually means."""
    return signal.SIGINT in numbers and signal.getsignal(signal.SIGINT) is signal.default_int_handler
