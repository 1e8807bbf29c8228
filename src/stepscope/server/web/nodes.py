"""A node of a graph as the web API shows it."""

from __future__ import annotations

from stepscope.core.graph.graph import Graph
from stepscope.core.graph.records import TensorType
from stepscope.server.models import NodeView
from stepscope.server.web.answers import plain


def node_view(graph: Graph, name: str) -> NodeView:
    """Raises UnknownNode with the nearest names."""
    node = graph.node(name)
    return NodeView.model_validate(
        {
            "graph": graph.name,
            "name": node.name,
            "op": node.op,
            "kind": node.kind,
            "scope": node.scope,
            "inputs": [
                {
                    "index": port.index,
                    "data_index": port.data_index,
                    "element": port.element,
                    "node": port.node,
                    "slot": port.slot,
                    "control": port.control,
                    **_type(port.type),
                }
                for port in node.inputs
            ],
            "outputs": [
                {
                    "slot": port.slot,
                    "consumer_count": port.consumer_count,
                    **_type(port.type),
                    "consumers": [{"node": consumer, "input": index} for consumer, index in port.consumers],
                }
                for port in node.outputs
            ],
            "attributes": plain(node.attributes),
            "source": [vars(frame) for frame in node.source],
            "categories": node.categories,
            "folded": node.folded,
            "trainable": node.trainable,
            "value": plain(node.value),
        }
    )


def _type(type: TensorType) -> dict[str, object]:
    return {"type": {"dtype": type.dtype, "shape": type.shape}}
