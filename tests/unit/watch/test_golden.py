"""The outcomes that were recorded from MindSpore's own library (see `golden`), all of them.

Where we deliberately do otherwise, the row is listed with the reason and with what we say.
"""

from __future__ import annotations

import math

import golden
import numpy as np
import pytest

import stepscope
from stepscope.core.tensors import stats
from stepscope.core.watch.conditions import CONDITIONS
from stepscope.core.watch.engine import Given
from stepscope.core.watch.overflow_files import overflowed
from stepscope.core.watch.plan import Plan
from stepscope.core.watch.records import Check

_PREVIOUS = "a previous value that can't be compared with is an error, not silence"
_HISTORY = "a missing history is no reason to leave the tensor itself unchecked"
_NAMED = "what is computed depends on the names of the parameters, not on their places"
_SUM = "the mean is that of the values, whatever the order of summing; 1.7e308 and -1.7e308 have 0, not -inf"

# Row → (reason, hit, errors, {parameter: (hit, actual)} where those differ)
CHANGED = {
    "wp-0181": (_SUM, True, set(), {"mean_gt": (False, 0.0)}),
    "wp-0269": (_SUM, False, set(), {"mean_lt": (False, 0.0)}),
    "wp-0303": (_HISTORY, True, set(), {}),
    "wp-0467": (_HISTORY, False, {"no_previous"}, {}),
    "wp-0354": (_PREVIOUS, False, {"previous_nan"}, {}),
    "wp-0355": (_PREVIOUS, False, {"previous_inf"}, {}),
    "wp-0356": (_PREVIOUS, False, {"previous_inf"}, {}),
    "wp-0401": (_PREVIOUS, False, {"previous_nan"}, {}),
    "wp-0402": (_PREVIOUS, False, {"previous_inf"}, {}),
    "wp-0446": (_PREVIOUS, False, {"previous_nan"}, {}),
    "wp-0447": (_PREVIOUS, False, {"previous_nan"}, {}),
    "wp-0449": (_PREVIOUS, False, {"previous_inf"}, {}),
    "wp-0462": (_PREVIOUS, False, {"previous_shape"}, {}),
    "wp-0834": (_PREVIOUS, False, {"previous_inf"}, {}),
    "wp-0560": (_NAMED, True, set(), {"mean_gt": (True, 5.0), "sd_lt": (True, 0.0)}),
    "wp-0561": (_NAMED, True, set(), {"mean_gt": (True, 2.0)}),
}
ROUNDED = ("mean", "sd", "abs_mean", "abs_mean_update_ratio")  # statistics that depend on the order of summing
OF_OLD_CLIENTS = {9: "mean", 10: "mean", 11: "sd", 12: "sd"}

WATCHPOINTS = golden.rows("watchpoint")
UNCHANGED = [row for row in WATCHPOINTS if row["id"] not in CHANGED]
BY_USERS = [
    row
    for row in WATCHPOINTS
    if row["ui_abbr"]
    and all(
        one["name"] in {known.name for known in condition.parameters}
        for condition in CONDITIONS.values()
        if condition.abbreviation == row["ui_abbr"][0]
        for one in row["params"]
    )
    and len({one["name"] for one in row["params"]}) == len(row["params"])
]


def _given(row: golden.Row) -> list[Given]:
    return [Given(one["name"], golden.number(one["value"]), bool(one["disabled"])) for one in row["params"]]


def _check(row: golden.Row) -> Check:
    current = golden.tensor(row["cur"])
    (check,) = Plan.of_codes([(row["condition_code"], _given(row))]).check(
        current,
        golden.previous(row, current),
        initial=row["step"] == "init",
        error_on_no_value=row["context"]["error_on_no_value"],
    )
    return check


def _expected_errors(row: golden.Row) -> set[str]:
    return {name for bit, name in golden.ERROR_BITS.items() if row["expect"]["error_code"] & bit}


@pytest.mark.parametrize("row", UNCHANGED, ids=[row["id"] for row in UNCHANGED])
def test_a_watchpoint_says_what_the_original_said(row: golden.Row) -> None:
    check, expected, loose = _check(row), row["expect"], set(row["fp_sensitive"])
    assert set(check.error) == _expected_errors(row)
    decided = {one["name"] for one in expected["params"] or () if one["hit"]} - loose
    if not loose or decided:
        assert (check.hit, check.reported) == (expected["hit"], expected["reported"])
    if not (check.reported and expected["reported"]):
        return
    assert [one.name for one in check.params] == [one["name"] for one in expected["params"]]
    for ours, theirs in zip(check.params, expected["params"], strict=True):
        if ours.name not in loose:
            assert ours.hit == theirs["hit"], ours.name
        _same_actual(row, ours.name, ours.actual, golden.number(theirs["actual_value"]))


