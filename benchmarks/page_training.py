"""A training with a big graph for the page to show: a transformer, and beside it scopes with as many children as asked.

Its tensors are made up: every node that there is has the same values.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stepscope.core.errors import NotAvailable
from stepscope.core.ports import ExecutionOrder, Tensor, TensorKey, TensorStats
from stepscope.core.tensors import apply_index, stats
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.testing.graphs import transformer
from stepscope.testing.source import INFO, FakeSource

GRAPH = "kernel_graph0"
NET = "Default/network-WithLossCell/_backbone-Transformer"
BLOCKS = "Default/blocks-CellList"
LAYERS = f"{NET}/layers-CellList"
SHAPE = (64, 64)
_OPS = ("Conv2D", "BatchNorm", "ReLU", "Add", "Mul", "Concat", "Split", "Cast", "Transpose", "MaxPool", "Pad")


def block(children: int) -> str:
    """The path of the scope with that many ops directly inside."""
    return f"{BLOCKS}/{children}-Block"


def leaf(nodes: int) -> str:
    """An op deep inside, in a layer in the middle."""
    return f"{LAYERS}/{nodes // 256}-Layer/attention-Attention/query-Dense/MatMul-op0"  # 128 nodes a layer


def graph(nodes: int, blocks: tuple[int, ...]) -> pb.GraphProto:
    """A graph of that many nodes, of which some are in blocks."""
    made = transformer(nodes - sum(blocks), GRAPH)
    for children in blocks:
        _add_block(made, block(children), children)
    return made


def _add_block(made: pb.GraphProto, scope: str, children: int) -> None:
    """A chain with shortcuts, as in a residual network; no two neighbours are alike, so that nothing is stacked."""
    rng = np.random.default_rng(children)
    names = ["inputs0"]
    kind = made.parameters[0].type
    for number in range(children):
        op = _OPS[number % len(_OPS)]
        node = made.node.add(
            name=str(len(made.node) + 1), op_type=op, scope=scope, full_name=f"{scope}/{op}-op{10_000 + number}"
        )
        node.output_type.CopyFrom(kind)
        node.input.add(name=names[-1])
        if number > 3 and rng.random() < 0.4:
            node.input.add(name=names[-int(rng.integers(2, 4))])
        names.append(node.name)


class BigTraining(FakeSource):
    """Paused before the first step; it can be asked for every value."""

    def __init__(self, nodes: int, blocks: tuple[int, ...]) -> None:
        super().__init__(replace(INFO, job_id=f"big-{nodes}"))
        self._data = graph(nodes, blocks).SerializeToString()
        self._array = np.linspace(-1, 1, SHAPE[0] * SHAPE[1], dtype=np.float32).reshape(SHAPE)

    def graph(self) -> tuple[str, bytes]:
        return GRAPH, self._data

    async def tensor(self, key: TensorKey, index: str | None = None) -> Tensor:
        return Tensor(apply_index(self._array, index), "float32", SHAPE, 0)

    async def stats(self, key: TensorKey) -> TensorStats:
        return stats(self._array, "float32", 0)

    async def compare(self, key: TensorKey) -> object:  # type: ignore[override]
        raise NotAvailable("there is no step before the first one")

    async def execution(self, offset: int = 0, limit: int = 1000) -> ExecutionOrder:
        return ExecutionOrder(0, ())
