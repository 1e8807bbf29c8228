"""Checks the watchpoints of a job on all tensors of one step, in the order of execution.

Invariants: each tensor is read once for all its watchpoints; a fault on one tensor is an error of its own
("unreadable") and never hides the others. A tensor that was not recorded is not checked: nothing is known of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from stepscope.core.errors import NotAvailable, StepscopeError
from stepscope.core.graph import Graph
from stepscope.core.ports import ExecutionOrder, Tensor, TensorKey
from stepscope.core.watch.plan import Plan
from stepscope.core.watch.records import ErrorKind, Hit, HitBatch, Watchpoint, WatchpointSet
from stepscope.core.watch.selection import Watched

MAX_HITS = 10_000  # that are told of in one batch

_Array = np.ndarray[Any, Any]
_Turn = tuple[str, str, int]  # graph, node, position in the order of execution


class Step(Protocol):
    """What is checked: the graphs, and the tensors of the present step and of the one before."""

    @property
    def graphs(self) -> Mapping[str, Graph]: ...

    def execution(self, offset: int = 0, limit: int = 1000) -> ExecutionOrder: ...

    def tensor(self, key: TensorKey) -> Tensor: ...


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

    def has_checked(self, step: int) -> bool:
        """Whether this step was the last to be checked, on the present watchpoints."""
        return self._checked == (step, self.revision)

    def check(self, step: Step, number: int) -> HitBatch:
        """All hits on step `number`, which is the present one of `step`; 0 is the state before the first step."""
        plans, hits = self._plans, list[Hit]()
        self._checked = (number, plans.set.revision)
        for graph, node, position in _turns(step, number):
            plan = plans.of(step.graphs[graph]).get(node)
            if plan is not None:
                hits += _check_node(step, number, graph, node, position, plan)
        warning = ""
        if len(hits) > MAX_HITS:
            warning = f"{len(hits)} hits in step {number}: the first {MAX_HITS} are shown"
        return HitBatch(number, plans.set.revision, tuple(hits[:MAX_HITS]), warning)


class _Plans:
    """Which of a set of watchpoints look at which node."""

    def __init__(self, watchpoints: WatchpointSet) -> None:
        self.set = watchpoints
        self._of: dict[str, tuple[Graph, dict[str, Plan]]] = {}

    def of(self, graph: Graph) -> dict[str, Plan]:
        """For each watched node its plan; nodes with the same watchpoints share one."""
        known = self._of.get(graph.name)
        if known is None or known[0] is not graph:  # compiled anew: the same selection takes other nodes
            known = self._of[graph.name] = (graph, self._make(graph))
        return known[1]

    def _make(self, graph: Graph) -> dict[str, Plan]:
        watching: dict[str, list[Watchpoint]] = {}
        for watchpoint in self.set.watchpoints:
            if watchpoint.enabled:
                for name in Watched(graph, watchpoint.selection).names():
                    watching.setdefault(name, []).append(watchpoint)
        plans: dict[tuple[int, ...], Plan] = {}
        result: dict[str, Plan] = {}
        for name, watchpoints in watching.items():
            ids = tuple(watchpoint.id for watchpoint in watchpoints)
            if ids not in plans:
                plans[ids] = Plan(watchpoints)
            result[name] = plans[ids]
        return result


def _turns(step: Step, number: int) -> Iterator[_Turn]:
    """What is looked at in which order: inputs of the graphs, the nodes as they ran, the parameters after the step.

    A node that ran several times is looked at once, with its last value. Of graphs in which nothing ran there is
    nothing to see, but for the parameters before the first step.
    """
    try:
        order = step.execution(0, 1 << 31).nodes if number else ()
    except NotAvailable:
        order = ()
    last = {(each.graph, each.node): position for position, each in enumerate(order, 1)}
    graphs = [name for name in step.graphs if not number or any(graph == name for graph, _ in last)]
    for graph in graphs if number else ():
        yield from ((graph, name, 0) for name in step.graphs[graph].of_kind("input"))
    for (graph, node), position in sorted(last.items(), key=lambda item: item[1]):
        yield graph, node, position
    for graph in graphs:
        yield from ((graph, name, len(order)) for name in step.graphs[graph].of_kind("parameter"))


def _check_node(step: Step, number: int, graph: str, node: str, position: int, plan: Plan) -> Iterator[Hit]:
    for slot in range(max(1, len(step.graphs[graph].output_types(node)))):
        key = TensorKey(graph, node, slot)
        try:
            found = plan.check(
                *_value(step, key),
                _previous(step, key) if plan.needs_previous and number else None,
                initial=number == 0,
                inputs=lambda: _inputs(step, graph, node),
            )
        except NotAvailable:
            continue
        except Exception:  # whatever is wrong with one tensor, the others are checked
            yield from (_unreadable(number, key, watchpoint, position) for watchpoint in plan.watchpoints)
            continue
        for watchpoint, check in found:
            yield Hit(number, graph, node, slot, watchpoint.id, check.params, check.error, position)


def _value(step: Step, key: TensorKey) -> tuple[_Array, str]:
    tensor = step.tensor(key)
    return tensor.array, tensor.dtype


def _previous(step: Step, key: TensorKey) -> _Array | None:
    try:
        return step.tensor(TensorKey(key.graph, key.node, key.slot, when="previous")).array
    except StepscopeError:
        return None


def _inputs(step: Step, graph: str, node: str) -> Iterable[_Array]:
    for index in sorted({port.index for port in step.graphs[graph].node(node).inputs if not port.control}):
        try:
            yield step.tensor(TensorKey(graph, node, input=index)).array
        except StepscopeError:
            continue


def _unreadable(number: int, key: TensorKey, watchpoint: Watchpoint, position: int) -> Hit:
    error: frozenset[ErrorKind] = frozenset({"unreadable"})
    return Hit(number, key.graph, key.node, key.slot, watchpoint.id, (), error, position)
