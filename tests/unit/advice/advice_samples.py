"""Small graphs with a value for each of their tensors, as a training would have them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stepscope.core.advice.origin import NamedHit
from stepscope.core.errors import NotAvailable
from stepscope.core.graph import Graph, InputRef, NodeRecord, TensorType
from stepscope.core.ports import TensorKey, TensorStats
from stepscope.core.tensors import stats
from stepscope.core.watch.records import Hit

STEP = 7
MATRIX = TensorType("float32", (2, 3))


def op(name: str, kind: str, *inputs: str, outputs: int = 1, line: int = 0) -> NodeRecord:
    refs = [InputRef(source, int(slot or 0)) for source, _, slot in (each.partition(":") for each in inputs)]
    stack = f"# In file /home/me/net.py:{line}, 1~2/        y = {kind}(x)/\n" if line else ""
    return NodeRecord(name, name, kind, "op", refs, [MATRIX] * outputs, stack=stack)


def parameter(name: str, shape: tuple[int, ...] = (2, 3)) -> NodeRecord:
    return NodeRecord(name, name, "Parameter", "parameter", outputs=[TensorType("float32", shape)], trainable=True)


def data(name: str) -> NodeRecord:
    return NodeRecord(name, name, "Input", "input", outputs=[MATRIX])


def constant(name: str, value: Any) -> NodeRecord:
    return NodeRecord(name, name, "Constant", "constant", outputs=[TensorType("float32", ())], value=value)


class Trained:
    """A graph after step 7. `now` and `before` are values by node, or (node, slot); a node that is in neither has none.

    `read`: what a node read, where that is not what its producer has, by (node, input index, when).
    """

    def __init__(
        self,
        *records: NodeRecord,
        now: dict[Any, ArrayLike],
        before: dict[Any, ArrayLike] | None = None,
        read: dict[tuple[str, int, str], ArrayLike] | None = None,
    ):
        self.graph = Graph("graph", records)
        self.values = {"current": now, "previous": before or {}}
        self.read = read or {}
        self.asked: list[TensorKey] = []

    async def ask(self, key: TensorKey) -> TensorStats | None:
        self.asked.append(key)
        try:
            return self.stats(key)
        except NotAvailable:
            return None

    def stats(self, key: TensorKey) -> TensorStats:
        return stats(self.value(key), step=STEP - (key.when == "previous"))

    def value(self, key: TensorKey) -> np.ndarray:
        node, slot = key.node, key.slot
        if key.input is not None:
            if (key.node, key.input, key.when) in self.read:
                return np.asarray(self.read[key.node, key.input, key.when], np.float32)
            port = next(port for port in self.graph.node(node).inputs if port.index == key.input)
            node, slot = port.node, port.slot
        values = self.values[key.when]
        if (node, slot) in values:
            return np.asarray(values[node, slot], np.float32)
        if node in values:
            return np.asarray(values[node], np.float32)
        raise NotAvailable(node)


def key(node: str, slot: int = 0, **more: Any) -> TensorKey:
    return TensorKey("graph", node, slot, **more)


def hit(
    node: str, condition: str = "tensor_overflow", *params: Any, watchpoint: int = 1, step: int = STEP, **more: Any
) -> NamedHit:
    return NamedHit(Hit(step, "graph", node, more.pop("slot", 0), watchpoint, params, **more), condition)
