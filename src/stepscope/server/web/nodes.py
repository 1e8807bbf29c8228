"""A node of a graph as the web API shows it."""

from __future__ import annotations

import asyncio

from starlette.responses import Response

from stepscope.core.errors import StepscopeError
from stepscope.core.graph.graph import Graph
from stepscope.core.graph.records import TensorType
from stepscope.core.graph.views import Node
from stepscope.core.ports import NodeAttributes, State
from stepscope.server.job import Job
from stepscope.server.models import NodeView
from stepscope.server.web.answers import computed, plain

ATTRIBUTES_SECONDS = 2.0  # that a node waits for what the training says of it


async def node_answer(job: Job, graph: Graph, name: str) -> Response:
    """Raises UnknownNode with the nearest names."""
    node = await asyncio.to_thread(graph.node, name)
    told = await _attributes_now(job, graph, node) if node.attributes else None
    return await computed(lambda: _node_view(graph, node, told))


async def _attributes_now(job: Job, graph: Graph, node: Node) -> NodeAttributes | None:
    """What a training that stands still says of them; None where it says nothing, or not soon."""
    if job.view.stepping != "live" or job.view.state is not State.PAUSED:
        return None
    try:
        return await asyncio.wait_for(job.live().attributes(graph.name, node.name), ATTRIBUTES_SECONDS)
    except (StepscopeError, asyncio.TimeoutError):
        return None


def _node_view(graph: Graph, node: Node, told: NodeAttributes | None) -> NodeView:
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
            "attributes": plain(told.attributes if told else node.attributes),
            "attributes_step": told.step if told else None,
            "source": [vars(frame) for frame in node.source],
            "categories": node.categories,
            "folded": node.folded,
            "trainable": node.trainable,
            "value": plain(node.value),
        }
    )


def _type(type: TensorType) -> dict[str, object]:
    return {"type": {"dtype": type.dtype, "shape": type.shape}}
