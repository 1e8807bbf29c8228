"""The graph of the step as the server knows it: told again only when the step has become another one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from stepscope import graph_file
from stepscope.core.graph import Graph
from stepscope.core.graph.fold import FOLDED_OPS
from stepscope.core.graph.records import NodeRecord
from stepscope.probe.torch.events import Event
from stepscope.probe.torch.tracer import Tracer

_Key = tuple[Any, ...]


class Known:
    """What a step came out as. `steps`: of each node by its name, the step in which its record was made; `stops`: nodes
    of the graph at which one can stop."""

    def __init__(
        self,
        name: str,
        records: list[NodeRecord],
        nodes: list[_Key],
        variables: tuple[str, ...],
        steps: dict[str, int],
    ) -> None:
        self.name, self.records, self.nodes, self.variables, self.steps = name, records, nodes, variables, steps
        self.stops = sum(record.kind == "op" and record.op not in FOLDED_OPS for record in records)

    @cached_property
    def graph(self) -> Graph:
        return Graph(self.name, self.records)


class Telling:
    """`update` looks at what the tracer has of the step; `tell` sends what has changed since the graph was sent."""

    def __init__(self, name: str, folder: Path) -> None:
        self.known = Known(name, [], [], (), {})
        self._folder = folder
        self._matched = 0  # nodes of the present step that are as they were known
        self._untold = False
        self._files = 0

    @property
    def graph(self) -> Graph:
        return self.known.graph

    def take(self, known: Known) -> None:
        """The present step is known to have come out as this."""
        if known is not self.known:
            self.known, self._untold = known, True

    def new_step(self) -> None:
        self._matched = 0

    def update(self, tracer: Tracer, step: int, ended: bool) -> bool:
        """Whether the graph is another one now. `ended`: the step is over, so that no node can be missing any more."""
        events = tracer.events
        running = bool(events) and not ended and not events[-1].types and bool(events[-1].tensors)
        last = len(events) - running  # a node that has not run has no outputs yet
        while self._matched < last and self._is_known(events[self._matched]):
            self._matched += 1
        variables = tuple(tracer.tensors())
        same = self._matched == last and (not running or self._is_next(events[-1].name))
        known = self.known
        if ended:
            same = same and len(events) == len(known.nodes) and variables == known.variables
        if same:
            return False
        nodes, records = [_key(event) for event in events], tracer.records()
        steps = {record.name: step for record in records}
        if not ended:  # what the last step did after this may come yet
            if running:
                self._as_it_was(nodes, records, steps)
            names = {record.name for record in records}
            nodes += [node for node in known.nodes if node[0] not in names]
            records += [record for record in known.records if record.name not in names]
            steps = known.steps | steps
        self._matched = last
        self.known, self._untold = Known(known.name, records, nodes, variables, steps), True
        return True

    def tell(self, send: Callable[..., None]) -> None:
        """OSError where there is no space for the graph."""
        if self._untold:
            self._untold = False
            self._files += 1
            path = self._folder / f"graph-{self._files}.json"
            graph_file.dump(self.known.records, path)
            send("graph", name=self.known.name, path=str(path))

    def _as_it_was(self, nodes: list[_Key], records: list[NodeRecord], steps: dict[str, int]) -> None:
        """The last node has not put out anything yet: what it is known to put out stands for that."""
        name = records[-1].name
        records[-1:] = [old for old in self.known.records if old.name == name] or records[-1:]
        nodes[-1:] = [old for old in self.known.nodes if old[0] == name] or nodes[-1:]
        steps[name] = self.known.steps.get(name, steps[name])

    def _is_known(self, event: Event) -> bool:
        return self._matched < len(self.known.nodes) and self.known.nodes[self._matched] == _key(event)

    def _is_next(self, name: str) -> bool:
        return self._matched < len(self.known.nodes) and self.known.nodes[self._matched][0] == name


def _key(event: Event) -> _Key:
    return event.name, event.inputs, event.types
