"""The conditions as MindSpore's own debugger clients evaluate them, in plain numpy and for small tensors.

Written from what is known of them, apart from `core.watch`, so that one can be held against the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.protocol.gen import stepscope_pb2 as pb

Array = NDArray[Any]

OVERFLOW, GENERAL_OVERFLOW, INITIAL = 2, 13, 14
TOO_LARGE, TOO_SMALL, ALL_ZERO = 15, 16, 17
CHANGE_TOO_LARGE, CHANGE_TOO_SMALL, NOT_CHANGED = 18, 19, 20
RANGE = 21
of_changes = (CHANGE_TOO_LARGE, CHANGE_TOO_SMALL, NOT_CHANGED)
_NAN, _INF, _NO_PREVIOUS = 1, 2, 4

Found = tuple[int, list[pb.WatchCondition.Parameter]]  # error code, parameters as they are sent back


def check(condition: pb.WatchCondition, x: Array, previous: Array | None, by_place: bool) -> Found | None:
    """What is sent of a tensor; None where nothing is. `by_place`: rtol and atol are told apart by their places."""
    code, given = condition.condition, list(condition.params)
    nan, inf = bool(np.isnan(x).any()), bool(np.isinf(x).any())
    if code in (OVERFLOW, GENERAL_OVERFLOW):
        return (0, given) if nan or inf else None
    error = _NAN * nan + _INF * inf + _NO_PREVIOUS * (code in of_changes and previous is None)
    if error:
        return error, given
    if code == NOT_CHANGED:
        assert previous is not None
        atol, rtol = _tolerances(given, by_place)
        is_close = bool((np.abs(x - previous) <= atol + rtol * np.abs(previous)).all())
        return (0, given) if is_close else None
    actual = _actual(code, x, previous, given)
    hits = []
    for parameter in given:
        measured = actual.get(parameter.name)
        if parameter.disabled or measured is None:
            continue
        parameter.actual_value = measured
        suffix = parameter.name.rpartition("_")[2]
        parameter.hit = bool(
            {"gt": measured > parameter.value, "lt": measured < parameter.value, "ge": measured >= parameter.value}[
                suffix
            ]
        )
        hits.append(parameter.hit)
    return (0, given) if any(hits) else None


def _tolerances(given: list[pb.WatchCondition.Parameter], by_place: bool) -> tuple[float, float]:
    if by_place:
        return given[0].value, given[1].value
    by_name = {parameter.name: parameter.value for parameter in given}
    return by_name["atol"], by_name["rtol"]


def _actual(code: int, x: Array, previous: Array | None, given: list[pb.WatchCondition.Parameter]) -> dict[str, float]:
    values = x.astype(np.float64)
    if code in (CHANGE_TOO_LARGE, CHANGE_TOO_SMALL):
        assert previous is not None
        ratio = np.abs(values - previous).mean() / (np.abs(previous).mean() + 1e-9)
        return {"abs_mean_update_ratio_gt": ratio, "abs_mean_update_ratio_lt": ratio}
    zeros = 100.0 * float((values == 0).mean())
    low, high, mean, abs_mean = values.min(), values.max(), values.mean(), np.abs(values).mean()
    actual = {"zero_percentage_ge": zeros}
    for end in ("gt", "lt"):
        actual |= {f"abs_mean_{end}": abs_mean, f"max_{end}": high, f"min_{end}": low, f"mean_{end}": mean}
        actual[f"max_min_{end}"] = high - low
    if code == RANGE and not given[0].disabled and not given[1].disabled:  # the ends by their places
        inside = 100.0 * float(((values >= given[0].value) & (values <= given[1].value)).mean())
        actual |= {"range_percentage_gt": inside, "range_percentage_lt": inside}
    return {name: float(value) for name, value in actual.items()}
