"""The watchpoints of a PyTorch training: which nodes they need, and what they say of a step."""

from __future__ import annotations

from stepscope.core.graph import Graph
from stepscope.core.ports import Command
from stepscope.core.watch.records import HitBatch, WatchpointSet
from stepscope.core.watch.selection import Watched
from stepscope.core.watch.step_check import Step, StepCheck


class Watching:
    def __init__(self) -> None:
        self._check = StepCheck()
        self._set = WatchpointSet()
        self._names: tuple[Graph, int, frozenset[str]] | None = None  # of which graph and revision

    def watch(self, watchpoints: WatchpointSet) -> None:
        """Takes these in place of those before."""
        self._set = watchpoints
        self._check.watch(watchpoints)
        self._names = None

    @property
    def active(self) -> bool:
        return self._check.active

    def is_due_before(self, command: Command, step: int) -> bool:
        return self._check.is_due_before(command, step)

    def names(self, graph: Graph) -> frozenset[str]:
        """The nodes of a graph that any enabled watchpoint looks at."""
        if self._names is None or self._names[0] is not graph or self._names[1] != self._set.revision:
            enabled = [one for one in self._set.watchpoints if one.enabled]
            names = frozenset(name for one in enabled for name in Watched(graph, one.selection).names())
            self._names = (graph, self._set.revision, names)
        return self._names[2]

    def check(self, step: Step, number: int) -> HitBatch:
        """All hits of a step whose values are held; what can't be checked at all is told, and never raised."""
        try:
            return self._check.check(step, number)
        except Exception as error:
            what = f"the watchpoints could not be checked on step {number}: {type(error).__name__}: {error}"
            return HitBatch(number, self._set.revision, warning=what)
