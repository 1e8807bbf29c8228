"""Who writes into parameters: which ops, and which gradient they do it by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stepscope.core.graph.categories import Categories, input_home
from stepscope.core.graph.columns import OP, PARAMETER, Columns
from stepscope.core.graph.edges import Edges
from stepscope.core.graph.fold import Flow
from stepscope.core.graph.optimizers import OPTIMIZERS
from stepscope.core.graph.torch_ops import is_torch, written
from stepscope.core.graph.torch_updates import TorchUpdates

# Inputs that an op overwrites though it is no optimizer.
_IN_PLACE = {"Assign": (0,), "AssignAdd": (0,), "AssignSub": (0,), "BatchNorm": (3, 4), "FusedBatchNorm": (3, 4)}


@dataclass(frozen=True)
class TrainedWeight:
    """A weight that the optimizer op `optimizer` updates by a gradient, which is output `slot` of `gradient`.

    `optimizer` is the last one of PyTorch's, which takes several.

    `vector`: it is known to have less than two dimensions, as biases have.
    """

    weight: str
    gradient: str
    slot: int
    optimizer: str
    vector: bool


def overwritten(op: str, inputs: int, outputs: int) -> tuple[int, ...]:
    """Which of its inputs an op writes into; those that carry a value count, and there are so many of them."""
    if is_torch(op):
        return tuple(place for place, _ in written(op, inputs, outputs))
    update = OPTIMIZERS.get(op)
    return update.in_place if update else _IN_PLACE.get(op, ())


class Updates:
    """Of the parameters of one graph."""

    def __init__(self, columns: Columns, flow: Flow, edges: Edges, categories: Categories) -> None:
        self._columns, self._flow, self._edges, self._categories = columns, flow, edges, categories
        self._torch = TorchUpdates(columns, flow, categories)

    @cached_property
    def trained(self) -> tuple[TrainedWeight, ...]:
        """The weights that optimizers update, in the order in which the forward pass reads them: from the input of the
        network to its output."""
        columns, flow = self._columns, self._flow
        found: list[tuple[int, TrainedWeight]] = []
        for node in self._categories.optimizer_ops:
            update = OPTIMIZERS[columns.op(node)]
            weight = input_home(columns, flow, node, update.weight) if update.weight is not None else None
            gradient = input_home(columns, flow, node, update.gradient)
            if weight is None or gradient is None or columns.kinds[weight[0]] != PARAMETER:
                continue
            outputs = columns.outputs[weight[0]]
            one = TrainedWeight(
                weight=columns.names[weight[0]],
                gradient=columns.names[gradient[0]],
                slot=gradient[1],
                optimizer=columns.names[node],
                vector=bool(outputs) and outputs[0].is_vector,
            )
            found.append((self._first_reader(weight[0]), one))
        found += self._trained_by_torch()
        return tuple(one for _, one in sorted(found, key=lambda each: each[0]))

    def writers(self, parameter: str) -> list[str]:
        """The ops that write into a parameter: its optimizer, assignments, the averages of a normalisation.

        None for what is not in the graph. Of PyTorch's, which make a chain, only the last.
        """
        columns, edges = self._columns, self._edges
        found = set[int]()
        last = self.last_write(parameter)
        if last is not None:
            return [last[0]]
        if parameter in columns.index:
            for edge in edges.out_of(columns.index[parameter]).tolist():
                node = int(edges.target[edge])
                start, end = columns.input_start[node], columns.input_start[node + 1]
                before = np.count_nonzero(~columns.input_control[start : edges.port[edge]])
                inputs = int(np.count_nonzero(~columns.input_control[start:end]))
                writes = overwritten(columns.op(node), inputs, len(columns.outputs[node]))
                if not edges.control[edge] and before in writes:
                    found.add(node)
        return [columns.names[node] for node in sorted(found)]

    def last_write(self, parameter: str) -> tuple[str, int] | None:
        """Of PyTorch: the op, and the output of it, that a parameter is after the step; None where none writes it."""
        node = self._columns.index.get(parameter)
        last = self._torch.last_writes.get(node) if node is not None else None
        return None if last is None else (self._columns.names[last[0]], last[1])

    def _trained_by_torch(self) -> list[tuple[int, TrainedWeight]]:
        columns, found = self._columns, []
        for weight in np.flatnonzero(self._categories.masks["weight"]).tolist():
            gradient = self._torch.gradient(weight)
            if gradient is not None:
                one = TrainedWeight(
                    weight=columns.names[weight],
                    gradient=columns.names[gradient[0]],
                    slot=gradient[1],
                    optimizer=columns.names[self._torch.last_writes[weight][0]],
                    vector=bool(columns.outputs[weight]) and columns.outputs[weight][0].is_vector,
                )
                found.append((self._first_reader(weight), one))
        return found

    def _first_reader(self, weight: int) -> int:
        """Of the forward pass; behind all others where there is none."""
        columns, backward = self._columns, self._categories.masks["gradient"]
        readers = self._edges.target[self._edges.out_of(weight)].tolist()
        forward = [
            one
            for one in readers
            if columns.kinds[one] == OP
            and not backward[one]
            and not self._categories.updating[one]
            and columns.op(one) not in OPTIMIZERS
        ]
        return min(forward, default=len(columns))
