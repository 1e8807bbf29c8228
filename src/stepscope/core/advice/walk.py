"""The way from a bad tensor to the first that was: step by step to what it was made from.

* Of several inputs that are not finite, NaN goes before infinities, and what was there earlier before what came later;
  of several that are past a threshold, the first input.
* A parameter that was bad when it was read became so in an earlier step, or by an op that wrote into it before: the way
  goes on in the step before, as far as its values are still there. A parameter that is bad after the step is what its
  optimizer made of it: by its gradient, its state, or all by itself.
* A tensor without a value is passed through where something bad is found behind it.
* The way ends at a node whose inputs are all fine; it can't go in a circle.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from typing import NamedTuple

from stepscope.core.advice.judge import Judge, Why
from stepscope.core.advice.places import Place, made_from, writer_of
from stepscope.core.graph import Graph
from stepscope.core.ports import TensorKey, TensorStats, When

LONGEST = 1000  # tensors on a way
GAP = 3  # tensors without a value, one behind the other, that are passed through

Ask = Callable[[TensorKey], Awaitable[TensorStats | None]]

_WORST: tuple[Why, ...] = ("nan", "inf", "hit")


class Passed(NamedTuple):
    """A place on the way, and what is wrong there."""

    place: Place
    why: Why


class Walk:
    """`hits`: outputs (node, slot) that are known to be bad in the present step."""

    def __init__(self, graph: Graph, judge: Judge, ask: Ask, hits: Collection[tuple[str, int]]) -> None:
        self._graph, self._judge, self._ask, self._hits = graph, judge, ask, hits
        self._seen = set[tuple[str, int, str, bool]]()

    async def back(self, start: Place, why: Why) -> list[Passed]:
        """From where it begins to `start`; `LONGEST` places, where it may begin further back."""
        way = [Passed(start, why)]
        if start.as_read:
            way = [Passed(await self._moment(start), why)]
        self._seen = {start.identity, way[0].place.identity}
        while len(way) < LONGEST:
            found = await self._before(way[-1], GAP)
            if not found:
                break
            self._seen |= {each.place.identity for each in found}
            way += found
        return way[:LONGEST][::-1]

    async def _before(self, passed: Passed, gap: int) -> list[Passed]:
        """The next place on the way back, behind those without a value that lie between; [] where it begins."""
        of_values = self._judge.of_values
        sources = list(dict.fromkeys(made_from(self._graph, passed.place, gradients_only=of_values)))
        sources = [each for each in sources if self._is_new(each)]
        judged = await asyncio.gather(*map(self._why, sources))
        bad = [Passed(place, why) for place, (_, why) in zip(sources, judged, strict=True) if why]
        for worst in sorted(bad, key=self._order):
            place = await self._moment(worst.place) if worst.place.as_read else worst.place
            if self._is_new(place):
                return [Passed(place, worst.why)]
        unknown = [place for place, (known, _) in zip(sources, judged, strict=True) if not known]
        for place in unknown if gap else ():
            between = Passed(place, passed.why)  # bad too, if what it is made from is
            if place.kind == "op" and (found := await self._before(between, gap - 1)):
                return [between, *found]
        writer = writer_of(self._graph, passed.place)
        if writer is not None and sources and not bad and not unknown and not of_values:
            return [Passed(writer, passed.why)] if self._is_new(writer) else []
        return []

    def _is_new(self, place: Place) -> bool:
        """Whether the way has not come through here. By its thresholds a parameter is what it was when it was read."""
        same = {place.identity, replace(place, as_read=place.as_read and not self._judge.of_values).identity}
        return not same & self._seen

    async def _why(self, place: Place) -> tuple[bool, Why | None]:
        """Whether there is a value, and what is wrong with it."""
        stats = await self._ask(place.key)
        why = self._judge.why(stats) if stats is not None else None
        if why is None and not place.as_read and place.when == "current" and (place.node, place.slot) in self._hits:
            why = "hit"
        return stats is not None, why

    async def _moment(self, read: Place) -> Place:
        """When a parameter became what was read: in the step before, or by an update of this one."""
        if read.when == "previous" or self._judge.of_values:
            return read
        key = TensorKey(read.key.graph, read.node, read.slot, "previous")
        stats = await self._ask(key)
        if stats is None:
            return read
        when: When = "previous" if self._judge.why(stats) else "current"
        return replace(read, key=replace(key, when=when), as_read=False)

    def _order(self, passed: Passed) -> tuple[int, bool, int]:
        if self._judge.of_values:
            return 0, False, 0
        place = passed.place
        return _WORST.index(passed.why), place.kind == "op", self._graph.position(place.node)