def _same_actual(row: golden.Row, name: str, actual: float | None, expected: float) -> None:
    statistic = OF_OLD_CLIENTS.get(row["condition_code"], name.rpartition("_")[0])
    if name == "rtol":
        # The original shows nothing for an unchanged tensor; we show how far it is from the previous one.
        current = golden.tensor(row["cur"])
        before = golden.previous(row, current)
        if actual is not None:
            change = np.abs(current.astype(float) - before.astype(float)) / (np.abs(before.astype(float)) + 1e-9)
            assert actual == pytest.approx(change.max(), rel=1e-9, abs=1e-12)
    elif statistic in ROUNDED:
        assert math.isclose(actual or 0.0, expected, rel_tol=1e-9), name
    else:
        assert (actual or 0.0) == expected, name


@pytest.mark.parametrize("id", CHANGED)
def test_where_we_say_otherwise(id: str) -> None:
    (row,) = (row for row in WATCHPOINTS if row["id"] == id)
    _, hit, errors, params = CHANGED[id]
    check = _check(row)
    assert (check.hit, set(check.error)) == (hit, errors)
    assert check.reported == (hit or bool(errors))
    found = {one.name: (one.hit, one.actual) for one in check.params if one.actual is not None}
    assert {name: found[name] for name in params} == params
    theirs = row["expect"]
    differs = (theirs["hit"], theirs["reported"]) != (check.hit, check.reported)
    differs |= _expected_errors(row) != errors or bool(theirs["error_code"] & 16)
    differs |= any(
        (one["hit"], golden.number(one["actual_value"])) != params[one["name"]]
        for one in theirs["params"] or ()
        if one["name"] in params
    )
    assert differs, f"{id} needs no exception"


@pytest.mark.parametrize("row", BY_USERS, ids=[row["id"] for row in BY_USERS])
def test_evaluate_says_the_same(row: golden.Row) -> None:
    """For each condition of users that the row stands for, on its enabled parameters."""
    current = golden.tensor(row["cur"])
    by_code = _check(row)
    for condition in CONDITIONS.values():
        if condition.abbreviation not in row["ui_abbr"]:
            continue
        check = stepscope.evaluate(
            condition.id,
            current,
            previous=golden.previous(row, current),
            initial=row["step"] == "init",
            error_on_no_value=row["context"]["error_on_no_value"],
            **{one.name: one.value for one in _given(row) if not one.disabled},
        )
        assert (check.hit, check.error) == (by_code.hit, by_code.error)
        disabled = {one.name for one in _given(row) if one.disabled}
        assert list(check.params) == [one for one in by_code.params if one.name not in disabled]


def test_most_rows_are_of_conditions_that_users_have() -> None:
    assert len(BY_USERS) > 0.9 * len([row for row in WATCHPOINTS if row["ui_abbr"]])
    assert {abbreviation for row in BY_USERS for abbreviation in row["ui_abbr"]} == {
        condition.abbreviation for condition in CONDITIONS.values()
    }


OVERFLOWS = golden.rows("operator_overflow")


@pytest.mark.parametrize("row", OVERFLOWS, ids=[row["id"] for row in OVERFLOWS])
def test_operators_that_overflowed_on_ascend(row: golden.Row) -> None:
    step_files, mark = [], row["files"]["opdebug"]
    for one in row["files"]["ops"]:
        name = one["name"].rpartition("/")[2]
        task = f"{one['task_id']}.{one['stream_id']}.1700000000000000"
        step_files.append(f"{name.partition('-')[0]}.{name}.{task}.output.0.DefaultFormat.npy")
    marks = [f"Opdebug.Node_OpDebug.{mark['task_id']}.{mark['stream_id']}.1700000000000001"] if mark else []
    if mark and mark["dir"] == "step":
        found = overflowed(step_files + marks)
    else:
        found = overflowed(step_files, marks if mark else None)
    hits = [name for name in row["watch"] if name.rpartition("/")[2] in found]
    assert hits == [hit["name"] for hit in row["expect"]["hits"]]


STATS = golden.rows("stats")


@pytest.mark.parametrize("row", STATS, ids=[row["id"] for row in STATS])
def test_figures_of_a_tensor(row: golden.Row) -> None:
    """The original's counts, which have misleading names: `neg_zero_count` counts negative values. It is wrong about
    means from 20,000 elements on (`avg_wrong`); the true one is given."""
    ours, theirs = stats(golden.tensor(row["cur"])), row["expect"]
    assert (ours.count, ours.zero_count, ours.nan_count) == (theirs["count"], theirs["zero_count"], theirs["nan_count"])
    assert (ours.negative_inf_count, ours.positive_inf_count) == (theirs["neg_inf_count"], theirs["pos_inf_count"])
    assert ours.negative_count - ours.negative_inf_count == theirs["neg_zero_count"]
    assert ours.positive_count - ours.positive_inf_count == theirs["pos_zero_count"]
    if row["true_finite_mean"] is None:  # no finite value: the original keeps the figures that it started with
        assert all(map(math.isnan, (ours.min, ours.max, ours.mean)))
        return
    assert (ours.min, ours.max) == (theirs["min_value"], theirs["max_value"])
    assert ours.mean == pytest.approx(row["true_finite_mean"], rel=1e-9, abs=1e-12)
    if not row["avg_wrong"]:
        assert ours.mean == pytest.approx(golden.number(theirs["avg_value"]), rel=1e-9, abs=1e-12)
