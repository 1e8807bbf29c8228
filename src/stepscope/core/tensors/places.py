"""Where in a part of a tensor something is, and how much of it has changed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.core.looks import Beyond, Place, Sought
from stepscope.core.tensors.part import Part

Array = NDArray[Any]


def place(part: Part, what: Sought, after: int | None = None) -> Place:
    """The first place behind `after`, else the first one of all."""
    nan, positive_inf, negative_inf = part.summary[1:4]
    counts = {"nonfinite": nan + positive_inf + negative_inf, "nan": nan, "inf": positive_inf + negative_inf}
    count = counts.get(what, part.size - counts["nonfinite"])
    if not count:
        return Place(None, None, 0, "")
    value: Any = math.nan
    if what in ("max", "min"):
        value = extreme(part, what)
        count = count_of(part, value)
    flat = _first(part, what, value, -1 if after is None else after)
    position = tuple(int(each) for each in np.unravel_index(flat, part.shape))
    return Place(position, flat, count, part.element(position))


def extreme(part: Part, what: Sought) -> Any:
    """The largest or smallest finite value, exactly: a scalar of numpy for integers, else a float."""
    if part.kind in "iu":
        values = [block.max() if what == "max" else block.min() for block in part.blocks()]
        return max(values) if what == "max" else min(values)
    return part.summary[8 if what == "max" else 7]


def count_of(part: Part, value: Any) -> int:
    """How many elements equal `value`."""
    return sum(int(np.count_nonzero(block == value)) for block in part.blocks())


def beyond(part: Part, threshold: float) -> Beyond:
    """How many elements of a difference are beyond `threshold`, as `BeyondQuestion` describes it."""
    count = 0
    for new, old in part.pairs():
        change = part.change(new, old)
        out = ~(np.abs(change) <= threshold)
        if change.dtype.kind == "f" and np.isnan(change).any():
            out &= ~((new == old) | (np.isnan(new) & np.isnan(old)))
        count += int(np.count_nonzero(out))
    return Beyond(count, part.size)


def _first(part: Part, what: Sought, value: Any, after: int) -> int:
    """Behind `after`, or the very first; there is one."""
    began, first = 0, -1
    for block in part.blocks():
        there = _there(block, what, value)
        if first < 0 and (at := _next(there, 0)) >= 0:
            first = began + at
        if began + block.size > after + 1 and (at := _next(there, max(0, after + 1 - began))) >= 0:
            return began + at
        began += block.size
    return first


def _there(block: Array, what: Sought, value: Any) -> Array:
    if what == "nonfinite":
        return ~np.isfinite(block)
    if what == "nan":
        return np.isnan(block)
    if what == "inf":
        return np.isinf(block)
    return np.asarray(block == value)


def _next(there: Array, start: int) -> int:
    """The first that is true from `start` on, or -1."""
    at = int(there[start:].argmax()) + start
    return at if there[at] else -1
