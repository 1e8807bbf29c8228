"""A training with a graph that has what the small network lacks: repeated cells, an order of execution, whole numbers
that no float holds, and, where asked for, a scope with very many ops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stepscope.core.errors import NotAvailable
from stepscope.core.ports import Comparison, ExecutionOrder, Tensor, TensorKey, TensorStats
from stepscope.core.tensors import apply_index, stats
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.testing.source import INFO, FakeSource

GRAPH = "drawn"
CELLS = "Default/net/cells-CellList"
FIRST, SECOND = (
    "Default/order/Print-op0",
    "Default/order/Assert-op0",
)  # the second comes after the first, reads nothing of it
COUNT = "Default/count/Cast-op0"
WIDE = "Default/wide"
NUMBERS = np.array([[2**53 + 1, 2**63 - 1], [-(2**63), 0]], np.int64)


def cell(number: int) -> str:
    return f"{CELLS}/{number}-Cell"


class DrawnTraining(FakeSource):
    def __init__(self, wide: int = 0) -> None:
        super().__init__(replace(INFO, job_id="drawn-1"))
        self._data = _graph(wide).SerializeToString()

    def graph(self) -> tuple[str, bytes]:  # type: ignore[override]
        return GRAPH, self._data

    async def tensor(self, key: TensorKey, index: str | None = None) -> Tensor:
        return Tensor(apply_index(NUMBERS, index), "int64", NUMBERS.shape, 0)

    async def stats(self, key: TensorKey) -> TensorStats:
        return stats(NUMBERS, "int64", 0)

    async def compare(self, key: TensorKey) -> Comparison:
        raise NotAvailable("there is no step before")

    async def execution(self, offset: int = 0, limit: int = 1000) -> ExecutionOrder:
        return ExecutionOrder(0, ())


def _graph(wide: int) -> pb.GraphProto:
    graph = pb.GraphProto(name=GRAPH, root_name=GRAPH)
    graph.parameters.add(name="x", type=_tensor(pb.DT_FLOAT32, 8, 4), role=pb.ParameterProto.INPUT)
    value = "x"
    for number in range(6):
        for op in ("MatMul", "ReLU"):
            value = _op(graph, f"{cell(number)}/{op}-op{number}", value)
    first = _op(graph, FIRST, value)
    _op(graph, SECOND, "x")
    graph.node[-1].input.add(name=first, type=pb.InputProto.CONTROL_EDGE)
    _op(graph, COUNT, value)
    graph.node[-1].output_type.CopyFrom(_tensor(pb.DT_INT64, *NUMBERS.shape))
    for number in range(wide):
        _op(graph, f"{WIDE}/{'Mul' if number % 2 else 'Add'}-op{number}", value)
    return graph


def _op(graph: pb.GraphProto, name: str, *inputs: str) -> str:
    scope, _, last = name.rpartition("/")
    node = graph.node.add(
        name=str(len(graph.node) + 1), op_type=last.partition("-")[0], scope=scope, full_name=name,
        output_type=_tensor(pb.DT_FLOAT32, 8, 4),
    )  # fmt: skip
    for one in inputs:
        node.input.add(name=one)
    return node.name


def _tensor(kind: int, *shape: int) -> pb.TypeProto:
    result = pb.TypeProto(data_type=pb.DT_TENSOR)
    result.tensor_type.elem_type = kind
    for size in shape:
        result.tensor_type.shape.dim.add(size=size)
    return result
