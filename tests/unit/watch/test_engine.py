"""What conditions say of tensors, beyond the recorded outcomes of `test_golden`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import stepscope
from stepscope.core.errors import BadRequest
from stepscope.core.tensors import compare
from stepscope.core.watch.engine import Given
from stepscope.core.watch.plan import Plan

ONE = np.array([1.0, 2.0], np.float32)
NAN = np.array([1.0, math.nan], np.float32)


def test_a_check_is_what_the_contract_says() -> None:
    check = stepscope.evaluate(
        "tensor_range", [-0.5, 0.0], range_start_inclusive=-1, range_end_inclusive=1, range_percentage_gt=99.9
    )
    assert (check.hit, check.reported, check.error) == (True, True, set())
    assert [tuple(one) for one in check.params] == [
        ("range_start_inclusive", -1.0, False, None),
        ("range_end_inclusive", 1.0, False, None),
        ("range_percentage_gt", 99.9, True, 100.0),
    ]


# ---------------------------------------------------------------- operator_overflow


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_an_overflow_begins_where_the_inputs_are_finite(bad: float) -> None:
    output = np.array([1.0, bad])
    assert stepscope.evaluate("operator_overflow", output, inputs=[ONE, ONE]).hit
    assert not stepscope.evaluate("operator_overflow", output, inputs=[ONE, output]).hit
    assert not stepscope.evaluate("operator_overflow", ONE, inputs=[ONE]).hit


def test_an_overflow_of_an_operator_without_inputs_begins_there() -> None:
    assert stepscope.evaluate("operator_overflow", NAN, inputs=[]).hit


def test_where_the_inputs_are_not_known_no_overflow_begins() -> None:
    check = stepscope.evaluate("operator_overflow", NAN)
    assert (check.hit, check.reported) == (False, False)


def test_inputs_are_only_looked_at_where_they_matter() -> None:
    def looked_at() -> bool:
        raise AssertionError("looked at the inputs")

    plan = Plan([("operator_overflow", {}), ("tensor_overflow", {})])
    assert plan.needs_inputs
    assert [check.hit for check in plan.check(ONE, inputs_finite=looked_at)] == [False, False]


# ---------------------------------------------------------------- the step before


@pytest.mark.parametrize(
    ("condition", "parameters"),
    [
        ("weight_not_changed", {"rtol": 1e-5}),
        ("weight_change_too_large", {"abs_mean_update_ratio_gt": 0.1}),
        ("weight_change_too_small", {"abs_mean_update_ratio_lt": 1e9}),
    ],
)
@pytest.mark.parametrize(
    ("x", "previous", "error"),
    [
        (ONE, None, {"no_previous"}),
        (ONE, np.empty(0), {"no_previous"}),
        (ONE, NAN, {"previous_nan"}),
        (ONE, [math.inf, math.nan], {"previous_nan", "previous_inf"}),
        (ONE, [1.0, 2.0, 3.0], {"previous_shape"}),
        (NAN, [1.0, 2.0, 3.0], {"nan"}),
        (NAN, None, {"nan", "no_previous"}),
    ],
)
def test_a_change_that_cannot_be_told(condition: str, parameters: dict, x: Any, previous: Any, error: set) -> None:
    check = stepscope.evaluate(condition, x, previous=previous, **parameters)
    assert (check.hit, check.reported, set(check.error)) == (False, True, error)
    assert all(one.actual is None for one in check.params)


def test_values_of_another_type_are_compared_as_numbers() -> None:
    """The original took the bytes of one type for those of the other."""
    check = stepscope.evaluate("weight_not_changed", ONE, previous=ONE.astype(np.float64), rtol=0.0, atol=0.0)
    assert check.hit
    assert stepscope.evaluate("weight_not_changed", ONE, previous=np.array([1, 2], np.int8), rtol=0.0).hit


def test_a_value_of_another_shape_is_compared_in_order() -> None:
    x = np.arange(6.0).reshape(2, 3)
    check = stepscope.evaluate("weight_not_changed", x, previous=np.asfortranarray(x).reshape(3, 2), rtol=0.0)
    assert check.hit
    assert not stepscope.evaluate("weight_not_changed", x, previous=x.T, rtol=0.0).hit


def test_an_unchanged_weight_shows_how_far_it_is_from_the_previous_one() -> None:
    check = stepscope.evaluate("weight_not_changed", [1.0, 2.000001], previous=[1.0, 2.0], rtol=1e-5)
    assert check.hit
    assert check.params[0].actual == pytest.approx(5e-7, rel=1e-3)


def test_epsilon_counts_where_it_is_given() -> None:
    def ratio(**more: float) -> float | None:
        check = stepscope.evaluate(
            "weight_change_too_large", [1.0], previous=[0.0], abs_mean_update_ratio_gt=0.1, **more
        )
        return check.params[0].actual

    assert ratio() == pytest.approx(1e9)
    assert ratio(epsilon=1.0) == 1.0
    assert ratio(epsilon=0.0) is None  # nothing to divide by
    assert not stepscope.evaluate(
        "weight_change_too_small", [0.0], previous=[0.0], abs_mean_update_ratio_lt=1, epsilon=0
    ).hit


# ---------------------------------------------------------------- when and what


def test_initial_weights_are_looked_at_in_the_initial_state_only() -> None:
    zeros = np.zeros(3)
    assert stepscope.evaluate("weight_initialization", zeros, initial=True, zero_percentage_ge=100).hit
    assert not stepscope.evaluate("weight_initialization", zeros, zero_percentage_ge=100).reported
    assert not stepscope.evaluate("tensor_all_zero", zeros, initial=True, zero_percentage_ge=100).reported


def test_tensors_without_elements_are_passed_over() -> None:
    assert not stepscope.evaluate("tensor_all_zero", [], zero_percentage_ge=0).reported
    check = stepscope.evaluate("tensor_all_zero", [], zero_percentage_ge=0, error_on_no_value=True)
    assert (check.hit, set(check.error), check.params) == (False, {"no_value"}, ())


def test_an_array_that_is_not_contiguous() -> None:
    x = np.arange(24.0).reshape(4, 6)[::2, ::-2]
    check = stepscope.evaluate("tensor_too_large", x, previous=x, max_gt=16, min_gt=1)
    assert [one.actual for one in check.params] == [x.max(), x.min()]


@pytest.mark.parametrize(
    ("condition", "parameters"),
    [
        ("tensor_huge", {}),
        ("tensor_too_large", {"max_lt": 1}),
        ("tensor_too_large", {"max_gt": math.nan}),
        ("tensor_too_large", {"max_gt": "high"}),
    ],
)
def test_evaluate_refuses_what_it_does_not_know(condition: str, parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"tensor_|number"):
        stepscope.evaluate(condition, ONE, **parameters)


@pytest.mark.parametrize("x", [np.array(["a"]), np.array([object()])])
def test_what_holds_no_numbers(x: np.ndarray) -> None:
    with pytest.raises(BadRequest):
        stepscope.evaluate("tensor_overflow", x)


def test_many_watchpoints_share_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each gets its own range and tolerance."""
    from stepscope.core.watch import plan as module

    passes = []
    measure = module.measure
    monkeypatch.setattr(module, "measure", lambda *all: passes.append(all) or measure(*all))
    low = {"range_start_inclusive": 0, "range_end_inclusive": 1, "range_percentage_gt": 10}
    high = low | {"range_start_inclusive": 2, "range_end_inclusive": 9}
    asked = [("tensor_range", low), ("activation_range", high), ("weight_not_changed", {"rtol": 0.1})]
    asked += [("weight_not_changed", {"rtol": 0.4}), ("tensor_range", low), ("tensor_overflow", {})]
    checks = Plan(asked).check(np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 3, 3]))
    assert [check.hit for check in checks] == [True, True, False, True, True, False]
    assert [checks[at].params[2].actual for at in (0, 1, 4)] == [25.0, 75.0, 25.0]
    assert len(passes) == 1


