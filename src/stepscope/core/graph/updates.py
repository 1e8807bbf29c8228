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

# Inputs that an op overwrites though it is no optimizer.
_IN_PLACE = {"Assign": (0,), "AssignAdd": (0,), "AssignSub": (0,), "BatchNorm": (3, 4), "FusedBatchNorm": (3, 4)}


@dataclass(frozen=True)
class TrainedWeight:
    """A weight that the optimizer op `optimizer` updates by a gradient, which is output `slot` of `gradient`.

    `vector`: it is known to have less than two dimensions, as biases have.
    """

    weight: str
    gradient: str
    slot: int
    optimizer: str
    vector: bool


def overwritten(op: str) -> tuple[int, ...]:
    """Which of its inputs an op writes into, counting those that carry a value."""
    update = OPTIMIZERS.get(op)
    return update.in_place if update else _IN_PLACE.get(op, ())


class Updates:
    """Of the parameters of one graph."""

    def __init__(self, columns: Columns, flow: Flow, edges: Edges, categories: Categories) -> None:
        self._columns, self._flow, self._edges, self._categories = columns, flow, edges, categories

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
        return tuple(one for _, one in sorted(found, key=lambda each: each[0]))

    def writers(self, parameter: str) -> list[str]:
        """The ops that write into a parameter: its optimizer, assignments, the averages of a normalisation.

        None for what is not in the graph.
        """
        columns, edges = self._columns, self._edges
        found = set[int]()
        if parameter in columns.index:
            for edge in edges.out_of(columns.index[parameter]).tolist():
                node = int(edges.target[edge])
                before = columns.input_control[columns.input_start[node] : edges.port[edge]]
                if not edges.control[edge] and np.count_nonzero(~before) in overwritten(columns.op(node)):
                    found.add(node)
        return [columns.names[node] for node in sorted(found)]

    def _first_reader(self, weight: int) -> int:
        """Of the forward pass; behind all others where there is none."""
        columns, backward = self._columns, self._categories.masks["gradient"]
        readers = self._edges.target[self._edges.out_of(weight)].tolist()
        forward = [
            one
            for one in readers
            if columns.kinds[one] == OP and not backward[one] and columns.op(one) not in OPTIMIZERS
        ]
        return min(forward, default=len(columns))
