"""The check that what is shown is true: every value that a kernel read is the one that its producer shows."""

from __future__ import annotations

from collections import Counter

import numpy as np
from trainings import step_on

from stepscope.client.job import Job
from stepscope.core.errors import NotAvailable


def check_inputs(job: Job, executed, node) -> Counter:
    """Compares each input of a node, at which the cursor stands, with the output that the graph names as its source."""
    count: Counter[str] = Counter()
    by_index = Counter(port.index for port in node.inputs if not port.control)
    for port in node.inputs:
        if port.control or by_index[port.index] > 1:
            continue
        where = f"input {port.index} of {executed.node} from {port.node}:{port.slot}"
        try:
            read = job.tensor(executed.node, input=port.index, graph=executed.graph)
        except NotAvailable:
            # MindSpore dumps neither what comes from another graph nor a constant that its kernel takes as an argument.
            kind = job.node(port.node, graph=executed.graph).kind if port.node else "other graph"
            count[f"unrecorded {kind}"] += 1
            continue
        if not port.node:
            count["unrecorded other graph"] += 1
            continue
        if port.type.shape is not None and min(port.type.shape, default=0) >= 0:
            assert read.shape == port.type.shape, where
        assert same(read, job.tensor(port.node, port.slot, graph=executed.graph)) or (
            job.node(port.node, graph=executed.graph).kind == "parameter"
            and same(read, job.tensor(port.node, port.slot, when="previous", graph=executed.graph))
        ), where
        count["equal"] += 1
    return count


def walk_back(job: Job) -> Counter:
    """From the end of a step back over all its nodes, checking each."""
    count: Counter[str] = Counter()
    order = job.execution(limit=10_000).nodes
    assert order
    nodes = {}
    for position in range(len(order), 0, -1):
        executed = order[position - 1]
        if position < len(order):
            step_on(job, job.previous_node)
            cursor = job.cursor
            assert cursor is not None
            assert (cursor.graph, cursor.node, cursor.position) == (executed.graph, executed.node, position)
        key = (executed.graph, executed.node)
        if key not in nodes:
            nodes[key] = job.node(executed.node, graph=executed.graph)
        count += check_inputs(job, executed, nodes[key])
        count["nodes"] += 1
    return count


def same(one: np.ndarray, other: np.ndarray) -> bool:
    """Byte for byte (a NaN equals the same NaN)."""
    return one.dtype == other.dtype and one.size == other.size and one.tobytes() == other.tobytes()
