"""Where a bad value comes from: the tensors that it came through, back to the first.

From a tensor that is bad the way goes to an input that is bad in the same way, and on, until no input is. Values are
judged by their figures, so no tensor travels. See `Walk` for what is gone through on the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from stepscope.core.advice.judge import Judge, Why
from stepscope.core.advice.places import Place, placed
from stepscope.core.advice.walk import LONGEST, Ask, Walk
from stepscope.core.graph import Frame, Graph
from stepscope.core.ports import TensorKey, TensorStats
from stepscope.core.watch.records import Hit

Reason = Literal["", "no_fault", "no_values", "compares"]


class NamedHit(NamedTuple):
    """A hit with the condition that its watchpoint had."""

    hit: Hit
    condition: str


@dataclass(frozen=True)
class SourceLine:
    """The innermost line of the user's own code that made a node; of a parameter, that which reads it. `text` is ""
    where the training's side does not know it."""

    file: str
    line: int
    text: str


@dataclass(frozen=True)
class OriginStep:
    """One tensor on the way. `step` is that of its value: the way may lead into the step before. `watchpoints` are
    those that hit it."""

    graph: str
    node: str
    slot: int
    op: str
    why: Why
    watchpoints: tuple[int, ...]
    source: SourceLine | None
    step: int


@dataclass(frozen=True)
class Origin:
    """The way that a fault came: the first of the path is where it began, the last is the tensor asked for.

    `reason` is "no_fault" (nothing is wrong with the tensor), "no_values" (they are not known) or "compares": what was
    hit is a change from step to step, which is no matter of where a value comes from; the path is the tensor alone.
    """

    found: bool
    reason: Reason = ""
    path: tuple[OriginStep, ...] = ()


async def trace(
    graph: Graph, key: TensorKey, ask: Ask, hits: Sequence[NamedHit] = (), watchpoint: int | None = None
) -> Origin:
    """Where the fault of a tensor began.

    ask: the figures of a tensor, None where it has no value now.
    hits: all of the last check; those of another step than that of the tensor's value are not looked at.
    watchpoint: whose hit on the tensor is meant, where it has several. Without any hit, NaN and infinities are a fault.
    Raises UnknownNode.
    """
    start = placed(graph, key)
    stats = await ask(key)
    here = [one for one in hits if one.hit.graph == graph.name and _tells(one.hit)]
    if stats is not None:
        here = [one for one in here if one.hit.step == stats.step]
    chosen = _choose([one for one in here if _is_on(one.hit, start)], stats, watchpoint)
    judge = Judge() if chosen is None else Judge(chosen.condition, chosen.hit.params, chosen.hit.error)
    if judge.compares and chosen is not None:
        return Origin(True, "compares", (_step(graph, start, "hit", here, chosen.hit.step),))
    if stats is None:
        return Origin(False, "no_values")
    why = judge.why(stats) or ("hit" if chosen else None)
    if why is None:
        return Origin(False, "no_fault")
    same = [one.hit for one in here if chosen is not None and one.hit.watchpoint == chosen.hit.watchpoint]
    walk = Walk(graph, judge, ask, {(hit.node, hit.slot) for hit in same})
    way = await walk.back(start, why)
    path = [_step(graph, each.place, each.why, here, stats.step - (each.place.when != key.when)) for each in way]
    return Origin(len(way) < LONGEST, "", tuple(path))


def _tells(hit: Hit) -> bool:
    """Whether it says that something is wrong with the value itself."""
    return not hit.error or bool(hit.error & {"nan", "inf"})


def _is_on(hit: Hit, place: Place) -> bool:
    """What a parameter was when it was read is no hit: it was checked after the step."""
    return (hit.node, hit.slot) == (place.node, place.slot) and not place.as_read


def _choose(own: Sequence[NamedHit], stats: TensorStats | None, watchpoint: int | None) -> NamedHit | None:
    """Which hit on the tensor is followed; None: its NaN and infinities, if there are any."""
    if watchpoint is not None:
        return next((one for one in own if one.hit.watchpoint == watchpoint), None)
    if stats is None or Judge().why(stats) is None:
        return min(own, key=lambda one: Judge(one.condition, (), one.hit.error).compares, default=None)
    return None


def _step(graph: Graph, place: Place, why: Why, hits: Sequence[NamedHit], step: int) -> OriginStep:
    there = [one.hit for one in hits if _is_on(one.hit, place) and one.hit.step == step]
    numbers = tuple(dict.fromkeys(hit.watchpoint for hit in there))
    op = graph.summarize(place.node).op
    return OriginStep(graph.name, place.node, place.slot, op, why, numbers, line_of(graph, place.node), step)


def line_of(graph: Graph, name: str) -> SourceLine | None:
    """The line of the user's code that a node comes from, of a parameter that which reads it."""
    node = graph.node(name)
    frames = node.source
    if not frames and node.kind != "op":
        readers = [consumer for port in node.outputs for consumer, _ in port.consumers]
        frames = graph.node(readers[0]).source if readers else ()
    return innermost(frames)


def innermost(frames: Iterable[Frame]) -> SourceLine | None:
    """The first of these frames that is the user's own code."""
    frame = next((frame for frame in frames if frame.user), None)
    return None if frame is None else SourceLine(frame.file, frame.line, frame.text)
