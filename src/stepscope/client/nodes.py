"""Nodes of a job's graphs as the client hands them out, and what it makes of the server's JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from stepscope.core.graph import views
from stepscope.core.graph.views import Lineage, ScopeView, SearchResult
from stepscope.core.ports import Comparison, ExecutionOrder, StackFrame, TensorStats


class NodeName(str):
    """A node's full name: a str that also knows the graph, so that it can be handed in again without naming that."""

    graph: str
    op: str
    kind: str
    categories: tuple[str, ...]

    def __new__(cls, row: Mapping[str, Any]) -> NodeName:
        self = super().__new__(cls, row["name"])
        self.graph, self.op, self.kind = row["graph"], row["op"], row["kind"]
        self.categories = tuple(row["categories"])
        return self


@dataclass(frozen=True)
class Node(views.Node):
    """One node; `attributes` and `value` are JSON: arrays are {"dtype", "shape", "values": the first in one row}.

    `attributes_step` is the step that the attributes are of; None where they are those of the graph: constants, or
    where those of the present step can't be known now, as while the training runs.
    """

    graph: str
    attributes_step: int | None


def node_from(answer: Mapping[str, Any]) -> Node:
    outputs = [
        {**port, "consumers": [(consumer["node"], consumer["input"]) for consumer in port["consumers"]]}
        for port in answer["outputs"]
    ]
    return NODE.validate_python({**answer, "outputs": outputs})


def node_name(node: str | Node) -> str:
    return node.name if isinstance(node, Node) else str(node)


def node_graph(node: str | Node, graph: str | None) -> str | None:
    """The graph that was named, or that the node knows."""
    return graph or (node.graph if isinstance(node, Node | NodeName) else None)


def tensor_key(node: str | Node, slot: int, input: int | None, graph: str | None) -> dict[str, str | int | None]:
    """A tensor as the web API's parameters have it."""
    return {"node": node_name(node), "slot": slot, "input": input, "graph": node_graph(node, graph)}


NODE = TypeAdapter(Node)
LINEAGE = TypeAdapter(Lineage)
SCOPE = TypeAdapter(ScopeView)
SEARCH = TypeAdapter(SearchResult)
STATS = TypeAdapter(TensorStats)
COMPARISON = TypeAdapter(Comparison)
EXECUTION = TypeAdapter(ExecutionOrder)
FRAMES = TypeAdapter(tuple[StackFrame, ...])
