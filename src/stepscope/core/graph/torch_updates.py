"""Who writes into the parameters of a graph of PyTorch, and by which gradient.

An operation in place puts out what it has overwritten, so that several on one parameter make a chain: the last of them
stands for it. Of operations on lists ("_foreach_…", "_fused_…") element i of each list belongs together.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from stepscope.core.graph import torch_ops
from stepscope.core.graph.categories import Categories
from stepscope.core.graph.columns import INPUT, OP, PARAMETER, Columns
from stepscope.core.graph.fold import Address, Flow


class TorchUpdates:
    def __init__(self, columns: Columns, flow: Flow, categories: Categories) -> None:
        self._columns, self._flow, self._categories = columns, flow, categories
        self._stands: dict[Address, int] = {}  # output → the parameter that it is, once `last_writes` is known

    @cached_property
    def last_writes(self) -> dict[int, Address]:
        """The output that stands for a parameter after the step, of those that are written into."""
        columns = self._columns
        stands = self._stands
        last: dict[int, Address] = {}
        writing = np.array([torch_ops.writes(op) for op in columns.op_names], np.bool_)
        if not writing.any():
            return last
        for node in np.flatnonzero(writing[columns.ops] & (columns.kinds == OP)).tolist():
            homes = self._read(node)
            for place, slot in torch_ops.written(columns.op(node), len(homes), len(columns.outputs[node])):
                home = homes[place]
                if home is None:
                    continue
                parameter = home[0] if columns.kinds[home[0]] == PARAMETER else stands.get(home)
                if parameter is not None:
                    stands[node, slot] = parameter
                    last[parameter] = (node, slot)
        return last

    def gradient(self, weight: int) -> Address | None:
        """Which gradient the optimizer updates a weight by; None where that can't be told."""
        start = self.last_writes.get(weight)
        size = self._size((weight, 0))
        waiting, seen = [start] if start else [], {start}
        while waiting:
            node, slot = waiting.pop(0)
            if not self._categories.updating[node]:
                continue
            read = [home for home in self._element(node, slot) if home is not None]
            gradients = {home for home in read if self._is_gradient(home[0])}
            if len(gradients) == 1 and self._size(*gradients) == size:
                return gradients.pop()
            for home in read:
                if home not in seen and home not in gradients:
                    seen.add(home)
                    waiting.append(home)
        return None

    def _element(self, node: int, slot: int) -> list[Address | None]:
        """What goes into the element of the lists that an output stands for; all that goes in where there are none."""
        homes, op = self._read(node), self._columns.op(node)
        size = len(self._columns.outputs[node]) if "._foreach_" in op else 0
        if "._fused_" in op:
            size = next((place for place, home in enumerate(homes) if not self._is_weight(home)), len(homes))
        return homes[slot % size :: size] if size else homes

    def _read(self, node: int) -> list[Address | None]:
        """Where each input that carries a value lives."""
        columns = self._columns
        ports = range(columns.input_start[node], columns.input_start[node + 1])
        return [
            self._flow.home(int(columns.input_source[port]), int(columns.input_slot[port]))
            if columns.input_source[port] >= 0
            else None
            for port in ports
            if not columns.input_control[port]
        ]

    def _is_gradient(self, node: int) -> bool:
        """The second is one that was there before the step."""
        columns = self._columns
        return bool(self._categories.masks["gradient"][node]) or (
            columns.kinds[node] == INPUT and columns.names[node].endswith(torch_ops.GRADIENT_SUFFIX)
        )

    def _is_weight(self, home: Address | None) -> bool:
        if home is None:
            return False
        return bool(self._categories.masks["weight"][self._stands.get(home, home[0])])

    def _size(self, address: Address) -> int | None:
        """Of a gradient, the shape may be another one: it passes through views on its way."""
        outputs = self._columns.outputs[address[0]]
        shape = outputs[address[1]].shape if address[1] < len(outputs) else None
        return None if shape is None else math.prod(shape)
