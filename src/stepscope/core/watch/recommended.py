"""The watchpoints that a training is offered when it connects.

They are those of MindSpore's debugger, with two that it could not offer (weights that don't change, or hardly), and
with sets of nodes that leave a healthy training alone: see docs/watchpoints.md for what differs and why.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from stepscope.core.graph import Graph
from stepscope.core.watch.records import Selection, Watchpoint
from stepscope.core.watch.selection import Watched

_TANH_END = math.tanh(8.8)  # float32 rounds tanh to 1 from about here on
_SIGMOID_START = 1 / (1 + math.exp(16.2))
_IN_RANGE = ("range_start_inclusive", "range_end_inclusive")

_RECOMMENDED = (
    Watchpoint(0, "weight_initialization", {"zero_percentage_ge": 100.0}, Selection("matrix")),
    # Without the epsilon, any change of a bias that starts as zeros is too large.
    Watchpoint(0, "weight_change_too_large", {"abs_mean_update_ratio_gt": 1.0, "epsilon": 0.05}, Selection("weight")),
    # Below what float32 can hold of the change of a usual weight; 1e-4, the usual threshold, is hit by any fine-tuning.
    Watchpoint(0, "weight_change_too_small", {"abs_mean_update_ratio_lt": 1e-7}, Selection("trained_matrix")),
    Watchpoint(0, "weight_not_changed", {"rtol": 1e-5}, Selection("trained_matrix")),
    Watchpoint(0, "gradient_vanishing", {"abs_mean_lt": 1e-9}, Selection("layer_gradient")),
    Watchpoint(0, "operator_overflow", {}, Selection("tensor")),
    Watchpoint(0, "tensor_overflow", {}, Selection("unmasked")),
    Watchpoint(0, "tensor_all_zero", {"zero_percentage_ge": 100.0}, Selection("layer")),
    Watchpoint(
        0,
        "activation_range",
        dict(zip(_IN_RANGE, (-_TANH_END, _TANH_END), strict=True)) | {"range_percentage_lt": 0.1},
        Selection("activation", ("tanh",)),
        name="tanh",
    ),
    Watchpoint(
        0,
        "activation_range",
        dict(zip(_IN_RANGE, (_SIGMOID_START, 1 - _SIGMOID_START), strict=True)) | {"range_percentage_lt": 0.1},
        Selection("activation", ("sigmoid",)),
        name="sigmoid",
    ),
    Watchpoint(
        0,
        "activation_range",
        dict(zip(_IN_RANGE, (-1.0, 0.0), strict=True)) | {"range_percentage_gt": 99.9},
        Selection("activation", ("relu", "reluv2", "reluv3")),
        name="relu",
    ),
)


def recommended(graphs: Iterable[Graph], step: int = 0) -> list[Watchpoint]:
    """Those that have something to watch in one of the graphs, in a fixed order, with 0 for their ids.

    step: the job's; what is checked before the first step only is not offered after it. A graph without operations is
    one that is only known once they have run: then all are offered, for what comes.
    """
    known = list(graphs)
    offered = [one for one in _RECOMMENDED if one.condition != "weight_initialization" or step == 0]
    if any(not graph.of_kind("op") for graph in known):
        return [replace(one, recommended=True) for one in offered]
    return [
        replace(one, recommended=True) for one in offered if any(Watched(graph, one.selection).count for graph in known)
    ]
