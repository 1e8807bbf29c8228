"""Whether there is surely nothing to tell of a tensor, from sums of sizes alone: a third of the work of its figures.

Of a healthy training that is nearly all there is to say. Where a sum comes near a threshold, figures decide.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from stepscope.core.tensors import one_pass
from stepscope.core.tensors.formats import as_bits
from stepscope.core.watch import conditions
from stepscope.core.watch.conditions import EPSILON
from stepscope.core.watch.engine import NON_FINITE, Given, tolerance_of

MARGIN = 1e-6  # of a threshold: sums round otherwise than figures


class _Sizes(NamedTuple):
    """Means over all elements, which are finite. change, before: of what it is compared with."""

    size: float
    change: float
    before: float


_Rule = Callable[[_Sizes], bool]


def rules_of(code: int, given: Sequence[Given]) -> list[_Rule] | None:
    """What has to hold so that a condition is surely not hit; None where sizes don't tell."""
    values = {one.name: one.value for one in given if not one.disabled}
    if code == conditions.INITIAL or (code in NON_FINITE and not given):
        return []
    if code == conditions.TOO_SMALL and values.keys() == {"abs_mean_lt"}:
        return [lambda mean: mean.size > values["abs_mean_lt"] * (1 + MARGIN)]
    if code == conditions.ALL_ZERO and values.get("zero_percentage_ge", 0) >= 100:
        return [lambda mean: mean.size > 0]
    if code == conditions.NOT_CHANGED:
        rtol, atol = tolerance_of(given)
        return [lambda mean: mean.change > (atol + rtol * mean.before) * (1 + MARGIN)]
    epsilon = values.pop("epsilon", EPSILON)
    if code == conditions.CHANGE_TOO_LARGE and values.keys() == {"abs_mean_update_ratio_gt"}:
        above = values["abs_mean_update_ratio_gt"] * (1 - MARGIN)
        return [lambda mean: mean.change < above * (mean.before + epsilon)]
    if code == conditions.CHANGE_TOO_SMALL and values.keys() == {"abs_mean_update_ratio_lt"}:
        below = values["abs_mean_update_ratio_lt"] * (1 + MARGIN)
        return [lambda mean: mean.change > below * (mean.before + epsilon)]
    return None


def is_quiet(
    rules: Sequence[_Rule], x: np.ndarray[Any, Any], previous: np.ndarray[Any, Any] | None, dtype: str, compares: bool
) -> bool:
    """Whether all rules hold. compares: some of them are about the change since `previous`."""
    values, format = as_bits(x, dtype)
    before, format_before = (None, "") if previous is None or not compares else as_bits(previous, dtype)
    if values.size == 0 or (compares and (before is None or before.shape != values.shape)):
        return False
    sums = one_pass.sizes(values, before, (format, format_before))
    if sums is None or not all(map(math.isfinite, sums)):
        return False
    means = _Sizes(*(one / values.size for one in sums))
    return all(rule(means) for rule in rules)
