"""The way back from a bad tensor ends at the node that was planted, whatever lies between."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import numpy as np
import pytest
from advice_samples import Trained, constant, data, hit, key, op, parameter
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.core.advice.origin import Origin, trace
from stepscope.core.watch.records import ParameterCheck

NAN, INF = float("nan"), float("inf")
LENGTH = 50


def names(origin: Origin) -> list[str]:
    return [each.node for each in origin.path]


def chain(planted: int, value: float, turn: int, side: dict[int, tuple[int, ...]]) -> Trained:
    """Fifty nodes, each reading the one before and those in `side`; what node `planted` puts out has `value` in it,
    and from node `turn` on infinities are NaN."""
    records, values = [data("x")], {"x": [1.0, 2.0]}
    for number in range(LENGTH):
        sources = ["x" if number == 0 else f"n{number - 1}", *(f"n{one}" for one in side.get(number, ()))]
        records.append(op(f"n{number}", "Add", *sources, line=number + 1))
        made = np.sum([values[one] for one in sources], axis=0) / len(sources)
        if number == planted:
            made = np.array([made[0], value])
        if number >= turn:
            made = np.where(np.isinf(made), NAN, made)
        values[f"n{number}"] = made
    return Trained(*records, now=values)


@settings(deadline=None)
@given(st.data())
def test_a_chain_of_fifty_nodes(draws):
    """The hit is on the last alone; the others are read across, too."""
    planted = draws.draw(st.integers(0, LENGTH - 1))
    value = draws.draw(st.sampled_from([NAN, INF, -INF]))
    turn = draws.draw(st.integers(planted + 1, LENGTH))
    side = {
        number: tuple(draws.draw(st.lists(st.integers(0, number - 1), max_size=3)))
        for number in draws.draw(st.lists(st.integers(1, LENGTH - 1), max_size=20))
    }
    trained = chain(planted, value, turn, side)
    last = f"n{LENGTH - 1}"
    origin = asyncio.run(trace(trained.graph, key(last), trained.stats, [hit(last)]))
    assert (origin.found, origin.reason) == (True, "")
    path = [int(one[1:]) for one in names(origin)]
    assert path[0] == planted
    assert path[-1] == LENGTH - 1
    assert all(before < after for before, after in pairwise(path))
    assert origin.path[0].why == ("inf" if np.isinf(value) else "nan")
    assert [each.watchpoints for each in origin.path] == [()] * (len(path) - 1) + [(1,)]
    assert origin.path[0].source.line == planted + 1
    assert names(asyncio.run(trace(trained.graph, key(last), trained.stats))) == names(origin), "no hit is needed"


async def test_it_begins_where_all_inputs_are_fine():
    trained = chain(LENGTH - 1, NAN, LENGTH, {})
    assert names(await trace(trained.graph, key("n49"), trained.stats)) == ["n49"]
    assert await trace(trained.graph, key("n48"), trained.stats) == Origin(False, "no_fault")


async def test_a_tensor_without_a_value():
    trained = Trained(op("a", "Log"), now={})
    assert await trace(trained.graph, key("a"), trained.stats, [hit("a")]) == Origin(False, "no_values")


async def test_nan_goes_before_infinities_that_were_meant():
    """A mask of -inf is read as well."""
    trained = Trained(
        data("x"),
        op("mask", "MaskedFill", "x"),
        op("root", "Sqrt", "x"),
        op("sum", "Add", "mask", "root"),
        op("softmax", "Softmax", "sum"),
        now={"x": [1, -1], "mask": [0, -INF], "root": [1, NAN], "sum": [1, NAN], "softmax": [NAN, NAN]},
    )
    assert names(await trace(trained.graph, key("softmax"), trained.stats)) == ["root", "sum", "softmax"]


async def test_a_constant_is_not_to_blame():
    trained = Trained(
        data("x"), constant("c", -INF), op("add", "Add", "x", "c"), now={"x": [1], "c": [-INF], "add": [-INF]}
    )
    assert names(await trace(trained.graph, key("add"), trained.stats)) == ["add"]


async def test_the_data_may_be_to_blame():
    trained = Trained(data("x"), op("a", "Add", "x", "x"), now={"x": [NAN], "a": [NAN]})
    origin = await trace(trained.graph, key("a"), trained.stats)
    assert names(origin) == ["x", "a"]
    assert origin.path[0].op == "Input"


def training(now, before=None, read=None) -> Trained:
    """loss = Log(w x); the gradient of w is made from both."""
    return Trained(
        data("x"),
        parameter("w"),
        parameter("m"),
        constant("rate", 0.1),
        op("net/mul", "Mul", "x", "w", line=1),
        op("net/loss", "Log", "net/mul", line=2),
        op("Gradients/mul", "Div", "net/loss", "w"),
        op("optimizer/apply", "ApplyMomentum", "w", "m", "rate", "Gradients/mul", "rate", outputs=2),
        now=now,
        before=before,
        read=read,
    )


FINE = {"x": [1], "w": [1], "m": [1], "rate": [0.1], "net/mul": [1], "net/loss": [1], "Gradients/mul": [1]}
READ = {(node, index, when): [1] for node, index in (("net/mul", 1), ("Gradients/mul", 1), ("optimizer/apply", 0),
        ("optimizer/apply", 1)) for when in ("current", "previous")}  # fmt: skip


async def test_a_parameter_is_what_its_gradient_made_of_it():
    bad = {"net/loss": [NAN], "Gradients/mul": [NAN], "w": [NAN], "m": [NAN]}
    trained = training(FINE | bad, before=FINE, read=READ)
    assert names(await trace(trained.graph, key("w"), trained.stats)) == ["net/loss", "Gradients/mul", "w"]
    applied = {("optimizer/apply", 0): [NAN]}
    trained = training(FINE | bad | applied, before=FINE, read=READ)
    expected = ["net/loss", "Gradients/mul", "optimizer/apply"]
    assert names(await trace(trained.graph, key("optimizer/apply"), trained.stats)) == expected


async def test_a_parameter_that_its_optimizer_made_bad_by_itself():
    bad = {"w": [INF], "optimizer/apply": [INF]}
    trained = training(FINE | bad, before=FINE, read=READ)
    assert names(await trace(trained.graph, key("w"), trained.stats)) == ["optimizer/apply", "w"]


async def test_a_parameter_updated_in_the_step_before():
    """All of this step is bad, since the weight was when it was read; the way goes on in the step before."""
    everything = {node: [NAN] for node in ("w", "m", "net/mul", "net/loss", "Gradients/mul")}
    seen = {place: [NAN] for place in READ if place[2] == "current"}
    before = FINE | {"Gradients/mul": [INF], "w": [NAN], "m": [NAN]}
    trained = training(FINE | everything, before, READ | seen)
    origin = await trace(trained.graph, key("net/loss"), trained.stats, [hit("net/loss")])
    assert names(origin) == ["Gradients/mul", "w", "net/mul", "net/loss"]
    assert [each.step for each in origin.path] == [6, 6, 7, 7]
    assert [each.why for each in origin.path] == ["inf", "nan", "nan", "nan"]
    trained = training(FINE | everything, {"w": [NAN]}, READ | seen)
    assert names(await trace(trained.graph, key("net/loss"), trained.stats)) == ["w", "net/mul", "net/loss"]
    trained = training(FINE | everything, {}, seen)
    assert names(await trace(trained.graph, key("Gradients/mul"), trained.stats)) == ["w", "Gradients/mul"]


async def test_what_has_no_value_is_passed_through():
    trained = Trained(
        data("x"),
        op("log", "Log", "x"),
        op("gone", "Cast", "log"),
        op("also", "Cast", "gone"),
        op("end", "Add", "also", "x"),
        op("fine", "Add", "x"),
        op("unknown", "Cast", "fine"),
        op("other", "Log", "unknown"),
        now={"x": [1], "log": [NAN], "end": [NAN], "fine": [1], "other": [NAN]},
    )
    assert names(await trace(trained.graph, key("end"), trained.stats)) == ["log", "gone", "also", "end"]
    assert names(await trace(trained.graph, key("other"), trained.stats)) == ["other"]


async def test_a_circle_ends():
    trained = Trained(op("a", "Add", "b"), op("b", "Add", "a"), now={"a": [NAN], "b": [NAN]})
    assert names(await trace(trained.graph, key("a"), trained.stats)) == ["b", "a"]


async def test_an_input_of_a_node():
    trained = chain(10, NAN, LENGTH, {})
    origin = await trace(trained.graph, key("n20", input=0), trained.stats)
    assert names(origin) == [f"n{number}" for number in range(10, 20)]


# ---------------------------------------------------------------- in the way of a hit


def zeros() -> Trained:
    return Trained(
        data("x"),
        op("bias", "BiasAdd", "x"),
        op("relu", "ReLU", "bias"),
        op("pool", "MaxPool", "relu"),
        now={"x": [1, 2], "bias": [-20, -19], "relu": [0, 0], "pool": [0, 0]},
    )


async def test_zeros_come_from_the_first_node_that_made_them():
    trained, zero = zeros(), ParameterCheck("zero_percentage_ge", 100.0, True, 100.0)
    found = hit("pool", "tensor_all_zero", zero)
    origin = await trace(
        trained.graph, key("pool"), trained.stats, [found, hit("relu", "tensor_overflow", watchpoint=2)]
    )
    assert names(origin) == ["relu", "pool"]
    assert [(each.why, each.watchpoints) for each in origin.path] == [("hit", (2,)), ("hit", (1,))]
    assert await trace(trained.graph, key("pool"), trained.stats) == Origin(False, "no_fault")


async def test_a_hit_of_another_step_says_nothing_of_these_values():
    trained, zero = zeros(), ParameterCheck("zero_percentage_ge", 100.0, True, 100.0)
    old = hit("pool", "tensor_all_zero", zero, step=3)
    assert await trace(trained.graph, key("pool"), trained.stats, [old]) == Origin(False, "no_fault")


async def test_which_hit_is_meant():
    trained = zeros()
    small = hit("pool", "tensor_too_small", ParameterCheck("max_lt", 1.0, True, 0.0), watchpoint=5)
    smaller = hit("pool", "tensor_too_small", ParameterCheck("min_lt", 100.0, True, 0.0), watchpoint=6)
    for number, first in ((5, "bias"), (6, "x")):
        origin = await trace(trained.graph, key("pool"), trained.stats, [small, smaller], number)
        assert names(origin)[0] == first
    assert await trace(trained.graph, key("pool"), trained.stats, [small], 99) == Origin(False, "no_fault")


async def test_a_hit_of_figures_that_only_the_check_has():
    """How many values lie in a range is not among them; that the same watchpoint hit there, too, is known."""
    trained, share = zeros(), ParameterCheck("range_percentage_gt", 99.0, True, 100.0)
    hits = [hit(node, "activation_range", share) for node in ("relu", "pool")]
    assert names(await trace(trained.graph, key("pool"), trained.stats, hits)) == ["relu", "pool"]


@pytest.mark.parametrize("condition", ["weight_not_changed", "weight_change_too_large", "weight_change_too_small"])
async def test_a_change_is_no_matter_of_where_a_value_comes_from(condition):
    trained = training(FINE, FINE, READ)
    origin = await trace(trained.graph, key("w"), trained.stats, [hit("w", condition)])
    assert (origin.found, origin.reason, names(origin)) == (True, "compares", ["w"])
    assert origin.path[0].why == "hit"
    assert origin.path[0].source.line == 1, "of what reads it"


async def test_a_change_that_could_not_be_told_for_nan():
    bad = {"net/loss": [NAN], "Gradients/mul": [NAN], "w": [NAN]}
    trained = training(FINE | bad, before=FINE, read=READ)
    unevaluated = hit("w", "weight_not_changed", error=frozenset({"nan"}))
    origin = await trace(trained.graph, key("w"), trained.stats, [unevaluated], 1)
    assert names(origin) == ["net/loss", "Gradients/mul", "w"]


async def test_a_large_weight_is_followed_to_its_gradient_only():
    """It was large in the step before, too, and so is its momentum: no news."""
    bad = {"w": [9], "m": [9], "Gradients/mul": [9], "net/loss": [0]}
    trained = training(FINE | bad, FINE | bad, {place: [9] for place in READ})
    large = hit("w", "weight_too_large", ParameterCheck("max_gt", 5.0, True, 9.0))
    assert names(await trace(trained.graph, key("w"), trained.stats, [large])) == ["Gradients/mul", "w"]
