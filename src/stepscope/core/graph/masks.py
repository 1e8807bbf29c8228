"""Where a healthy graph of PyTorch is infinite: in the masks of attention, up to the softmax that makes zeros of them.

A mask begins where an operation is told an infinity (`masked_fill(x, mask, -inf)`, `full(-inf)`), or as an input or a
buffer that only ever goes into a softmax. It goes on through operations that pass elements on or add them. NaN and
infinities that are a fault still show: where they came up (no operation that was told of them), and behind the softmax.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from stepscope.core.graph.columns import INPUT, OP, PARAMETER, Bools, Columns
from stepscope.core.graph.fold import Flow
from stepscope.core.graph.torch_ops import is_torch

_PASSING = frozenset(
    f"aten.{name}"
    for name in (
        *("where", "masked_fill", "masked_fill_", "fill", "fill_", "full_like", "copy_", "clone", "_to_copy"),
        *("add", "add_", "triu", "triu_", "tril", "tril_", "minimum", "expand", "repeat", "constant_pad_nd"),
        *("slice", "select", "index", "index_select", "gather", "cat", "stack", "split", "unbind", "as_strided"),
        "lift_fresh",
    )
)
_SOFTMAX = ("aten._softmax", "aten._safe_softmax", "aten._log_softmax", "aten._scaled_dot_product_")


def told_infinity(attributes: Mapping[str, object]) -> bool:
    """Whether one of the numbers that an operation was given is not finite."""
    return any(isinstance(value, float) and not math.isfinite(value) for value in attributes.values())


def masks(columns: Columns, flow: Flow) -> Bools:
    """The nodes that may carry infinities on purpose."""
    found = np.zeros(len(columns), np.bool_)
    if not any(map(is_torch, columns.op_names)):
        return found
    passing = np.array([op in _PASSING for op in columns.op_names], np.bool_)[columns.ops] & (columns.kinds == OP)
    softmax = np.array([op.startswith(_SOFTMAX) for op in columns.op_names], np.bool_)[columns.ops]
    readers: dict[int, list[int]] = defaultdict(list)
    for source, target in zip(flow.source[~flow.control].tolist(), flow.target[~flow.control].tolist(), strict=True):
        readers[source].append(target)

    into_softmax = np.zeros(len(columns), np.bool_)  # what a node puts out goes nowhere else

    def goes_into_softmax(node: int) -> bool:
        return bool(readers[node]) and all(
            softmax[each] or into_softmax[each] or not any("float" in one.dtype for one in columns.outputs[each])
            for each in readers[node]
        )

    for node in np.flatnonzero(passing).tolist()[::-1]:  # those who read it come after it
        into_softmax[node] = goes_into_softmax(node)
    for node in np.flatnonzero(columns.kinds == OP).tolist():
        found[node] = told_infinity(columns.attributes[node])
    for node in np.flatnonzero((columns.kinds == INPUT) | (columns.kinds == PARAMETER)).tolist():
        found[node] = not columns.trainable.get(node) and goes_into_softmax(node)
    waiting = np.flatnonzero(found).tolist()
    while waiting:
        for reader in readers[waiting.pop()]:
            if passing[reader] and not found[reader]:
                found[reader] = True
                waiting.append(reader)
    return found
