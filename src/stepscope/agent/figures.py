"""Figures that were worked out once, for whoever asks again: reading a tensor of a GB takes a while.

Invariants: kept is only what was worked out of one moment of the training, for which recorded values never change; at
most `MOST` answers of `BYTES` together, those asked for last. May be used from several threads.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

from stepscope.core.looks import Heatmap

MOST = 1000
BYTES = 64 << 20
_SMALL = 2048  # about what an answer of numbers takes

T = TypeVar("T")


class KeptFigures:
    """`moment` is what tells the values of one time from those of another."""

    def __init__(self, moment: Callable[[], Hashable]) -> None:
        self._moment = moment
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, what: Hashable, work: Callable[[], T]) -> T:
        """What `work` returns, now or when the same was asked at the same moment."""
        key = self._moment(), what
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return cast(T, self._kept[key])
        answer = work()
        if self._moment() == key[0]:  # else who knows of which moment it is
            self._keep(key, answer)
        return answer

    def _keep(self, key: Hashable, answer: object) -> None:
        with self._lock:
            if key not in self._kept:
                self._kept[key] = answer
                self._bytes += _size(answer)
            while self._kept and (len(self._kept) > MOST or self._bytes > BYTES):
                self._bytes -= _size(self._kept.popitem(last=False)[1])


def _size(answer: object) -> int:
    return _SMALL + (answer.cells.nbytes + answer.flags.nbytes if isinstance(answer, Heatmap) else 0)
