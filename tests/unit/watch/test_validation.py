"""What a watchpoint may be told, and what is refused or warned of."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stepscope.core.errors import BadRequest
from stepscope.core.watch.conditions import CONDITIONS
from stepscope.core.watch.validate import InvalidParameter, validate, warnings

BAD = {
    "a condition that there is not": ("tensor_huge", {}, "condition", "unknown_condition"),
    "a parameter that there is not": ("tensor_too_large", {"max_lt": 1}, "max_lt", "unknown_parameter"),
    "a parameter where there is none": ("tensor_overflow", {"max_gt": 1}, "max_gt", "unknown_parameter"),
    "no threshold": ("tensor_too_large", {}, "abs_mean_gt", "missing_parameter"),
    "only ends of a range": (
        "tensor_range",
        {"range_start_inclusive": 0, "range_end_inclusive": 1},
        "range_percentage_lt",
        "missing_parameter",
    ),
    "no start of the range": (
        "tensor_range",
        {"range_percentage_lt": 5, "range_end_inclusive": 1},
        "range_start_inclusive",
        "missing_companion",
    ),
    "no end of the range": (
        "activation_range",
        {"range_percentage_gt": 5, "range_start_inclusive": 1},
        "range_end_inclusive",
        "missing_companion",
    ),
    "a range that nothing counts in": (
        "tensor_range",
        {"max_min_gt": 1, "range_start_inclusive": 0, "range_end_inclusive": 1},
        "range_percentage_lt",
        "missing_companion",
    ),
    "a range that starts after its end": (
        "tensor_range",
        {"range_percentage_lt": 5, "range_start_inclusive": 2, "range_end_inclusive": 1},
        "range_end_inclusive",
        "start_after_end",
    ),
    "NaN": ("gradient_vanishing", {"abs_mean_lt": math.nan}, "abs_mean_lt", "not_a_number"),
    "NaN as text": ("gradient_vanishing", {"abs_mean_lt": "nan"}, "abs_mean_lt", "not_a_number"),
    "a word": ("gradient_vanishing", {"abs_mean_lt": "small"}, "abs_mean_lt", "not_a_number"),
    "true": ("gradient_vanishing", {"abs_mean_lt": True}, "abs_mean_lt", "not_a_number"),
    "nothing": ("gradient_vanishing", {"abs_mean_lt": None}, "abs_mean_lt", "not_a_number"),
    "a list": ("gradient_vanishing", {"abs_mean_lt": [1]}, "abs_mean_lt", "not_a_number"),
    "infinity": ("tensor_too_large", {"max_gt": math.inf}, "max_gt", "out_of_range"),
    "more than any double": ("tensor_too_large", {"max_gt": 10**400}, "max_gt", "out_of_range"),
    "more than 100 %": ("tensor_all_zero", {"zero_percentage_ge": 100.5}, "zero_percentage_ge", "out_of_range"),
    "less than 0 %": ("weight_initialization", {"zero_percentage_ge": -1}, "zero_percentage_ge", "out_of_range"),
    "a negative average of absolute values": ("weight_too_small", {"abs_mean_lt": -1}, "abs_mean_lt", "out_of_range"),
    "a negative tolerance": ("weight_not_changed", {"rtol": -1e-9}, "rtol", "out_of_range"),
    "a distance below 0": ("tensor_range", {"max_min_lt": 0}, "max_min_lt", "out_of_range"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_refused_names_the_field(case: str) -> None:
    condition, parameters, field, code = BAD[case]
    with pytest.raises(InvalidParameter) as caught:
        validate(condition, parameters)
    assert (caught.value.field, caught.value.code) == (field, code)
    assert isinstance(caught.value, BadRequest)


@pytest.mark.parametrize(
    ("condition", "parameters", "words"),
    [
        ("tensor_huge", {}, ["tensor_huge", "tensor_too_large"]),
        ("tensor_too_large", {"max_lt": 1}, ["max_lt", "max_gt"]),
        ("tensor_all_zero", {"zero_percentage_ge": 101}, ["0", "100", "101"]),
        ("weight_too_small", {"abs_mean_lt": -1}, ["at least 0", "-1"]),
        ("tensor_range", {"max_min_lt": 0}, ["above 0"]),
        ("tensor_range", {"range_percentage_lt": 5}, ["range_percentage_lt", "range_start_inclusive"]),
    ],
)
def test_the_message_says_what_is_allowed(condition: str, parameters: dict[str, float], words: list[str]) -> None:
    with pytest.raises(InvalidParameter) as caught:
        validate(condition, parameters)
    assert all(word in str(caught.value) for word in words), caught.value


def test_numbers_come_in_many_forms() -> None:
    assert validate("gradient_vanishing", {"abs_mean_lt": "1e-9"}) == {"abs_mean_lt": 1e-9}
    assert validate("gradient_vanishing", {"abs_mean_lt": np.float32(0.5)}) == {"abs_mean_lt": 0.5}
    assert validate("tensor_too_large", {"max_gt": -3}) == {"max_gt": -3.0}
    assert validate("weight_not_changed", {"rtol": 0, "equal_nan": True}) == {"rtol": 0.0, "equal_nan": 1.0}
    assert all(type(value) is float for value in validate("tensor_too_large", {"max_gt": np.int64(5)}).values())


def test_several_thresholds_come_in_the_order_of_the_table() -> None:
    given = {"mean_gt": 1, "abs_mean_gt": 2, "max_gt": 3}
    assert list(validate("tensor_too_large", given).items()) == [
        ("abs_mean_gt", 2.0),
        ("max_gt", 3.0),
        ("mean_gt", 1.0),
    ]
    both = {"range_percentage_lt": 5, "range_start_inclusive": 0, "range_end_inclusive": 0, "max_min_gt": 1}
    assert len(validate("tensor_range", both)) == 4


@pytest.mark.parametrize(
    ("condition", "usual"),
    [
        ("tensor_all_zero", {"zero_percentage_ge": 100.0}),
        ("weight_initialization", {"zero_percentage_ge": 100.0}),
        ("weight_change_too_large", {"abs_mean_update_ratio_gt": 0.1}),
        ("weight_change_too_small", {"abs_mean_update_ratio_lt": 1e-4}),
        ("weight_not_changed", {"rtol": 1e-5}),
        ("tensor_overflow", {}),
        ("operator_overflow", {}),
    ],
)
def test_usual_thresholds(condition: str, usual: dict[str, float]) -> None:
    assert validate(condition) == usual


def test_a_threshold_is_not_added_to_another() -> None:
    assert validate("weight_initialization", {"max_gt": 5}) == {"max_gt": 5.0}


RANGE = {"range_start_inclusive": 0.0, "range_end_inclusive": 1.0}


@pytest.mark.parametrize(
    ("condition", "parameters", "code", "field"),
    [
        ("tensor_all_zero", {"zero_percentage_ge": 0}, "always_hits", "zero_percentage_ge"),
        ("weight_initialization", {"zero_percentage_ge": 0}, "always_hits", "zero_percentage_ge"),
        ("tensor_range", {**RANGE, "range_percentage_lt": 0}, "never_hits", "range_percentage_lt"),
        ("tensor_range", {**RANGE, "range_percentage_gt": 100}, "never_hits", "range_percentage_gt"),
        ("gradient_vanishing", {"abs_mean_lt": 0}, "never_hits", "abs_mean_lt"),
        ("weight_change_too_small", {"abs_mean_update_ratio_lt": 0}, "never_hits", "abs_mean_update_ratio_lt"),
        (
            "tensor_range",
            {**RANGE, "range_percentage_lt": 60, "range_percentage_gt": 40},
            "always_hits",
            "range_percentage_lt",
        ),
        ("tensor_range", {"max_min_lt": 4, "max_min_gt": 2}, "always_hits", "max_min_lt"),
    ],
)
def test_what_is_of_no_use_is_warned_of(condition: str, parameters: dict[str, float], code: str, field: str) -> None:
    (warned,) = warnings(condition, validate(condition, parameters))
    assert (warned.code, warned.field) == (code, field)
    assert {"always_hits": "always", "never_hits": "never"}[code] in warned.message


def test_what_is_of_use_is_not_warned_of() -> None:
    assert warnings("tensor_all_zero", {"zero_percentage_ge": 100.0}) == []
    assert warnings("tensor_range", {**RANGE, "range_percentage_lt": 40.0, "range_percentage_gt": 60.0}) == []
    assert warnings("tensor_range", {"max_min_lt": 2.0, "max_min_gt": 2.0}) == []
    assert warnings("weight_initialization", {"max_gt": 1.0}, step=0) == []


def test_an_initial_check_comes_too_late_after_the_first_step() -> None:
    assert [one.code for one in warnings("weight_initialization", {"max_gt": 1.0}, step=1)] == ["too_late"]


def test_the_table_is_complete() -> None:
    assert len(CONDITIONS) == 17
    assert len({one.abbreviation for one in CONDITIONS.values()}) == 17
    assert len({one.code for one in CONDITIONS.values()}) == 10
    for one in CONDITIONS.values():
        texts = [one.name, one.description, *one.advice, *(parameter.label for parameter in one.parameters)]
        assert all(text.en and text.zh for text in texts)
        assert one.advice
        names = {parameter.name for parameter in one.parameters}
        assert all(needed in names for parameter in one.parameters for needed in parameter.needs)
