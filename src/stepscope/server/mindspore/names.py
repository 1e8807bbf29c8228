"""What the client calls a tensor, and which node of which graph is meant by a name that it sends.

A parameter stands on the wire as `scope/name`, of which the client looks at the last part only; it is one parameter,
however many scopes read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from stepscope.core.graph import Graph

_PARAMETER = "Parameter"
_SCOPE = "Default/"


class WireName(NamedTuple):
    name: str
    type: str
    is_parameter: bool


class Names:
    """Of the graphs of one job."""

    def __init__(self, graphs: Mapping[str, Graph]) -> None:
        self._graphs = graphs
        self._places: dict[str, tuple[Graph, dict[str, int]]] = {}

    def of(self, graph: str, node: str) -> WireName:
        about = self._graphs[graph].summarize(node)
        if about.kind == "op":
            return WireName(node, about.op, False)
        return WireName(_SCOPE + node, _PARAMETER, True)

    def find(self, wire_name: str, hint: str = "") -> tuple[str, str] | None:
        """(graph, node) of a name that the client sent; `hint` is the graph that is looked at first."""
        candidates = dict.fromkeys((wire_name, wire_name.removeprefix(_SCOPE), wire_name.rpartition("/")[2]))
        for name in sorted(self._graphs, key=lambda name: name != hint):
            for candidate in candidates:
                if candidate in self._graphs[name]:
                    return name, candidate
        return None

    def position(self, graph: str, node: str) -> tuple[int, int]:
        """Where the node stands among the operations of its graph, from 1, and how many those are.

        What is no operation stands at the end: of a parameter it is the value after the step that is looked at.
        """
        known = self._places.get(graph)
        if known is None or known[0] is not self._graphs[graph]:
            operations = self._graphs[graph].of_kind("op")
            places = {name: place for place, name in enumerate(operations, 1)}
            known = self._places[graph] = (self._graphs[graph], places)
        return known[1].get(node, len(known[1])), len(known[1])

    def last(self, graph: str) -> str:
        """The last node of a graph that runs; "" where none does."""
        found = self._graphs[graph]
        return next((name for name in reversed(found.of_kind("op")) if not found.node(name).folded), "")
