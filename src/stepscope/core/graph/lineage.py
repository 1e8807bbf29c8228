"""Where a tensor comes from and goes to: the nodes around it, hop by hop."""

from __future__ import annotations

import numpy as np

from stepscope.core.graph.categories import Categories
from stepscope.core.graph.columns import Columns
from stepscope.core.graph.edges import Edges
from stepscope.core.graph.views import Lineage, LineageEdge, LineageNode


def trace(
    columns: Columns, edges: Edges, categories: Categories, node: int, slot: int, hops: int, limit: int
) -> Lineage:
    """Breadth first, upwards and then downwards, `limit` nodes each way at most.

    Downwards the first hop follows only `slot`; the further ones follow all outputs.
    """
    distance = {node: 0}
    seen: dict[int, None] = {}  # edges, in the order in which they were met
    truncated = False
    for sign in (-1, 1):
        frontier, room = [node], limit
        for hop in range(1, hops + 1):
            following: list[int] = []
            for one in frontier:
                around = edges.into(one) if sign < 0 else edges.out_of(one)
                around = around[~edges.control[around]]
                if sign > 0 and hop == 1:
                    around = around[edges.slot[around] == slot]
                others = edges.source[around] if sign < 0 else edges.target[around]
                for edge, other in zip(around.tolist(), others.tolist(), strict=True):
                    if other not in distance:
                        if not room:
                            truncated = True
                            break
                        room -= 1
                        distance[other] = sign * hop
                        following.append(other)
                    seen.setdefault(edge)
            frontier = following
    order = sorted(distance, key=lambda one: (distance[one], one))
    return Lineage(
        name=columns.names[node],
        slot=slot,
        nodes=tuple(
            LineageNode(columns.names[one], columns.op(one), columns.kind(one), distance[one], categories.of(one))
            for one in order
        ),
        edges=tuple(
            LineageEdge(
                source=columns.names[edges.source[edge]],
                slot=int(edges.slot[edge]),
                target=columns.names[edges.target[edge]],
                input=int(edges.port[edge] - columns.input_start[edges.target[edge]]),
            )
            for edge in np.sort(np.fromiter(seen, np.int64, len(seen))).tolist()
        ),
        truncated=truncated,
    )
