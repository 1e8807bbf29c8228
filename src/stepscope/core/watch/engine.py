"""What a condition says of the figures of a tensor.

The rules are those of MindSpore's own library, on which this was tested row by row, with the differences listed in
docs/watchpoints.md. All comparisons are of doubles; NaN or infinities in the tensor keep all thresholds from being
looked at, which is reported; of several thresholds any one hits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import NamedTuple

from stepscope.core.tensors import Figures
from stepscope.core.watch.conditions import (
    ATOL,
    CHANGES,
    EPSILON,
    INITIAL,
    NOT_CHANGED,
    OPERATOR_OVERFLOW,
    OVERFLOW,
    RTOL,
)
from stepscope.core.watch.records import Check, ErrorKind, ParameterCheck

HAS_NAN, HAS_INF = 0, 1  # conditions of old clients, as are those from 3 to 12
NON_FINITE = frozenset((HAS_NAN, HAS_INF, OVERFLOW, OPERATOR_OVERFLOW))
_OLD = dict(enumerate(product(("max", "min", "max_min", "mean", "sd"), ("gt", "lt")), 3))
_NO_ERROR: frozenset[ErrorKind] = frozenset()
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "gt": lambda actual, value: actual > value,
    "lt": lambda actual, value: actual < value,
    "ge": lambda actual, value: actual >= value,
    "le": lambda actual, value: actual <= value,
}


class Given(NamedTuple):
    """A parameter as it is given to a condition; one that is disabled is as good as not given, but is handed back."""

    name: str
    value: float
    disabled: bool = False


class Measured(NamedTuple):
    """A tensor as the conditions see it.

    previous: the value of the step before was there and not empty. previous_fits: it has as many elements, so that the
    figures tell of the change. in_range, close, figures: see `Figures`; the range and the tolerance are those of the
    condition that is asked. inputs_finite: of the node that put the tensor out; None where that is not known.
    """

    figures: Figures
    previous: bool = False
    previous_fits: bool = False
    in_range: int | None = None
    close: bool | None = None
    inputs_finite: Callable[[], bool | None] = lambda: None


NOTHING = Check(False)  # what is said of most tensors, by conditions without parameters


def decide(
    code: int,
    given: Sequence[Given],
    measured: Measured,
    *,
    initial: bool = False,
    error_on_no_value: bool = False,
) -> Check:
    """The verdict of the condition with this code of the protocol, codes of old clients included.

    A code that is not known has no verdict of its own, but its parameters are looked at like those of all others.
    initial: in the state before the first step, where nothing but code 14 is evaluated, and that only there.
    """
    figures = measured.figures
    if initial != (code == INITIAL):
        return Check(False, params=_unevaluated(given)) if given else NOTHING
    if figures.count == 0:
        return Check(False, frozenset(("no_value",))) if error_on_no_value else NOTHING
    bad = figures.nan_count or figures.positive_inf_count or figures.negative_inf_count
    if code in NON_FINITE and not bad and not given:
        return NOTHING
    if code == OPERATOR_OVERFLOW:
        return Check(bool(bad) and measured.inputs_finite() is True, params=_unevaluated(given))
    error = _errors(code, measured) if bad or code in CHANGES else None
    if error:
        return Check(False, error, _unevaluated(given))
    params = tuple(_look_at(code, one, given, measured) for one in given)
    return Check(_verdict(code, measured) or any(one.hit for one in params), params=params)


def range_of(given: Iterable[Given]) -> tuple[float, float] | None:
    """The range in which a condition counts; an end that is not given is infinite, and without both there is none."""
    ends = {one.name: one.value for one in given if not one.disabled}
    start, end = ends.get("range_start_inclusive"), ends.get("range_end_inclusive")
    if start is None and end is None:
        return None
    return -math.inf if start is None else start, math.inf if end is None else end


def tolerance_of(given: Iterable[Given]) -> tuple[float, float]:
    """(rtol, atol), the usual ones unless given."""
    values = {one.name: one.value for one in given if not one.disabled}
    return values.get("rtol", RTOL), values.get("atol", ATOL)


def _errors(code: int, measured: Measured) -> frozenset[ErrorKind]:
    figures = measured.figures
    if code not in CHANGES and (code in NON_FINITE or not _non_finite(figures)):
        return _NO_ERROR
    error: set[ErrorKind] = set()
    if code not in NON_FINITE:
        if figures.nan_count:
            error.add("nan")
        if figures.positive_inf_count or figures.negative_inf_count:
            error.add("inf")
    if code in CHANGES:
        if not measured.previous:
            error.add("no_previous")
        elif error:
            pass  # the tensor itself is to blame, whatever came before
        elif not measured.previous_fits:
            error.add("previous_shape")
        else:
            if figures.previous_nan:
                error.add("previous_nan")
            if figures.previous_inf:
                error.add("previous_inf")
    return frozenset(error)


def _verdict(code: int, measured: Measured) -> bool:
    """What a condition says for itself, whatever its thresholds say."""
    figures = measured.figures
    if code == OVERFLOW:
        return _non_finite(figures) > 0
    if code == HAS_NAN:
        return figures.nan_count > 0
    if code == HAS_INF:
        return _non_finite(figures) > figures.nan_count
    return code == NOT_CHANGED and measured.close is True


def _look_at(code: int, one: Given, given: Sequence[Given], measured: Measured) -> ParameterCheck:
    if one.disabled:
        return ParameterCheck(one.name, one.value)
    if code == NOT_CHANGED and one.name == "rtol":
        # It has no threshold of its own: what is shown is how large a tolerance would have been enough.
        return ParameterCheck(one.name, one.value, actual=measured.figures.max_relative_change)
    statistic, _, operator = one.name.rpartition("_")
    if code in _OLD:
        own, operator = _OLD[code]
        statistic = own if one.name == "param" else statistic
    actual = _statistic(statistic, given, measured)
    if actual is None or math.isnan(actual):
        return ParameterCheck(one.name, one.value)
    compare = _COMPARE.get(operator)
    return ParameterCheck(one.name, one.value, compare is not None and compare(actual, one.value), actual)


def _statistic(name: str, given: Sequence[Given], measured: Measured) -> float | None:
    figures = measured.figures
    if name == "max":
        return math.inf if figures.positive_inf_count else figures.max
    if name == "min":
        return -math.inf if figures.negative_inf_count else figures.min
    if name == "max_min":
        high, low = _statistic("max", given, measured), _statistic("min", given, measured)
        return None if high is None or low is None else high - low
    if name in ("mean", "sd", "abs_mean"):
        if _non_finite(figures):
            return math.nan
        return _sample_deviation(figures) if name == "sd" else figures.mean if name == "mean" else figures.abs_mean
    if name == "zero_percentage":
        return figures.zero_count * 100.0 / figures.count
    if name == "range_percentage" and measured.in_range is not None:
        return 100.0 * measured.in_range / figures.count
    if name == "abs_mean_update_ratio" and figures.abs_change is not None and figures.abs_previous is not None:
        epsilon = next((one.value for one in given if one.name == "epsilon" and not one.disabled), EPSILON)
        below = figures.abs_previous + epsilon
        return figures.abs_change / below if below else math.nan
    return None


def _sample_deviation(figures: Figures) -> float:
    """Divided by n - 1; of one value, and of none, it is 0."""
    n = figures.count
    return figures.std * math.sqrt(n / (n - 1)) if n > 1 else 0.0


def _non_finite(figures: Figures) -> int:
    return figures.nan_count + figures.positive_inf_count + figures.negative_inf_count


def _unevaluated(given: Iterable[Given]) -> tuple[ParameterCheck, ...]:
    return tuple(ParameterCheck(one.name, one.value) for one in given)
