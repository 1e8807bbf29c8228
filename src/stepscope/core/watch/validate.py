"""Whether a condition can be used with these parameters, and whether that makes sense.

Nothing is changed silently: a value is either taken as it is, or refused with the parameter that is to blame.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple

from stepscope.core.errors import BadRequest
from stepscope.core.watch.conditions import CONDITIONS, Condition, Parameter

Code = Literal[
    "unknown_condition",
    "unknown_parameter",
    "missing_parameter",
    "missing_companion",
    "start_after_end",
    "not_a_number",
    "out_of_range",
]
_START, _END = "range_start_inclusive", "range_end_inclusive"


class InvalidParameter(BadRequest):
    """`field` is the parameter to blame, or "condition"; `code` says what is wrong with it."""

    def __init__(self, message: str, field: str, code: Code):
        super().__init__(message)
        self.field = field
        self.code: Code = code


class Warned(NamedTuple):
    """A condition that is allowed, but of no use. `field` is the parameter that makes it so ("" for the condition)."""

    code: Literal["always_hits", "never_hits", "too_late"]
    message: str
    field: str = ""


def lookup(condition: str) -> Condition:
    """The condition of this name. Raises InvalidParameter."""
    try:
        return CONDITIONS[condition]
    except KeyError:
        message = f"no condition {condition!r}; there are {', '.join(CONDITIONS)}"
        raise InvalidParameter(message, "condition", "unknown_condition") from None


def validate(condition: str, parameters: Mapping[str, object] | None = None) -> dict[str, float]:
    """The parameters as numbers, in the order of the table. A condition that has a usual threshold gets that where no
    check parameter is given at all.

    parameters: numbers, or text of numbers ("1e-9"), by name. Raises InvalidParameter.
    """
    known = lookup(condition)
    given = numbers(known, parameters or {})
    by_name = {one.name: one for one in known.parameters}
    for name, value in given.items():
        _check_range(by_name[name], value)
    checks = [one for one in known.parameters if one.role == "check"]
    if checks and not any(one.name in given for one in checks):
        given |= {one.name: one.default for one in checks if one.default is not None}
        if not any(one.name in given for one in checks):
            names = " or ".join(one.name for one in checks)
            raise InvalidParameter(f"{condition} needs a threshold: {names}", checks[0].name, "missing_parameter")
    _check_companions(known, given)
    if _START in given and _END in given and given[_START] > given[_END]:
        message = f"the range starts at {given[_START]:g}, after its end at {given[_END]:g}"
        raise InvalidParameter(message, _END, "start_after_end")
    return {one.name: given[one.name] for one in known.parameters if one.name in given}


def numbers(condition: Condition, parameters: Mapping[str, object]) -> dict[str, float]:
    """The parameters as numbers, in the order given. Raises InvalidParameter for unknown names and for no numbers;
    what else may be wrong with them is not looked at."""
    by_name = {one.name: one for one in condition.parameters}
    result = {}
    for name, value in parameters.items():
        if name not in by_name:
            allowed = ", ".join(by_name) or "none"
            message = f"{condition.id} has no parameter {name!r}; it takes {allowed}"
            raise InvalidParameter(message, name, "unknown_parameter")
        result[name] = _number(by_name[name], value)
    return result


def warnings(condition: str, parameters: Mapping[str, float], step: int = 0) -> list[Warned]:
    """What makes this condition always hit, or never.

    parameters: as `validate` returns them. step: the job's, for what can only be checked before the first one.
    """
    result = []
    if lookup(condition).initial_only and step > 0:
        message = "this is checked before the first step only, and that has been made"
        result.append(Warned("too_late", message))
    for name, value in parameters.items():
        if name == "zero_percentage_ge" and value <= 0:
            result.append(Warned("always_hits", "every tensor has at least 0 % of zeros: this always hits", name))
        elif name == "range_percentage_gt" and value >= 100:
            result.append(Warned("never_hits", "a share is never above 100 %: this can never hit", name))
        elif name in ("range_percentage_lt", "abs_mean_lt", "abs_mean_update_ratio_lt") and value <= 0:
            result.append(Warned("never_hits", f"{_WHAT[name]} is never below 0: this can never hit", name))
    for low, high in (("range_percentage_gt", "range_percentage_lt"), ("max_min_gt", "max_min_lt")):
        if low in parameters and high in parameters and parameters[low] < parameters[high]:
            message = (
                f"any value is above {parameters[low]:g} or below {parameters[high]:g}, and either is enough: "
                "this always hits"
            )
            result.append(Warned("always_hits", message, high))
    return result


_WHAT = {
    "range_percentage_lt": "a share",
    "abs_mean_lt": "an average of absolute values",
    "abs_mean_update_ratio_lt": "a ratio of changes",
}


def _number(parameter: Parameter, value: object) -> float:
    wrong = InvalidParameter(f"{parameter.name} must be a number, not {value!r}", parameter.name, "not_a_number")
    if isinstance(value, bool) and parameter.name != "equal_nan":
        raise wrong
    if not isinstance(value, int | float | str) and not hasattr(value, "__float__"):
        raise wrong
    try:
        result = float(value)
    except (TypeError, ValueError):
        raise wrong from None
    except OverflowError:  # an int beyond the largest double
        result = math.inf
    if math.isnan(result):
        raise wrong
    return result


def _check_range(parameter: Parameter, value: float) -> None:
    inside = parameter.low <= value <= parameter.high and math.isfinite(value)
    if inside and (parameter.low_inclusive or value > parameter.low):
        return
    if parameter.high < math.inf:
        allowed = f"from {parameter.low:g} to {parameter.high:g}{' %' if parameter.unit == '%' else ''}"
    elif parameter.low > -math.inf:
        allowed = f"{'at least' if parameter.low_inclusive else 'above'} {parameter.low:g} and finite"
    else:
        allowed = "finite"
    raise InvalidParameter(f"{parameter.name} must be {allowed}, not {value:g}", parameter.name, "out_of_range")


def _check_companions(condition: Condition, given: Mapping[str, float]) -> None:
    needed: dict[str, str] = {}  # support parameter → one that is given and needs it
    for one in condition.parameters:
        if one.name in given:
            needed |= dict.fromkeys(one.needs, one.name)
    for name, by in needed.items():
        if name not in given:
            raise InvalidParameter(f"{by} needs {name} too", name, "missing_companion")
    for one in condition.parameters:
        users = [other.name for other in condition.parameters if one.name in other.needs]
        if one.name in given and users and one.name not in needed:
            message = f"{one.name} says nothing without {' or '.join(users)}"
            raise InvalidParameter(message, users[0], "missing_companion")
