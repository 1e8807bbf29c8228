"""The table of conditions: all that API, page, client, command line and documents know of them comes from here.

Names and codes are those of MindSpore's debugger. The 17 conditions of users map onto 10 codes of the protocol; the
order of the parameters is that of the protocol too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from stepscope.core.watch.records import Base
from stepscope.core.watch.words import ADVICE, DESCRIPTIONS, LABELS, NAMES, Text

TensorCategory = Literal["tensor", "weight", "activation", "gradient"]

OPERATOR_OVERFLOW, OVERFLOW, INITIAL = 2, 13, 14
TOO_LARGE, TOO_SMALL, ALL_ZERO = 15, 16, 17
CHANGE_TOO_LARGE, CHANGE_TOO_SMALL, NOT_CHANGED = 18, 19, 20
RANGE = 21
CHANGES = frozenset((CHANGE_TOO_LARGE, CHANGE_TOO_SMALL, NOT_CHANGED))

RTOL, ATOL, EPSILON = 1e-5, 1e-8, 1e-9


@dataclass(frozen=True)
class Parameter:
    """A number that a condition takes. A "check" parameter is a threshold, a "support" one says how to measure.

    Values lie from `low` to `high`, `low` itself only with `low_inclusive`; they are always finite. `needs`: those that
    must be given with it. `hidden`: for programs only, no dialog shows it. `default` is what a dialog offers.
    """

    name: str
    role: Literal["check", "support"] = "check"
    low: float = -math.inf
    high: float = math.inf
    low_inclusive: bool = True
    default: float | None = None
    unit: Literal["", "%"] = ""
    needs: tuple[str, ...] = ()
    hidden: bool = False

    @property
    def label(self) -> Text:
        return LABELS[self.name]


@dataclass(frozen=True)
class Condition:
    """`base` is what a watchpoint of this condition covers unless told otherwise. `initial_only`: evaluated before the
    first step and never again (all others never then). `needs_previous`: compares with the step before.
    `needs_inputs`: looks at the inputs of the node as well."""

    id: str
    abbreviation: str
    category: TensorCategory
    code: int
    parameters: tuple[Parameter, ...] = ()
    base: Base = "tensor"

    @property
    def name(self) -> Text:
        return NAMES[self.id]

    @property
    def description(self) -> Text:
        return DESCRIPTIONS[self.id]

    @property
    def advice(self) -> tuple[Text, ...]:
        """What to look at after a hit, one question each."""
        return ADVICE[self.id]

    @property
    def initial_only(self) -> bool:
        return self.code == INITIAL

    @property
    def needs_previous(self) -> bool:
        return self.code in CHANGES

    @property
    def needs_inputs(self) -> bool:
        return self.code == OPERATOR_OVERFLOW


def _absolute(name: str) -> Parameter:
    return Parameter(name, low=0.0)


def _percentage(name: str, default: float | None = None, needs: tuple[str, ...] = ()) -> Parameter:
    return Parameter(name, low=0.0, high=100.0, default=default, unit="%", needs=needs)


_BOUNDS = ("range_start_inclusive", "range_end_inclusive")
_RANGE = (
    *(Parameter(name, "support") for name in _BOUNDS),
    _percentage("range_percentage_lt", needs=_BOUNDS),
    _percentage("range_percentage_gt", needs=_BOUNDS),
    Parameter("max_min_lt", low=0.0, low_inclusive=False),
    _absolute("max_min_gt"),
)
_ABOVE = (_absolute("abs_mean_gt"), Parameter("max_gt"), Parameter("min_gt"), Parameter("mean_gt"))
_BELOW = (_absolute("abs_mean_lt"), Parameter("max_lt"), Parameter("min_lt"), Parameter("mean_lt"))
_ZEROS = _percentage("zero_percentage_ge", default=100.0)
_EPSILON = Parameter("epsilon", "support", low=0.0, default=EPSILON, hidden=True)
_UNCHANGED = (
    Parameter("rtol", low=0.0, default=RTOL),
    Parameter("atol", "support", low=0.0, default=ATOL, hidden=True),
    Parameter("equal_nan", "support", low=0.0, high=1.0, default=0.0, hidden=True),
)


def _change(name: str, default: float) -> tuple[Parameter, ...]:
    return Parameter(name, low=0.0, default=default), _EPSILON


_TABLE = (
    Condition("operator_overflow", "OO", "tensor", OPERATOR_OVERFLOW),
    Condition("tensor_all_zero", "TZ", "tensor", ALL_ZERO, (_ZEROS,)),
    Condition("tensor_overflow", "TO", "tensor", OVERFLOW),
    Condition("tensor_range", "TR", "tensor", RANGE, _RANGE),
    Condition("tensor_too_large", "TL", "tensor", TOO_LARGE, _ABOVE),
    Condition("tensor_too_small", "TS", "tensor", TOO_SMALL, _BELOW),
    Condition(
        "weight_change_too_large", "WCL", "weight", CHANGE_TOO_LARGE, _change("abs_mean_update_ratio_gt", 0.1), "weight"
    ),
    Condition(
        "weight_change_too_small",
        "WCS",
        "weight",
        CHANGE_TOO_SMALL,
        _change("abs_mean_update_ratio_lt", 1e-4),
        "weight",
    ),
    Condition(
        "weight_initialization", "WI", "weight", INITIAL, (_ZEROS, Parameter("max_gt"), Parameter("min_lt")), "weight"
    ),
    # A trainable parameter that the optimizer was not given is the commonest reason for a weight that doesn't change.
    Condition("weight_not_changed", "WNC", "weight", NOT_CHANGED, _UNCHANGED, "trainable"),
    Condition("weight_overflow", "WO", "weight", OVERFLOW, (), "weight"),
    Condition("weight_too_large", "WL", "weight", TOO_LARGE, _ABOVE, "weight"),
    Condition("weight_too_small", "WS", "weight", TOO_SMALL, _BELOW, "weight"),
    Condition("activation_range", "AR", "activation", RANGE, _RANGE, "activation"),
    Condition("gradient_exploding", "GE", "gradient", OVERFLOW, (), "gradient"),
    Condition("gradient_too_large", "GL", "gradient", TOO_LARGE, _ABOVE, "gradient"),
    Condition("gradient_vanishing", "GV", "gradient", TOO_SMALL, _BELOW, "gradient"),
)

CONDITIONS: dict[str, Condition] = {condition.id: condition for condition in _TABLE}
