"""Tensors as a report names them, and the way that a fault came from one to the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.core.advice.origin import SourceLine, innermost
from stepscope.core.errors import StepscopeError

if TYPE_CHECKING:
    from stepscope.client import Job
    from stepscope.client.watchpoints import Hit


@dataclass(frozen=True)
class Place:
    """An output of a node. `source` is the line of the user's code that made the node; of a parameter, that which
    reads it."""

    graph: str
    node: str
    slot: int
    op: str
    source: SourceLine | None


def chain(job: Job, hit: Hit) -> list[Place]:
    """From where a fault begins to the tensor that was hit; that alone where nothing more is known."""
    try:
        origin = job.origin(hit.node, hit.slot, watchpoint=hit.watchpoint, graph=hit.graph)
    except StepscopeError:
        return [place(job, hit)]
    return [Place(one.graph, one.node, one.slot, one.op, one.source) for one in origin.path] or [place(job, hit)]


def place(job: Job, hit: Hit) -> Place:
    """The tensor that was hit; of a node that can't be asked for, its name."""
    try:
        node = job.node(hit.node, hit.graph)
        frames = node.source
        if not frames and node.kind != "op":
            readers = [consumer for port in node.outputs for consumer, _ in port.consumers]
            frames = job.node(readers[0], hit.graph).source if readers else ()
    except StepscopeError:
        return Place(hit.graph, hit.node, hit.slot, "", None)
    return Place(hit.graph, hit.node, hit.slot, node.op, innermost(frames))
