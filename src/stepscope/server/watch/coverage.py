"""Which nodes the watchpoints of a job cover, worked out in a thread, and once for each selection and graph."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from stepscope.core.errors import NotAvailable
from stepscope.core.graph.graph import Graph
from stepscope.core.graph.views import GraphSummary
from stepscope.core.watch.records import Rule, Selection, Watchpoint
from stepscope.core.watch.selection import Watched
from stepscope.server.graphs import Graphs
from stepscope.server.job import Job
from stepscope.server.watch.models import StatesView

_KEPT = 8  # they hold on to their graphs


@dataclass(frozen=True)
class Covered:
    count: int  # nodes that are watched
    missing: int  # ticks of nodes and scopes that no graph has any more


@dataclass(frozen=True)
class _Entry:
    selection: Selection
    graphs: tuple[GraphSummary, ...]
    covered: Covered


class Coverage:
    """Used from the event loop only. Selections and graphs are told apart by identity: both are never changed."""

    def __init__(self, graphs: Graphs):
        self._graphs = graphs
        self._entries: WeakKeyDictionary[Job, dict[int, _Entry]] = WeakKeyDictionary()
        self._watched: deque[tuple[Selection, Graph, Watched]] = deque(maxlen=_KEPT)

    async def of(self, job: Job, watchpoint: Watchpoint) -> Covered:
        entries = self._entries.setdefault(job, {})
        found, graphs = entries.get(watchpoint.id), tuple(job.graphs.values())
        if found is None or found.selection is not watchpoint.selection or not _same(found.graphs, graphs):
            covered = await self._cover(await self.graphs(job), watchpoint.selection)
            found = entries[watchpoint.id] = _Entry(watchpoint.selection, graphs, covered)
        return found.covered

    async def states(
        self, job: Job, selection: Selection, name: str, scopes: list[str], nodes: list[str]
    ) -> StatesView:
        graph = await self._graphs.get(job.view.id, self._graphs.known(list(job.graphs), name))
        (watched,) = await self._watch([graph], selection)
        return await asyncio.to_thread(
            lambda: StatesView(scopes=watched.scope_states(scopes), nodes=watched.node_states(nodes))
        )

    async def graphs(self, job: Job) -> list[Graph]:
        """All of a job, but for those that could not be kept."""
        found = []
        for name in list(job.graphs):
            with contextlib.suppress(NotAvailable):
                found.append(await self._graphs.get(job.view.id, name))
        return found

    async def _cover(self, graphs: Sequence[Graph], selection: Selection) -> Covered:
        watched = await self._watch(graphs, selection)
        missing = await asyncio.to_thread(_missing, graphs, selection.rules)
        return Covered(sum(each.count for each in watched), missing)

    async def _watch(self, graphs: Sequence[Graph], selection: Selection) -> list[Watched]:
        there = {id(graph): watched for of, graph, watched in self._watched if of is selection}
        new = [graph for graph in graphs if id(graph) not in there]
        made = await asyncio.to_thread(lambda: [Watched(graph, selection) for graph in new])
        for graph, watched in zip(new, made, strict=True):
            there[id(graph)] = watched
            self._watched.append((selection, graph, watched))
        return [there[id(graph)] for graph in graphs]


def _same(some: Iterable[object], others: Iterable[object]) -> bool:
    return list(map(id, some)) == list(map(id, others))


def _missing(graphs: Sequence[Graph], rules: Iterable[Rule]) -> int:
    return sum(rule.on and not is_there(rule, graphs) for rule in rules)


def places_of(rule: Rule, graphs: Sequence[Graph]) -> list[Graph]:
    """The graphs that a tick is for."""
    return [graph for graph in graphs if rule.graph in ("", graph.name)]


def is_there(rule: Rule, graphs: Sequence[Graph]) -> bool:
    """Whether one of the graphs has what is ticked."""
    for graph in places_of(rule, graphs):
        if graph.watchable.scope_number(rule.path) is not None if rule.scope else rule.path in graph:
            return True
    return False
