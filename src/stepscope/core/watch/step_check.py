"""Checks the watchpoints of a job on all tensors of one step, in the order of execution.

Invariants: each tensor is read once for all its watchpoints; a fault on one tensor is an error of its own
("unreadable") and never hides the others. A tensor that was not recorded is not checked: nothing is known of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from stepscope.core.errors import BadRequest, NotAvailable, StepscopeError
from stepscope.core.graph import Graph, TensorType
from stepscope.core.graph.masks import told_infinity
from stepscope.core.ports import Command, ExecutionOrder, NodeAttributes, Tensor, TensorKey
from stepscope.core.tensors import all_finite
from stepscope.core.watch.plan import Plan
from stepscope.core.watch.records import Check, Hit, HitBatch, Watchpoint, WatchpointSet
from stepscope.core.watch.selection import Watched

MAX_HITS = 10_000  # that are told of in one batch

_Array = np.ndarray[Any, Any]
T = TypeVar("T")
_ByGraph = dict[str, tuple[Graph, T]]  # by name
Turn = tuple[str, str, int]  # graph, node, position in the order of execution


class Watching(NamedTuple):
    """The watchpoints on a node, and what they need to know of a tensor.

    `of_vectors` looks at outputs with less than two dimensions instead, where those are none of some watchpoints'
    business: an operation of PyTorch that gives the gradient of a layer's matrix gives that of its bias, too.
    """

    watchpoints: tuple[Watchpoint, ...]
    plan: Plan
    of_vectors: Watching | None = None

    def of(self, kind: TensorType) -> Watching:
        return self.of_vectors if kind.is_vector and self.of_vectors is not None else self

    def hits(self, checks: Iterable[Check], number: int, turn: Turn, slot: int) -> Iterator[Hit]:
        """What is told of the checks of one tensor in step `number`."""
        graph, node, position = turn
        for watchpoint, check in zip(self.watchpoints, checks, strict=True):
            if check.reported:
                yield Hit(number, graph, node, slot, watchpoint.id, check.params, check.error, position)

    def unreadable(self) -> list[Check]:
        """The checks of a tensor with which something is wrong."""
        return [Check(False, frozenset({"unreadable"}))] * len(self.watchpoints)


class Step(Protocol):
    """What is checked: the graphs, and the tensors of the present step and of the one before."""

    @property
    def graphs(self) -> Mapping[str, Graph]: ...

    def execution(self, offset: int = 0, limit: int = 1000) -> ExecutionOrder: ...

    def tensor(self, key: TensorKey) -> Tensor: ...

    def attributes(self, graph: str, node: str) -> NodeAttributes: ...


class StepCheck:
    """Holds the watchpoints. `watch` may be called while a `check` runs in another thread, which keeps to its own."""

    def __init__(self) -> None:
        self._plans = _Plans(WatchpointSet())
        self._checked = (-1, -1)

    def watch(self, watchpoints: WatchpointSet) -> None:
        """Takes these in place of those before."""
        self._plans = _Plans(watchpoints)

    @property
    def active(self) -> bool:
        return any(watchpoint.enabled for watchpoint in self._plans.set.watchpoints)

    @property
    def revision(self) -> int:
        """Of the present watchpoints."""
        return self._plans.set.revision

    def is_due_before(self, command: Command, step: int) -> bool:
        """Whether a command leaves the state before the first step, and the present watchpoints have not seen that."""
        leaves = command.kind in ("run", "resume", "next_node", "run_to")
        return leaves and step == 0 and self.active and self._checked != (0, self.revision)

    def check(self, step: Step, number: int) -> HitBatch:
        """All hits on step `number`, which is the present one of `step`; 0 is the state before the first step.

        A fault of ours costs the check, not the training: it is told as a warning, and never raised.
        """
        plans = self._plans
        self._checked = (number, plans.set.revision)
        try:
            return self._found(step, number, plans)
        except Exception as error:
            what = f"the watchpoints could not be checked on step {number}: {type(error).__name__}: {error}"
            return HitBatch(number, plans.set.revision, warning=what)

    def nodes(self, graph: Graph) -> Collection[str]:
        """The nodes of a graph that any watchpoint looks at."""
        return self._plans.watchers(graph).keys()

    def watching(self, graph: Graph) -> Mapping[str, Watching]:
        """The same with what looks at them, for those who check a tensor as soon as it is there."""
        return self._plans.of(graph)

    @staticmethod
    def _found(step: Step, number: int, plans: _Plans) -> HitBatch:
        hits = list[Hit]()
        for graph, node, position in _turns(step, number):
            watching = plans.of(step.graphs[graph]).get(node)
            if watching is not None:
                hits += _check_node(step, number, (graph, node, position), watching)
        return batch_of(number, plans.set.revision, hits)


def batch_of(number: int, revision: int, hits: Sequence[Hit], warning: str = "") -> HitBatch:
    """The hits on a step, in order, as many as are told of."""
    if len(hits) > MAX_HITS:
        warning = f"{len(hits)} hits in step {number}: the first {MAX_HITS} are shown"
    return HitBatch(number, revision, tuple(hits[:MAX_HITS]), warning)


class _Plans:
    """Which of a set of watchpoints look at which node."""

    def __init__(self, watchpoints: WatchpointSet) -> None:
        self.set = watchpoints
        self._watchers: _ByGraph[dict[str, list[Watchpoint]]] = {}
        self._of: _ByGraph[dict[str, Watching]] = {}

    def watchers(self, graph: Graph) -> dict[str, list[Watchpoint]]:
        """For each watched node."""
        return _kept(self._watchers, graph, self._select)

    def of(self, graph: Graph) -> dict[str, Watching]:
        """For each watched node; nodes with the same watchpoints share one plan."""
        return _kept(self._of, graph, self._make)

    def _select(self, graph: Graph) -> dict[str, list[Watchpoint]]:
        watchers: dict[str, list[Watchpoint]] = {}
        for watchpoint in self.set.watchpoints:
            if watchpoint.enabled:
                for name in Watched(graph, watchpoint.selection).names():
                    watchers.setdefault(name, []).append(watchpoint)
        return watchers

    def _make(self, graph: Graph) -> dict[str, Watching]:
        shared: dict[tuple[int, ...], Watching] = {}

        def share(watchpoints: list[Watchpoint]) -> Watching:
            ids = tuple(watchpoint.id for watchpoint in watchpoints)
            if ids not in shared:
                plan = Plan([(watchpoint.condition, watchpoint.parameters) for watchpoint in watchpoints])
                shared[ids] = Watching(tuple(watchpoints), plan)
            return shared[ids]

        result = {}
        for name, watchpoints in self.watchers(graph).items():
            result[name] = share(watchpoints)
            others = [watchpoint for watchpoint in watchpoints if watchpoint.selection.base != "layer_gradient"]
            if len(others) < len(watchpoints) and graph.watchable.gives_several(name):
                result[name] = result[name]._replace(of_vectors=share(others))
        return result


def _kept(known: _ByGraph[T], graph: Graph, make: Callable[[Graph], T]) -> T:
    """What was made for a graph; made anew where that was compiled anew: the same selection takes other nodes."""
    kept = known.get(graph.name)
    if kept is None or kept[0] is not graph:
        kept = known[graph.name] = (graph, make(graph))
    return kept[1]


def _turns(step: Step, number: int) -> Iterator[Turn]:
    """What is looked at in which order: inputs of the graphs, the nodes as they ran, the parameters after the step.

    A node that ran several times is looked at once, with its last value. Of graphs in which nothing ran there is
    nothing to see, but for the parameters before the first step.
    """
    try:
        order = step.execution(0, 1 << 31).nodes if number else ()
    except NotAvailable:
        order = ()
    last = {(each.graph, each.node): position for position, each in enumerate(order, 1)}
    ran = {graph for graph, _ in last}
    graphs = [name for name in step.graphs if not number or name in ran]
    for graph in graphs if number else ():
        yield from ((graph, name, 0) for name in step.graphs[graph].of_kind("input"))
    for (graph, node), position in sorted(last.items(), key=lambda item: item[1]):
        yield graph, node, position
    for graph in graphs:
        yield from ((graph, name, len(order)) for name in step.graphs[graph].of_kind("parameter"))


def _check_node(step: Step, number: int, turn: Turn, watching: Watching) -> Iterator[Hit]:
    graph, node, _ = turn
    for slot, kind in enumerate(step.graphs[graph].output_types(node) or (TensorType(),)):
        key, here = TensorKey(graph, node, slot), watching.of(kind)
        if not here.watchpoints:
            continue
        try:
            tensor = step.tensor(key)
            previous = _previous(step, key) if here.plan.needs_previous and number else None
            if number and here.plan.is_quiet(tensor.array, previous, tensor.dtype):
                continue
            checks = here.plan.check(
                tensor.array,
                previous,
                dtype=tensor.dtype,
                initial=number == 0,
                inputs_finite=lambda: _inputs_finite(step, graph, node),
            )
        except (NotAvailable, BadRequest):  # not recorded, or no numbers
            continue
        except Exception:  # whatever is wrong with one tensor, the others are checked
            checks = here.unreadable()
        yield from here.hits(checks, number, turn, slot)


def _previous(step: Step, key: TensorKey) -> _Array | None:
    try:
        return step.tensor(replace(key, when="previous")).array
    except StepscopeError:
        return None


def _inputs_finite(step: Step, graph: str, node: str) -> bool | None:
    """None where an input that was not recorded could be to blame; constants, which often are not, are not.

    None for what is no operator, too: a parameter is what its optimizer made of it. A number that it was given counts
    as an input: what was told to write infinities has not overflowed.
    """
    known, of = True, step.graphs[graph]
    about = of.node(node)
    if about.kind != "op":
        return None
    if told_infinity(step.attributes(graph, node).attributes):
        return False
    for port in about.inputs:
        if port.control:
            continue
        try:
            tensor = step.tensor(TensorKey(graph, node, input=port.index))
            finite = all_finite(tensor.array, tensor.dtype)
        except StepscopeError:
            known = known and bool(port.node) and of.summarize(port.node).kind == "constant"
            continue
        if not finite:
            return False
    return True if known else None
