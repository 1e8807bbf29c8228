"""Small graphs with a value for each of their tensors, as a training would have them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stepscope.core.advice.origin import NamedHit
from stepscope.core.graph import Graph, InputRef, NodeRecord, TensorType
from stepscope.core.looks import FactsQuestion, TensorFacts
from stepscope.core.ports import Comparison, Tensor, TensorKey, TensorStats
from stepscope.core.tensors import compare, stats
from stepscope.core.tensors.looks import look
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
        self.updated_elsewhere: set[str] = set()

    async def stats(self, key: TensorKey) -> TensorStats | None:
        array = self.value(key)
        return None if array is None else stats(array, step=STEP - (key.when == "previous"))

    async def compare(self, key: TensorKey) -> Comparison | None:
        now, before = self.value(key), self.value(replace(key, when="previous"))
        return None if now is None or before is None else compare(now, before, step=STEP, previous_step=STEP - 1)

    async def facts(self, key: TensorKey) -> TensorFacts | None:
        array = self.value(key)
        if array is None:
            return None
        return look(FactsQuestion(), lambda when: Tensor(array, str(array.dtype), array.shape, STEP))

    async def is_updated_elsewhere(self, parameter: str) -> bool:
        return parameter in self.updated_elsewhere

    def value(self, key: TensorKey) -> np.ndarray | None:
        node, slot = key.node, key.slot
        if key.input is not None:
            if (key.node, key.input, key.when) in self.read:
                return as_floats(self.read[key.node, key.input, key.when])
            port = next(port for port in self.graph.node(node).inputs if port.index == key.input)
            node, slot = port.node, port.slot
        values = self.values[key.when]
        found = values.get((node, slot), values.get(node))
        return None if found is None else as_floats(found)


def as_floats(value: ArrayLike) -> np.ndarray:
    """Lists are float32, arrays are what they are."""
    return value if isinstance(value, np.ndarray) else np.asarray(value, np.float32)


def key(node: str, slot: int = 0, **more: Any) -> TensorKey:
    return TensorKey("graph", node, slot, **more)


def hit(
    node: str, condition: str = "tensor_overflow", *params: Any, watchpoint: int = 1, step: int = STEP, **more: Any
) -> NamedHit:
    return NamedHit(Hit(step, "graph", node, more.pop("slot", 0), watchpoint, params, **more), condition)
