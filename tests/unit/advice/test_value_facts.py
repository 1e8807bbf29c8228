"""What values and inputs say: each kind of fact with its true numbers, and silence about healthy tensors."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from advice_samples import Trained, constant, data, key, op, parameter
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from stepscope.core.advice.fact import MOST, Fact, TensorName, worst_first
from stepscope.core.advice.guide import guide
from stepscope.core.advice.operations import LIMITS, overflow_start, plain
from stepscope.core.tensors.formats import FORMATS, decode

NAN, INF = float("nan"), float("inf")
NORMAL = np.random.default_rng(3).normal(size=(8, 6, 5)).astype(np.float32)


def facts(kind: str, output, *inputs, conditions=(), name: str = "net/node", more=()) -> list[Fact]:
    """Of the output of an operation of type `kind` with these inputs."""
    sources = [data(f"x{number}") for number in range(len(inputs))]
    trained = Trained(
        *sources,
        *more,
        op(name, kind, *(each.name for each in sources), *(each.name for each in more)),
        now={name: output, **{each.name: value for each, value in zip(sources, inputs, strict=True)}},
    )
    return list(asyncio.run(guide(trained.graph, key(name), trained, conditions)))


def kinds(found: list[Fact]) -> list[tuple[str, str]]:
    return [(fact.level, fact.kind) for fact in found]


# ---------------------------------------------------------------- healthy


def test_nothing_is_said_of_usual_values():
    assert facts("Add", NORMAL, NORMAL, NORMAL) == []
    assert facts("MatMul", NORMAL[0], NORMAL[0]) == []
    assert facts("Softmax", np.exp(NORMAL) / np.exp(NORMAL).sum(), NORMAL) == []
    assert facts("Log", np.log(np.abs(NORMAL)), np.abs(NORMAL)) == []


def test_a_usual_relu_is_not_alarming():
    """Half of it is zero, and so are some of its channels."""
    values = np.maximum(NORMAL, 0)
    assert facts("ReLU", values, NORMAL) == []
    values[:, 2] = 0
    (fact,) = facts("ReLU", values, NORMAL)
    assert (fact.kind, fact.level, fact.numbers) == ("zero_rows", "note", {"axis": 1, "zero": 1, "of": 6})


def test_whole_numbers_are_what_they_are():
    """Labels, masks and counters are full of zeros and of the same value."""
    for dtype in (np.int32, np.uint8, np.bool_):
        assert facts("OneHot", np.zeros((9, 4), dtype), NORMAL) == []
        assert facts("Equal", np.ones((30,), dtype), NORMAL) == []


@pytest.mark.parametrize("value", [3.0, np.zeros(()), np.zeros((0, 3)), [0.0]], ids=repr)
def test_single_numbers_and_empty_tensors(value):
    assert facts("Add", np.asarray(value, np.float32), NORMAL) == []


def test_filled_on_purpose():
    assert facts("OnesLike", np.ones((5, 5)), NORMAL) == []
    assert facts("Cast", (NORMAL > 0).astype(np.float32), NORMAL) == [], "a mask"


# ---------------------------------------------------------------- values


def test_the_first_that_is_not_finite():
    values = NORMAL.copy()
    values[3, 1, 2], values[3, 1, 4], values[7, 0, 0] = INF, NAN, -INF
    (first, *_) = facts("Add", values, NORMAL)
    assert (first.kind, first.level, first.position) == ("nonfinite_first", "bad", (3, 1, 2))
    assert first.numbers == {"count": 3, "total": 240, "nan": 1, "positive_inf": 1, "negative_inf": 1}


def test_a_mask_of_negative_infinity_is_meant():
    values = np.where(NORMAL > 0, NORMAL, -np.inf)
    assert facts("MaskedFill", values, NORMAL)[-1].level == "note"
    assert kinds(facts("MaskedFill", values, NORMAL, conditions=["tensor_overflow"]))[0] == ("bad", "nonfinite_first")


def test_zero_rows_and_channels():
    values = NORMAL.copy()
    values[[0, 4]] = 0
    values[:, 5] = 0
    found = {fact.numbers["axis"]: fact for fact in facts("Add", values, NORMAL)}
    assert found[0].numbers == {"axis": 0, "zero": 2, "of": 8}
    assert found[1].numbers == {"axis": 1, "zero": 1, "of": 6}
    assert {fact.level for fact in found.values()} == {"note"}


def test_all_zero():
    zeros = np.zeros((4, 6), np.float32)
    (fact,) = facts("ReLU", zeros, NORMAL)
    assert (fact.kind, fact.level, fact.numbers) == ("zero_share", "bad", {"zero": 24, "total": 24})
    assert kinds(facts("Mul", zeros, NORMAL)) == [("note", "zero_share")], "no layer: much of a graph is idle"


def test_many_zeros():
    values = np.zeros(100, np.float32)
    values[:9] = NORMAL.reshape(-1)[:9]
    (fact,) = facts("Add", values, NORMAL)
    assert (fact.kind, fact.level, fact.numbers) == ("zero_share", "note", {"zero": 91, "total": 100})
    values[:40] = 1 + NORMAL.reshape(-1)[:40] ** 2
    assert facts("Add", values, NORMAL) == []
    (fact,) = facts("Add", values, NORMAL, conditions=["tensor_all_zero"])
    assert (fact.kind, fact.level, fact.numbers) == ("zero_share", "bad", {"zero": 60, "total": 100})


def test_constant():
    (fact,) = facts("Sigmoid", np.full((3, 4), 0.5, np.float32), NORMAL)
    assert (fact.kind, fact.level, fact.numbers) == ("constant", "bad", {"value": 0.5})
    assert kinds(facts("Mul", np.full((3, 4), 0.5, np.float32), NORMAL)) == [("note", "constant")]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_near_the_limit(dtype):
    values = NORMAL.astype(dtype)
    values[0, 0, 0] = -0.95 * LIMITS[dtype]
    (fact,) = facts("Mul", values, NORMAL)
    assert (fact.kind, fact.level, fact.text) == ("near_limit", "bad", dtype)
    assert fact.numbers["limit"] == np.finfo(dtype).max
    assert fact.numbers["max_abs"] == pytest.approx(0.95 * LIMITS[dtype], rel=1e-3)
    values[0, 0, 0] = 0.89 * LIMITS[dtype]
    assert facts("Mul", values, NORMAL) == []
    values[0, 0, 0] = -LIMITS[dtype]
    assert kinds(facts("Mul", values, NORMAL)) == [("note", "near_limit")], "a mask, made on purpose"


def test_limits_are_those_of_the_types():
    for name, limit in LIMITS.items():
        if name in FORMATS:
            values = decode(np.arange(1 << 8 * FORMATS[name].itemsize).astype(FORMATS[name]), name)
            assert limit == values[np.isfinite(values)].max(), name
        else:
            assert limit == np.finfo(name).max, name


def test_saturated():
    values = np.tanh(40 * NORMAL)
    (fact,) = facts("Tanh", values, NORMAL)
    at_max, at_min = np.count_nonzero(values == 1), np.count_nonzero(values == -1)
    assert (fact.kind, fact.level) == ("saturated", "bad")
    assert fact.numbers == {"value": 1 if at_max > at_min else -1, "count": max(at_max, at_min), "total": 240}
    assert kinds(facts("Clip", np.clip(NORMAL, -0.2, 0.2), NORMAL)) == [("note", "saturated")]
    assert facts("Clip", np.clip(NORMAL, -2, 2), NORMAL) == []


# ---------------------------------------------------------------- inputs


def test_an_input_that_is_not_finite():
    broken = NORMAL.copy()
    broken[0, 0, :2] = NAN
    found = facts("Add", broken, NORMAL, broken)
    assert kinds(found) == [("bad", "nonfinite_first"), ("bad", "input_nonfinite")]
    assert found[1].numbers == {"input": 1, "count": 2, "total": 240}
    assert found[1].links == (TensorName("graph", "x1"),)
    assert kinds(facts("Maximum", NORMAL, NORMAL, broken)) == [("note", "input_nonfinite")], "it went no further"


ZEROS = np.abs(NORMAL) * (NORMAL > -1)
COUNT = int(np.count_nonzero(ZEROS == 0))


@pytest.mark.parametrize("kind", ["Log", "aten.log.default", "aten::log_", "Rsqrt", "Reciprocal", "Inv", "SqrtGrad"])
def test_zeros_that_an_operation_can_not_take(kind):
    output = np.where(ZEROS == 0, INF, NORMAL)
    found = facts(kind, output, ZEROS)
    assert kinds(found) == [("bad", "nonfinite_first"), ("bad", "all_inputs_finite"), ("bad", "input_zeros")]
    assert found[2].numbers == {"input": 0, "zero": COUNT, "total": 240}
    assert (found[2].text, found[2].links) == (kind, (TensorName("graph", "x0"),))


@pytest.mark.parametrize("kind", ["Div", "RealDiv", "FloorDiv", "Mod", "aten.div.Tensor", "rem"])
def test_zeros_to_divide_by(kind):
    output = np.where(ZEROS == 0, INF, NORMAL)
    assert ("bad", "input_zeros") in kinds(facts(kind, output, NORMAL, ZEROS))
    assert "input_zeros" not in [fact.kind for fact in facts(kind, NORMAL, ZEROS, NORMAL)]


def test_zeros_to_a_negative_power():
    output = np.where(ZEROS == 0, INF, NORMAL)
    assert "input_zeros" in [fact.kind for fact in facts("Pow", output, ZEROS, np.float32([-1]))]
    assert facts("Pow", NORMAL, ZEROS, np.float32([2])) == []


@pytest.mark.parametrize("kind", ["Log", "Sqrt", "Rsqrt", "aten.sqrt.default", "LogExt"])
def test_negative_values_that_an_operation_can_not_take(kind):
    output = np.where(NORMAL < 0, np.nan, 1).astype(np.float32)
    fact = next(fact for fact in facts(kind, output, NORMAL) if fact.kind == "input_negative")
    assert fact.numbers == {"input": 0, "negative": np.count_nonzero(NORMAL < 0), "total": 240}
    assert (fact.level, fact.text) == ("bad", kind)


def test_log1p_takes_some_negative_values():
    assert facts("Log1p", NORMAL, NORMAL / 9) == []
    with np.errstate(all="ignore"):
        found = {fact.kind: fact for fact in facts("Log1p", np.log1p(NORMAL), NORMAL)}
    assert found["input_negative"].numbers == {"input": 0, "negative": np.count_nonzero(NORMAL <= -1), "total": 240}


def test_why_a_relu_lets_nothing_through():
    found = facts("ReLU", np.zeros_like(NORMAL), -20 - np.abs(NORMAL))
    assert kinds(found) == [("bad", "input_negative"), ("bad", "zero_share")]
    assert found[0].numbers == {"input": 0, "negative": 240, "total": 240}


@pytest.mark.parametrize(("kind", "dtype"), [("Exp", "float32"), ("Sinh", "float16"), ("exp2", "float64")])
def test_values_whose_exponential_is_too_large(kind, dtype):
    start = overflow_start(plain(kind), dtype)
    values = NORMAL.copy()
    values[0, 0, 0] = 1.01 * start
    output = NORMAL.astype(dtype)
    output[0, 0, 0] = INF
    fact = next(fact for fact in facts(kind, output, values) if fact.kind == "input_large")
    assert (fact.level, fact.text) == ("bad", kind)
    assert fact.numbers == {"input": 0, "max": pytest.approx(1.01 * start)}
    values[0, 0, 0] = 0.99 * start
    assert facts(kind, NORMAL.astype(dtype), values) == []


@pytest.mark.parametrize("name", ["exp", "exp2", "expm1", "sinh", "cosh"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_where_exponentials_overflow(name, dtype):
    start = overflow_start(name, dtype)
    with np.errstate(over="ignore"):
        wide = getattr(np, name)(np.longdouble([0.999 * start, 1.001 * start]))
    assert [bool(one) for one in wide > LIMITS[dtype]] == [False, True]


def test_it_began_here_only_where_that_is_known():
    broken = NORMAL.copy()
    broken[0, 0, 0] = NAN
    assert ("bad", "all_inputs_finite") in kinds(facts("Cos", broken, NORMAL))
    assert "all_inputs_finite" not in [fact.kind for fact in facts("Cos", broken)], "nothing goes in"
    unknown = op("unknown", "Cast")
    assert "all_inputs_finite" not in [fact.kind for fact in facts("Add", broken, NORMAL, more=[unknown])]
    not_recorded = constant("c", None)
    assert ("bad", "all_inputs_finite") in kinds(facts("Add", broken, NORMAL, more=[not_recorded]))


# ---------------------------------------------------------------- together


@settings(deadline=None)
@given(
    arrays.arrays(
        st.sampled_from(["float16", "float32", "float64", "int64", "bool", "complex64"]),
        arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
    ),
    st.sampled_from(["Log", "Div", "ReLU", "Pow", "Exp", "Tanh", "MaskedFill", "Custom"]),
    st.sampled_from([(), ("tensor_all_zero",), ("weight_not_changed", "tensor_overflow")]),
)
def test_whatever_the_values_are(values, kind, conditions):
    """There are facts or not, never an error, the bad ones first, and all numbers are right in themselves."""
    found = facts(kind, values, values, values, conditions=conditions)
    assert len(found) <= MOST
    assert [fact.level for fact in found] == sorted(fact.level for fact in found)
    for fact in found:
        for part in ("count", "zero", "negative"):
            whole = fact.numbers.get("total", fact.numbers.get("of"))
            if part in fact.numbers:
                assert 0 <= fact.numbers[part] <= whole <= max(values.size, 4)
    first = next((fact.position for fact in found if fact.kind == "nonfinite_first"), None)
    bad = np.argwhere(~np.isfinite(values))
    assert (first is None) == (len(bad) == 0)
    if first is not None:
        assert first == tuple(bad[0])


def test_no_more_than_can_be_read():
    broken = np.full((3, 3), np.nan, np.float32)
    found = facts("AddN", broken, *[broken] * 40)
    assert len(found) == MOST
    assert found[0].kind == "nonfinite_first"
    assert worst_first(reversed(found))[0] == found[0]


async def test_what_has_no_value_has_no_facts():
    trained = Trained(parameter("w"), op("a", "Log", "w"), now={})
    assert await guide(trained.graph, key("a"), trained) == ()
    assert await guide(trained.graph, key("w"), trained) == ()
    assert await guide(trained.graph, key("a", input=0), trained) == ()
