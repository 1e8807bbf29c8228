"""Short ways to write the records of a graph down, and the graph file of a real training step."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from stepscope.core.graph import Graph, InputRef, NodeRecord, TensorType
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.protocol.graphs import records

FLOAT = TensorType("float32", (2, 3))
DATA = Path(__file__).parents[2] / "data"


def op(id: str, *inputs: str, op: str = "Add", outputs: int = 1, name: str = "", **more: Any) -> NodeRecord:
    """An op whose name is its id. An input is "producer", "producer:slot", or "^producer" where it keeps an order."""
    return NodeRecord(id, name or id, op, "op", [_input(one) for one in inputs], [FLOAT] * outputs, **more)


def parameter(id: str, trainable: bool | None = None) -> NodeRecord:
    return NodeRecord(id, id, "Parameter", "parameter", outputs=[FLOAT], trainable=trainable)


def graph_input(id: str) -> NodeRecord:
    return NodeRecord(id, id, "Input", "input", outputs=[FLOAT])


def constant(id: str, value: Any, name: str = "") -> NodeRecord:
    return NodeRecord(id, name or id, "Constant", "constant", outputs=[TensorType("int64", ())], value=value)


def graph(*nodes: NodeRecord) -> Graph:
    return Graph("graph", nodes)


def _input(text: str) -> InputRef:
    source, _, slot = text.removeprefix("^").partition(":")
    return InputRef(source, int(slot or 0), text.startswith("^"))


def lenet_proto() -> pb.GraphProto:
    """One Adam step of a small convolutional network, as MindSpore 2.10 wrote it (the paths in it were shortened).

    Its parameters' roles, which the file does not have, are those that MindSpore's .ir file of the same graph gives.
    """
    result = pb.ModelProto.FromString(gzip.decompress((DATA / "lenet_adam.pb.gz").read_bytes())).graph
    for one in result.parameters:
        is_input = one.name in ("inputs0", "inputs1")
        one.role = pb.ParameterProto.INPUT if is_input else pb.ParameterProto.PARAMETER
    return result


def lenet() -> Graph:
    return Graph("kernel_graph0", records(lenet_proto()))