def test_nothing_is_measured_that_nobody_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the first step, only initial values are."""
    from stepscope.core.watch import plan as module

    monkeypatch.setattr(module, "measure", None)
    assert [check.hit for check in Plan([("tensor_overflow", {})]).check(NAN, initial=True)] == [False]


def test_figures_of_a_finite_tensor_are_not_measured_where_only_overflow_is_watched(monkeypatch) -> None:
    from stepscope.core.watch import plan as module

    monkeypatch.setattr(module, "measure", None)
    asked = [("tensor_overflow", {}), ("operator_overflow", {}), ("weight_overflow", {})]
    assert [check.hit for check in Plan(asked).check(np.ones((3, 4)).T)] == [False] * 3
    assert Plan(asked).check(np.empty(0))[0].reported is False


@pytest.mark.parametrize(("code", "hit"), [(0, True), (1, False), (13, True)])
def test_conditions_on_non_finite_values_take_thresholds_too(code: int, hit: bool) -> None:
    """No user's condition does, but old clients may send them: of NaN there is no mean, the maximum passes over it."""
    given = [Given("max_gt", 1.0), Given("mean_gt", 0.0), Given("nonsense", 1.0), Given("max_eq", 1.0)]
    (check,) = Plan.of_codes([(code, given)]).check(NAN)
    assert check.hit == hit
    assert [one.actual for one in check.params] == [1.0, None, None, 1.0]
    assert not any(one.hit for one in check.params)


# ---------------------------------------------------------------- arrays of the frameworks


class Torch:
    """As a tensor of PyTorch behaves that needs a gradient and may be of a type which numpy lacks."""

    def __init__(self, values: np.ndarray, dtype: str = "torch.float32", attached: bool = True) -> None:
        self._values, self.dtype, self._attached = values, dtype, attached

    def detach(self) -> Torch:
        return Torch(self._values, self.dtype, False)

    def cpu(self) -> Torch:
        return self

    def float(self) -> Torch:
        return Torch(self._values.astype(np.float32), attached=self._attached)

    def __array__(self, *args: Any, **more: Any) -> np.ndarray:
        if self._attached or "bfloat16" in self.dtype:
            raise TypeError("can't convert")
        return self._values


class MindSpore:
    def __init__(self, values: np.ndarray) -> None:
        self._values, self.dtype = values, "Float32"

    def asnumpy(self) -> np.ndarray:
        return self._values


@pytest.mark.parametrize("wrapped", [Torch(NAN), Torch(NAN, "torch.bfloat16"), MindSpore(NAN), NAN.tolist(), NAN])
def test_arrays_of_the_frameworks(wrapped: Any) -> None:
    assert stepscope.evaluate("tensor_overflow", wrapped).hit
    assert stepscope.evaluate("operator_overflow", NAN, inputs=[wrapped]).hit is False
    check = stepscope.evaluate("weight_not_changed", ONE, previous=wrapped, rtol=0.1)
    assert set(check.error) == {"previous_nan"}
    assert stepscope.stats(wrapped).nan_count == 1
    assert compare(wrapped, wrapped).current.nan_count == 1
