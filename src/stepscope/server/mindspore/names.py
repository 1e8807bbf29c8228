"""What the client calls a tensor, and which node of which graph is meant by a name that it sends.

A parameter stands on the wire as `scope/name`, of which the client looks at the last part only; it is one parameter,
however many scopes read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from stepscope.core.graph import Graph
from stepscope.protocol.gen import stepscope_pb2 as pb

_PARAMETER = "Parameter"
_SCOPE = "Default/"


class _Order(NamedTuple):
    """The operations of a graph: their places, from 1, and the last one that runs."""

    graph: Graph
    places: dict[str, int]
    last: str


class WireName(NamedTuple):
    name: str
    type: str
    is_parameter: bool


class Names:
    """Of the graphs of one job."""

    def __init__(self, graphs: Mapping[str, Graph]) -> None:
        self._graphs = graphs
        self._orders: dict[str, _Order] = {}

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
        places = self._order(graph).places
        return places.get(node, len(places)), len(places)

    def last(self, graph: str) -> str:
        """The last node of a graph that runs; "" where none does."""
        return self._order(graph).last

    def _order(self, name: str) -> _Order:
        graph, known = self._graphs[name], self._orders.get(name)
        if known is None or known.graph is not graph:
            operations = graph.of_kind("op")
            last = next((one for one in reversed(operations) if not graph.node(one).folded), "")
            places = {one: place for place, one in enumerate(operations, 1)}
            known = self._orders[name] = _Order(graph, places, last)
        return known


def slot_of(tensor: pb.TensorProto) -> int:
    """Of an output; on the wire it is a text. 0 where that is no number."""
    return int(tensor.slot) if tensor.slot.isdecimal() and len(tensor.slot) < 10 else 0
