"""What is passed over without figures has nothing to tell, and what a healthy training makes is passed over."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.core.graph import Graph
from stepscope.core.tensors import one_pass
from stepscope.core.watch.plan import Plan
from stepscope.core.watch.recommended import recommended

needs_kernel = pytest.mark.skipif(one_pass.native is None, reason="this installation was built without a C compiler")

ASKED = [
    ("tensor_overflow", {}),
    ("operator_overflow", {}),
    ("weight_initialization", {"zero_percentage_ge": 100.0}),
    ("gradient_vanishing", {"abs_mean_lt": 1e-3}),
    ("gradient_vanishing", {"abs_mean_lt": 1e-3, "max_lt": 1.0}),
    ("tensor_all_zero", {"zero_percentage_ge": 100.0}),
    ("tensor_all_zero", {"zero_percentage_ge": 20.0}),
    ("weight_not_changed", {"rtol": 1e-3}),
    ("weight_change_too_large", {"abs_mean_update_ratio_gt": 0.1, "epsilon": 0.05}),
    ("weight_change_too_small", {"abs_mean_update_ratio_lt": 1e-3}),
    ("tensor_too_large", {"abs_mean_gt": 1.0}),
]


@settings(deadline=None, max_examples=300)
@given(
    st.lists(st.sampled_from(ASKED), min_size=1, max_size=4),
    st.sampled_from(["float16", "float32", "float64", "int32", "bool", "complex64"]),
    st.integers(0, 70),
    st.integers(0, 9999),
    st.sampled_from([0.0, 1e-9, 1e-3, 1.0, 1e30]),
    st.sampled_from([0.0, 1e-12, 1e-4, 0.2, 5.0]),
    st.sampled_from([None, np.nan, np.inf]),
    st.booleans(),
)
def test_nothing_is_passed_over_that_would_be_reported(
    asked, dtype, size, seed, scale, change, bad, has_previous
) -> None:
    random = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        p = (random.standard_normal(size) * scale).astype(dtype)
        x = (p * (1 + change)).astype(dtype)
        if bad is not None and size and dtype.startswith("float"):
            (x if seed % 2 else p)[seed % size] = bad
    plan, previous = Plan(asked), p if has_previous else None
    with np.errstate(all="ignore"):
        quiet = plan.is_quiet(x, previous)
        assert not (quiet and any(check.reported for check in plan.check(x, previous, inputs_finite=lambda: True)))


@needs_kernel
def test_thresholds_are_kept_at_a_distance() -> None:
    x = np.full(1000, 0.5, np.float32)
    for condition, name, quiet, near in (
        ("gradient_vanishing", "abs_mean_lt", 0.49, 0.5),
        ("weight_change_too_large", "abs_mean_update_ratio_gt", 0.51, 0.5),
        ("weight_change_too_small", "abs_mean_update_ratio_lt", 0.49, 0.5),
        ("weight_not_changed", "rtol", 0.49, 0.5),
    ):
        assert Plan([(condition, {name: quiet})]).is_quiet(x * 1.5 if name != "abs_mean_lt" else x, x)
        assert not Plan([(condition, {name: near})]).is_quiet(x * 1.5 if name != "abs_mean_lt" else x, x)


@needs_kernel
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_a_healthy_weight_needs_no_figures_under_the_recommended_watchpoints(dtype, monkeypatch) -> None:
    of_weights = ("weight_initialization", "weight_change_too_large", "weight_change_too_small", "weight_not_changed")
    asked = [
        (one.condition, dict(one.parameters))
        for one in recommended([Graph("step", [])])
        if one.condition in (*of_weights, "tensor_overflow", "operator_overflow")
    ]
    assert len(asked) == 6
    p = np.random.default_rng(0).standard_normal((64, 33)).astype(dtype)
    x = p + np.asarray(0.01, dtype)
    assert Plan(asked).is_quiet(x.T, p.T)
    assert not Plan(asked).is_quiet(x, None)
    assert not Plan(asked).is_quiet(x, p[:2])
    assert not Plan(asked).is_quiet(p, p)
    x[3, 3] = np.nan
    assert not Plan(asked).is_quiet(x, p)


@needs_kernel
@pytest.mark.parametrize("name", ["plain", "avx2", "avx512"])
@pytest.mark.parametrize("size", [0, 1, 7, 31, 32, 33, 4096, 4097, 10_000])
def test_sums_of_sizes(name, size) -> None:
    kernel = one_pass.native
    if name not in kernel.instruction_sets():
        pytest.skip("this processor does not have them")
    random = np.random.default_rng(size)
    x, p = random.standard_normal((2, size, 2)).astype(np.float32)[:, :, 0]
    wide, before = x.astype(np.float64), p.astype(np.float64)
    truth = [np.abs(wide).sum(), np.abs(wide - before).sum(), np.abs(before).sum()]
    kernel.choose(name)
    try:
        for kind in ("float32", "float64"):
            assert one_pass.sizes(x.astype(kind), p.astype(kind), ("", "")) == pytest.approx(truth, rel=1e-12)
            assert one_pass.sizes(x.astype(kind), p, ("", "")) == pytest.approx(truth, rel=1e-12)
            assert one_pass.sizes(x.astype(kind), None, ("", ""))[0] == pytest.approx(truth[0], rel=1e-12)
    finally:
        kernel.choose(kernel.instruction_sets()[0])
    assert one_pass.sizes(np.ones(3, np.int32), None, ("", "")) is None
