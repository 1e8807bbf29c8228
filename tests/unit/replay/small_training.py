"""A step of training in small: its graph, and what MindSpore writes of it."""

from __future__ import annotations

import numpy as np
import pytest

from stepscope.core.errors import NotAvailable
from stepscope.core.ports import TensorKey
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.replay.mindspore import Recording
from stepscope.testing.dumps import DumpFolder, GraphFile

GRAPH = "graph_0"
ROLES = {"fc.weight": True, "moment1": False, "moment2": False, "stranger": True}
WEIGHT = np.arange(6, dtype=np.float32).reshape(2, 3)
DATA = np.arange(12, dtype=np.float32).reshape(4, 3) / 4
PRODUCT = DATA @ WEIGHT.T
GARBAGE = np.full((2, 3), 999, np.float32)


def training_graph() -> GraphFile:
    """A step of training in small; the numbers in the nodes' names are not those of the dump."""
    graph = GraphFile()
    graph.parameter("inputs0", (4, 3))
    for name in ("fc.weight", "moment1", "moment2"):
        graph.parameter(name, (2, 3))
    load = graph.op("Default/net/Load", "fc.weight", graph.monad, shape=(2, 3))
    product = graph.op("Default/net/MatMul", "inputs0", load, shape=(4, 2))
    flat = graph.op("Default/net/Reshape", product, graph.constant(pb.ValueProto()), shape=(8,))
    pair = graph.op("Default/net/LayerNorm", flat, graph.constant(pb.ValueProto()), tuple_of=2)
    second = graph.op("Default/net/TupleGetItem", pair, graph.constant(1), shape=(8,))
    graph.op("Default/net/ReLU", second, shape=(8,))
    gradient = graph.op("Gradients/net/MatMul", second, "inputs0", shape=(2, 3))
    rest = [graph.constant(number) for number in range(6)]
    graph.op("Default/opt/Adam", "fc.weight", "moment1", "moment2", *rest, gradient, tuple_of=3)
    return graph


def record(dump: DumpFolder, step: int, add: float = 0.0) -> None:
    """What MindSpore writes of one run of that graph. `add` makes one step differ from another."""
    flat, relu = PRODUCT.reshape(8) + add, np.maximum(PRODUCT.reshape(8) + add, 3)
    dump.run(step, "MatMul", "Default/net/MatMul-op0", {0: DATA, 1: WEIGHT + add - 1}, {0: PRODUCT + add})
    dump.run(step, "Reshape", "Default/net/Reshape-op0", {0: PRODUCT + add}, {0: PRODUCT + add})
    eps = np.float32(1e-5)
    dump.run(step, "LayerNorm", "Default/net/LayerNorm-op0", {0: flat, 1: eps}, {0: flat * 2, 1: flat * 3})
    dump.run(step, "ReLU", "Default/net/ReLU-op0", {0: flat * 3}, {0: relu})
    dump.run(step, "MatMul", "Gradients/net/MatMul-op0", {0: flat * 3}, {0: WEIGHT * 7 + add})
    inputs = {0: WEIGHT + add, 1: WEIGHT + add + 10, 2: WEIGHT + add + 20, 9: WEIGHT * 7 + add}
    dump.run(step, "Adam", "Default/opt/Adam-op0", inputs, dict.fromkeys(range(3), GARBAGE))
    for offset, name in ((0, "fc.weight"), (10, "moment1"), (20, "moment2")):
        dump.parameter(step, name, WEIGHT + add + offset)
    dump.parameter(step, "inputs0", DATA)


def key(node: str, slot: int = 0, graph: str = GRAPH, **more) -> TensorKey:
    return TensorKey(graph, node, slot, **more)


def array(recording: Recording, *args, **more) -> np.ndarray:
    return recording.tensor(key(*args, **more)).array


def why_not(recording: Recording, *args, **more) -> str:
    with pytest.raises(NotAvailable) as caught:
        recording.tensor(key(*args, **more))
    return str(caught.value)
