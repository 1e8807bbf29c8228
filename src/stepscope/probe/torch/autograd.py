"""From an autograd node back to the forward node that made it.

Autograd numbers its nodes in the order in which the forward operations make them. When an operation reaches the
dispatcher it has its number already: the first operation that is seen after the count went on is the one that it
belongs to. Numbers that no operation was seen for (those of copies into a slice, for instance) belong to the nearest
lower one.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from stepscope.probe.torch.stacks import Places

MOST = 200_000  # numbers that are kept


class Origin(NamedTuple):
    """A node that autograd may come back to: its name, the scope of its backward nodes, where its code is."""

    name: str
    scope: str
    stack: Places


class SequenceMap:
    """Numbers come in rising order. What was made while nobody looked has no origin."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._origins: list[Origin | None] = []
        self._next = 0

    def resume(self, next_number: int) -> None:
        """From here on the numbers are looked at again; the next one is given."""
        if next_number > self._next or not self._numbers:
            self._numbers.append(self._next)
            self._origins.append(None)
        self._next = next_number

    def clear(self) -> None:
        """Another thread, which counts for itself, comes next."""
        self._numbers.clear()
        self._origins.clear()
        self._next = 0

    def is_new(self, next_number: int) -> bool:
        """Whether the count went on since the last operation."""
        return next_number != self._next

    def note(self, next_number: int, origin: Origin | None) -> None:
        """The operation that is seen now made autograd's latest node, unless it has no origin to give."""
        if origin is not None:
            self._numbers.append(next_number - 1)
            self._origins.append(origin)
        self._next = next_number

    def find(self, number: int) -> Origin | None:
        place = bisect_right(self._numbers, number) - 1
        return self._origins[place] if place >= 0 else None

    def forget_old(self) -> None:
        """Keeps the memory bounded; what a backward pass still needs is among the youngest."""
        if len(self._numbers) > MOST:
            del self._numbers[: -MOST // 2]
            del self._origins[: -MOST // 2]
