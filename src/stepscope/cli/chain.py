"""Where a bad value comes from: the nodes that it came through, back to the first.

From a node that was hit, the way goes to an input that is bad in the same way, and on, until no input is. Values are
judged by their figures, which the training's side computes; no tensor travels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from stepscope.core.errors import StepscopeError
from stepscope.core.graph.optimizers import OPTIMIZERS
from stepscope.core.graph.source import Frame
from stepscope.core.ports import TensorStats
from stepscope.core.tensors import Figures
from stepscope.core.watch.conditions import CONDITIONS, OVERFLOW
from stepscope.core.watch.engine import Given, Measured, decide

if TYPE_CHECKING:
    from stepscope.client import Job, Node
    from stepscope.client.watchpoints import Hit
    from stepscope.core.graph.views import Port

LONGEST = 200  # nodes in a chain


@dataclass(frozen=True)
class Line:
    """Of a source file. `text` is "" where the training's side does not know it."""

    file: str
    line: int
    text: str


@dataclass(frozen=True)
class Place:
    """An output of a node. `source` is the line of the user's code that made the node; of a parameter, that which
    reads it."""

    graph: str
    node: str
    slot: int
    op: str
    source: Line | None


class Chains:
    """Of the hits of one check."""

    def __init__(self, job: Job, hits: Sequence[Hit]) -> None:
        self._job = job
        self._hit = {(hit.watchpoint, hit.graph, hit.node, hit.slot) for hit in hits}
        self._nodes: dict[tuple[str, str], Node | None] = {}

    def to(self, hit: Hit) -> list[Place]:
        """From where it begins to the hit itself."""
        judge = _Judge(hit)
        seen = {hit.node}
        chain = [(hit.node, hit.slot)]
        while len(chain) < LONGEST:
            step = next((one for one in self._before(hit, judge, chain[-1][0]) if one[0] not in seen), None)
            if step is None:
                break
            seen.add(step[0])
            chain.append(step)
        return [place(self._job, hit.graph, node, slot) for node, slot in reversed(chain)]

    def _before(self, hit: Hit, judge: _Judge, name: str) -> Iterator[tuple[str, int]]:
        """The outputs that a node reads and that are bad too."""
        node = self._node(hit.graph, name)
        if node is None or judge.compares:
            return
        if node.kind == "parameter":
            yield from self._updates(hit, judge, node)
        for port in node.inputs:
            if not port.control and port.node and self._is_bad(hit, judge, node, port):
                source = self._node(hit.graph, port.node)
                if source is not None and source.kind != "constant":
                    yield port.node, port.slot

    def _updates(self, hit: Hit, judge: _Judge, parameter: Node) -> Iterator[tuple[str, int]]:
        """A parameter is what its optimizer made of it: the gradient that this read is where to go on."""
        for consumer, _ in parameter.outputs[0].consumers if parameter.outputs else ():
            node = self._node(hit.graph, consumer)
            update = OPTIMIZERS.get(node.op) if node is not None else None
            if node is None or update is None or update.weight is None:
                continue
            by_index = {port.data_index: port for port in node.inputs if port.data_index is not None}
            weight, gradient = by_index.get(update.weight), by_index.get(update.gradient)
            if weight is None or weight.node != parameter.name or gradient is None or not gradient.node:
                continue
            if self._is_bad(hit, judge, node, gradient):
                yield gradient.node, gradient.slot

    def _is_bad(self, hit: Hit, judge: _Judge, reader: Node, port: Port) -> bool:
        if (hit.watchpoint, hit.graph, port.node, port.slot) in self._hit:
            return True
        try:
            if port.element is None:  # as the reader has seen it: a parameter before its update
                stats = self._job.stats(reader.name, input=port.index, graph=hit.graph)
            else:
                stats = self._job.stats(port.node, port.slot, graph=hit.graph)
        except StepscopeError:
            return False
        return judge.is_bad(stats)

    def _node(self, graph: str, name: str) -> Node | None:
        if (graph, name) not in self._nodes:
            try:
                self._nodes[graph, name] = self._job.node(name, graph)
            except StepscopeError:
                self._nodes[graph, name] = None
        return self._nodes[graph, name]


class _Judge:
    """Whether figures are bad in the way of a hit: not finite, or past the same threshold."""

    def __init__(self, hit: Hit) -> None:
        self._hit = hit
        self._condition = CONDITIONS[hit.condition]

    @property
    def compares(self) -> bool:
        """With the step before: what a weight was changed by is no question of where a value comes from."""
        return self._condition.needs_previous and not self._of_finite

    def is_bad(self, stats: TensorStats) -> bool:
        figures = _figures(stats)
        if self._of_finite or self._condition.code == OVERFLOW or self._condition.needs_inputs:
            return figures.nan_count + figures.positive_inf_count + figures.negative_inf_count > 0
        return decide(self._condition.code, self._given, Measured(figures)).hit

    @cached_property
    def _of_finite(self) -> bool:
        return bool(self._hit.error & {"nan", "inf"})

    @cached_property
    def _given(self) -> list[Given]:
        return [Given(one.name, one.value) for one in self._hit.params]


def place(job: Job, graph: str, name: str, slot: int) -> Place:
    """What there is to say of an output; of a node that can't be asked for, its name."""
    try:
        node = job.node(name, graph)
        frames = node.source
        if not frames and node.kind != "op":
            readers = [consumer for port in node.outputs for consumer, _ in port.consumers]
            frames = job.node(readers[0], graph).source if readers else ()
    except StepscopeError:
        return Place(graph, name, slot, "", None)
    return Place(graph, name, slot, node.op, _line(frames))


def _line(frames: Sequence[Frame]) -> Line | None:
    """The innermost line of the user's own code."""
    frame = next((frame for frame in frames if frame.user), None)
    return None if frame is None else Line(frame.file, frame.line, frame.text)


def _figures(stats: TensorStats) -> Figures:
    return Figures(
        stats.count,
        stats.nan_count,
        stats.positive_inf_count,
        stats.negative_inf_count,
        stats.zero_count,
        stats.negative_count,
        stats.positive_count,
        stats.min,
        stats.max,
        stats.mean,
        stats.abs_mean,
        stats.std,
    )
