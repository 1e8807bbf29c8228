"""Sets of nodes in which a healthy training has no idle values: what the recommended watchpoints look at.

trainable       weights, and trainable parameters that a forward op reads though no optimizer updates them: what a
                parameter looks like that was forgotten when the optimizer was made. Not what only the optimizer reads
                (MindSpore calls its state trainable too), nor a lone number (nor a loss scale), nor what is not float.
matrix          those with two dimensions or more. Vectors (biases, scales of a normalisation) often start as zeros,
                and may never change: what a normalisation or a softmax undoes has no gradient.
trained_matrix  the same in a graph with an optimizer; in another nothing is there to change a weight.
layer           ops with floating-point outputs that compute with a matrix, also through a cast, and activations; not
                the optimizer's. The rest of a graph is full of healthy zeros: masks, flags, constants, powers.
layer_gradient  gradients that flow between layers (ops of the backward pass that compute with a matrix), and those
                that the optimizer reads for one. The rest of a backward pass is full of healthy zeros, too, such as
                what a maximum gets that was subtracted for stability.
unmasked        all but what carries a mask of infinities on its way into a softmax; see `masks`.
"""

from __future__ import annotations

import numpy as np

from stepscope.core.graph import torch_ops
from stepscope.core.graph.categories import Categories, floating_outputs, input_home
from stepscope.core.graph.columns import OP, PARAMETER, Bools, Columns
from stepscope.core.graph.fold import Flow
from stepscope.core.graph.masks import masks
from stepscope.core.graph.optimizers import OPTIMIZERS

_CASTS = frozenset(("Cast", "TensorMove")) | torch_ops.CASTS  # pass a parameter on, at most in another type


class Layers:
    """`masks` are over all nodes, by the names above."""

    def __init__(self, columns: Columns, flow: Flow, categories: Categories) -> None:
        self._columns, self._flow, self._categories = columns, flow, categories
        self._data: Bools = ~flow.control
        floating, optimizing = floating_outputs(columns), self._optimizing()
        gradient = categories.masks["gradient"]
        trainable = self._trainable(floating, optimizing | gradient)
        matrix = trainable & floating & self._of_rank_two()
        computing = self._computing(matrix) & floating & ~optimizing & (columns.kinds == OP)
        self.masks: dict[str, Bools] = {
            "trainable": trainable,
            "matrix": matrix,
            "trained_matrix": matrix if categories.has_optimizer else np.zeros_like(matrix),
            "layer": computing | (categories.masks["activation"] & floating & ~optimizing),
            "layer_gradient": (computing & gradient) | self._gradients_of_weights(),
            "unmasked": ~masks(columns, flow),
        }

    def _optimizing(self) -> Bools:
        """The optimizer's ops, and all that stands in a scope of its name."""
        columns = self._columns
        scopes = np.array(["optimizer" in path.lower() for path in columns.scope_paths], np.bool_)
        result: Bools = scopes[columns.scopes] & (columns.kinds == OP)
        result[self._categories.optimizer_ops] = True
        return result

    def _trainable(self, floating: Bools, not_forward: Bools) -> Bools:
        columns, flow = self._columns, self._flow
        read = np.zeros(len(columns), np.bool_)
        read[flow.source[self._data & ~not_forward[flow.target]]] = True
        called = np.zeros(len(columns), np.bool_)
        for node, is_trainable in columns.trainable.items():
            called[node] = is_trainable and _rank(columns, node) != 0
        forgotten = called & read & floating & (columns.kinds == PARAMETER)
        return np.asarray(self._categories.masks["weight"] | forgotten)

    def _of_rank_two(self) -> Bools:
        """Parameters of two dimensions or more, or of nobody knows how many."""
        result = np.zeros(len(self._columns), np.bool_)
        for node in np.flatnonzero(self._columns.kinds == PARAMETER).tolist():
            result[node] = _rank(self._columns, node) not in (0, 1)
        return result

    def _computing(self, matrix: Bools) -> Bools:
        columns, flow = self._columns, self._flow
        casts = np.array([op in _CASTS for op in columns.op_names], np.bool_)
        cast = casts[columns.ops] if len(columns) else np.zeros(0, np.bool_)
        reads = np.zeros(len(columns), np.bool_)
        reads[flow.target[self._data & matrix[flow.source]]] = True
        reads[flow.target[self._data & (reads & cast)[flow.source]]] = True
        return np.asarray(reads & ~cast)

    def _gradients_of_weights(self) -> Bools:
        """What the optimizer reads as the gradient of a weight that is no vector."""
        columns, flow = self._columns, self._flow
        result = np.zeros(len(columns), np.bool_)
        for node in self._categories.optimizer_ops:
            update = OPTIMIZERS[columns.op(node)]
            weight = input_home(columns, flow, node, update.weight) if update.weight is not None else None
            gradient = input_home(columns, flow, node, update.gradient)
            if weight and gradient and columns.kinds[gradient[0]] == OP and _rank(columns, weight[0]) not in (0, 1):
                result[gradient[0]] = True
        into = np.flatnonzero(self._categories.updating[flow.target] & self._data)
        into = into[self._categories.masks["gradient"][flow.source[into]]]
        ports = flow.port[into]  # where the gradient has the shape that the optimizer sees, through all views
        read = zip(columns.input_source[ports].tolist(), columns.input_slot[ports].tolist(), strict=True)
        ranks = [_rank(columns, source, slot) for source, slot in read]
        result[flow.source[into][[rank not in (0, 1) for rank in ranks]]] = True
        return result


def _rank(columns: Columns, node: int, slot: int = 0) -> int | None:
    """How many dimensions an output has; None where that is not known."""
    shape = columns.outputs[node][slot].shape if slot < len(columns.outputs[node]) else None
    return len(shape) if shape is not None else None
