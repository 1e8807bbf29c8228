"""Which nodes are weights, gradients, activations, parameters.

A weight is a parameter that an optimizer op of the graph updates; in a graph without optimizer ops (an evaluation, or
the forward part alone), one of floating-point numbers that the source calls trainable. Optimizers that update by
`Assign` count as none: the same op moves statistics and step counters. In a graph of PyTorch the optimizer's ops are
those that stand in its scope, and its weights are the trainable parameters that they read.
"""

from __future__ import annotations

from typing import get_args

import numpy as np

from stepscope.core.errors import BadRequest
from stepscope.core.graph import torch_ops
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
        *torch_ops.ACTIVATIONS,
    ]
)


class Categories:
    """A mask over all nodes for each category.

    `optimizer_ops` are the ops of `OPTIMIZERS`, and `updating[i]` tells whether node i is part of an optimizer that is
    made of plain operations.
    """

    def __init__(self, columns: Columns, flow: Flow) -> None:
        is_op = columns.kinds == OP
        backward = [name.startswith("Gradients/") for name in columns.names]
        gradient = np.array(backward, np.bool_) & is_op
        names = np.array([op.lower() in ACTIVATIONS for op in columns.op_names], np.bool_)
        parameter = columns.kinds == PARAMETER
        updates = np.array([op in OPTIMIZERS for op in columns.op_names], np.bool_)
        self.optimizer_ops: list[int] = np.flatnonzero(updates[columns.ops] & is_op).tolist() if len(columns) else []
        self.updating: Bools = is_op & _in_optimizers(columns)
        self.has_optimizer = len(self.optimizer_ops) > 0 or bool(self.updating.any())
        weight = np.zeros(len(columns), np.bool_)
        for node in self.optimizer_ops:
            update = OPTIMIZERS[columns.op(node)]
            if update.weight is not None:
                home = input_home(columns, flow, node, update.weight)
                if home is not None and parameter[home[0]]:
                    weight[home[0]] = True
        updated = flow.source[self.updating[flow.target] & ~flow.control]
        weight[updated[parameter[updated] & _trainable(columns)[updated]]] = True
        if not self.has_optimizer:
            # A count of steps is called trainable too.
            weight = _trainable(columns) & parameter & floating_outputs(columns)
        self.masks: dict[Category, Bools] = {
            "weight": weight,
            "gradient": gradient,
            "activation": names[columns.ops] & is_op & ~gradient if len(columns) else weight,
            "parameter": parameter,
        }

    def of(self, node: int) -> tuple[Category, ...]:
        return tuple(category for category in CATEGORIES if self.masks[category][node])

    def mask(self, category: str) -> Bools:
        for known in CATEGORIES:
            if category == known:
                return self.masks[known]
        raise BadRequest(f"no category {category!r}; there are {', '.join(CATEGORIES)}")


def _in_optimizers(columns: Columns) -> Bools:
    scopes = [path.startswith(torch_ops.OPTIMIZER_SCOPE) for path in columns.scope_paths]
    ops = [torch_ops.is_torch(op) for op in columns.op_names]
    if not len(columns):
        return np.zeros(0, np.bool_)
    return np.asarray(np.array(scopes, np.bool_)[columns.scopes] & np.array(ops, np.bool_)[columns.ops])


def _trainable(columns: Columns) -> Bools:
    called = np.zeros(len(columns), np.bool_)
    called[[node for node, trainable in columns.trainable.items() if trainable]] = True
    return called


def floating_outputs(columns: Columns) -> Bools:
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
