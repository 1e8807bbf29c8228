"""The computation graph: what a source says of it, as an index that answers at once."""

from stepscope.core.graph.graph import Graph
from stepscope.core.graph.records import InputRef, Kind, NodeRecord, TensorType
from stepscope.core.graph.source import Frame
from stepscope.core.graph.views import (
    Badge,
    Category,
    GraphSummary,
    Lineage,
    LineageEdge,
    LineageNode,
    Node,
    NodeSummary,
    OutputPort,
    Port,
    Resolved,
    ScopeChild,
    ScopeEdge,
    ScopeView,
    SearchResult,
)

__all__ = [
    "Badge",
    "Category",
    "Frame",
    "Graph",
    "GraphSummary",
    "InputRef",
    "Kind",
    "Lineage",
    "LineageEdge",
    "LineageNode",
    "Node",
    "NodeRecord",
    "NodeSummary",
    "OutputPort",
    "Port",
    "Resolved",
    "ScopeChild",
    "ScopeEdge",
    "ScopeView",
    "SearchResult",
    "TensorType",
]
