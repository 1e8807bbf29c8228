"""Which nodes are weights, gradients, activations, parameters.

A weight is a parameter that an optimizer op of the graph updates; in a graph without optimizer ops (an evaluation, or
the forward part alone), one that the source calls trainable. Optimizers that update by `Assign` count as none: the same
op moves statistics and step counters.

Two more sets are for watchpoints. Trainable: weights, and trainable parameters that a forward op reads though no
optimizer updates them, which is what a forgotten parameter looks like. Layer: the ops that compute with one of those,
and the activations; their output is never all zero in a healthy training, which can't be said of masks, flags,
constants and the powers of an optimizer.
"""

from __future__ import annotations

from typing import get_args

import numpy as np

from stepscope.core.errors import BadRequest
from stepscope.core.graph.columns import OP, PARAMETER, Bools, Columns
from stepscope.core.graph.fold import Flow
from stepscope.core.graph.optimizers import OPTIMIZERS
from stepscope.core.graph.views import Category

CATEGORIES: tuple[Category, ...] = get_args(Category)

ACTIVATIONS = frozenset(
    [
        *("elu", "fastgelu", "gelu", "hsigmoid", "hswish", "leakyrelu", "logsigmoid", "logsoftmax", "prelu", "relu"),
        *("relu6", "reluv2", "sigmoid", "softmax", "tanh"),
        *("eluext", "geluext", "leakyreluext", "logsoftmaxext", "reluv3"),  # what MindSpore 2 also calls them
    ]
)

_CASTS = frozenset(("Cast", "TensorMove"))  # pass a parameter on, at most in another type


class Categories:
    """A mask over all nodes for each category; `trainable` and `layer` are masks too."""

    def __init__(self, columns: Columns, flow: Flow) -> None:
        is_op = columns.kinds == OP
        backward = [name.startswith("Gradients/") for name in columns.names]
        gradient = np.array(backward, np.bool_) & is_op
        names = np.array([op.lower() in ACTIVATIONS for op in columns.op_names], np.bool_)
        parameter = columns.kinds == PARAMETER
        updates = np.array([op in OPTIMIZERS for op in columns.op_names], np.bool_)
        optimizer_ops = np.flatnonzero(updates[columns.ops] & is_op) if len(columns) else np.empty(0, np.int64)
        self.has_optimizer = len(optimizer_ops) > 0
        weight = np.zeros(len(columns), np.bool_)
        for node in optimizer_ops.tolist():
            update = OPTIMIZERS[columns.op(node)]
            if update.weight is not None:
                home = input_home(columns, flow, node, update.weight)
                if home is not None and parameter[home[0]]:
                    weight[home[0]] = True
        if not self.has_optimizer:
            weight[[node for node, trainable in columns.trainable.items() if trainable and parameter[node]]] = True
        self.masks: dict[Category, Bools] = {
            "weight": weight,
            "gradient": gradient,
            "activation": names[columns.ops] & is_op & ~gradient if len(columns) else weight,
            "parameter": parameter,
        }
        optimizing = updates[columns.ops] & is_op if len(columns) else weight
        optimizing = (
            optimizing | np.array(["optimizer" in path.lower() for path in columns.scope_paths])[columns.scopes]
        )
        floating = _floating(columns)
        self.trainable: Bools = weight | self._unoptimized(columns, flow, floating, optimizing | gradient)
        self.layer: Bools = is_op & floating & ~optimizing & (self._computing(columns, flow) | self.masks["activation"])

    def of(self, node: int) -> tuple[Category, ...]:
        return tuple(category for category in CATEGORIES if self.masks[category][node])

    def mask(self, category: str) -> Bools:
        for known in CATEGORIES:
            if category == known:
                return self.masks[known]
        raise BadRequest(f"no category {category!r}; there are {', '.join(CATEGORIES)}")

    def _unoptimized(self, columns: Columns, flow: Flow, floating: Bools, not_forward: Bools) -> Bools:
        """Trainable parameters that forward ops read. A lone number is none: loss scales are called trainable too."""
        data = ~flow.control
        forward = np.zeros(len(columns), np.bool_)
        forward[flow.source[data & ~not_forward[flow.target]]] = True
        trainable = np.zeros(len(columns), np.bool_)
        for node, is_trainable in columns.trainable.items():
            outputs = columns.outputs[node]
            trainable[node] = is_trainable and not (outputs and outputs[0].shape == ())
        return trainable & self.masks["parameter"] & floating & forward

    def _computing(self, columns: Columns, flow: Flow) -> Bools:
        """The ops that read what is trainable, also through a cast; not the casts."""
        casts = np.array([op in _CASTS for op in columns.op_names], np.bool_)
        cast = casts[columns.ops] if len(columns) else np.zeros(0, np.bool_)
        data = ~flow.control
        carries = self.trainable
        reads = np.zeros(len(columns), np.bool_)
        reads[flow.target[data & carries[flow.source]]] = True
        reads[flow.target[data & (reads & cast)[flow.source]]] = True
        return reads & ~cast


def _floating(columns: Columns) -> Bools:
    """Nodes whose first output may hold floating-point numbers: it does, or nobody knows."""
    types = [outputs[0].dtype if outputs else "" for outputs in columns.outputs]
    return np.array([not dtype or "float" in dtype for dtype in types], np.bool_)


def input_home(columns: Columns, flow: Flow, node: int, data_index: int) -> tuple[int, int] | None:
    """Where the value of an input lives; `data_index` counts the inputs that carry one. None where there is none."""
    start, end = columns.input_start[node], columns.input_start[node + 1]
    ports = np.flatnonzero(~columns.input_control[start:end]) + start
    if data_index >= len(ports) or columns.input_source[ports[data_index]] < 0:
        return None
    port = ports[data_index]
    return flow.home(int(columns.input_source[port]), int(columns.input_slot[port]))
