"""Whether a client is still there, as far as its calls tell: some are due, and newer clients give signs of life."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from stepscope.server.settings import ANSWER_SECONDS

OVERDUE = 5.0  # seconds in which a client that stands still asks again, unless it is gone
SENDING = ANSWER_SECONDS  # in which it begins to send the tensors that it was asked for
MISSED = 3  # signs of life that may be missing
_SHORTEST, _LONGEST = 1.0, 3600.0  # seconds between two of them


class Signs:
    """`on_silence` is called when something that was due has not come."""

    def __init__(self, on_silence: Callable[[], None]) -> None:
        self._on_silence = on_silence
        self._open = 0  # calls that go on: as long as there is one, its connection tells
        self._period = 0.0
        self._call: asyncio.TimerHandle | None = None
        self._beat: asyncio.TimerHandle | None = None

    @property
    def busy(self) -> bool:
        """Whether a call goes on."""
        return self._open > 0

    def __enter__(self) -> None:
        """A call begins."""
        self._open += 1
        _cancel(self._call)

    def __exit__(self, *error: object) -> None:
        self._open -= 1
        self._watch_beats()

    def expect(self, seconds: float) -> None:
        """The next call is due."""
        _cancel(self._call)
        self._call = asyncio.get_running_loop().call_later(seconds, self._silent)

    def beat(self, period: float) -> None:
        """A sign of life, and the seconds until the next one."""
        self._period = min(max(period, _SHORTEST), _LONGEST)
        self._watch_beats()

    def stop(self) -> None:
        _cancel(self._call)
        _cancel(self._beat)
        self._period = 0.0

    def _watch_beats(self) -> None:
        if self._period:
            _cancel(self._beat)
            self._beat = asyncio.get_running_loop().call_later(self._period * MISSED, self._silent)

    def _silent(self) -> None:
        if not self._open:
            self._on_silence()


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
