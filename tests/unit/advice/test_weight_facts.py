"""What is said of weights that don't learn, and of gradients that shrink or grow from layer to layer."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from advice_samples import Trained, constant, data, key, op, parameter
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.core.advice.fact import Fact, TensorName
from stepscope.core.advice.gradients import Run, steepest_run
from stepscope.core.advice.guide import guide
from stepscope.core.graph import NodeRecord

BEFORE = np.random.default_rng(5).normal(size=(4, 6)).astype(np.float32)
AFTER = BEFORE * np.float32(1.001)
GRADIENT = np.random.default_rng(6).normal(size=(4, 6)).astype(np.float32)
FORGOTTEN = [
    data("x"),
    parameter("w"),
    parameter("v"),
    op("net/a", "MatMul", "x", "w"),
    op("net/b", "MatMul", "net/a", "v"),
]


def update(weight: str) -> NodeRecord:
    inputs = (weight, weight, "rate", f"Gradients/{weight}", "rate")
    return op(f"optimizer/{weight}", "ApplyMomentum", *inputs, outputs=2)


def training(now: Any = AFTER, before: Any = BEFORE, gradient: Any = GRADIENT, forgotten: bool = False) -> Trained:
    """Of the weights w and v, where v is always updated."""
    return Trained(
        *FORGOTTEN,
        constant("rate", 0.1),
        op("Gradients/w", "MatMul", "net/b", "x"),
        op("Gradients/v", "MatMul", "net/b", "net/a"),
        update("v"),
        *([] if forgotten else [update("w")]),
        now={"w": now, "Gradients/w": gradient, "x": GRADIENT, "net/a": GRADIENT, "net/b": GRADIENT},
        before={"w": before},
    )


def facts(trained: Trained, node: str = "w", slot: int = 0, **more: Any) -> list[Fact]:
    return list(asyncio.run(guide(trained.graph, key(node, slot), trained, **more)))


def kinds(found: list[Fact]) -> list[tuple[str, str]]:
    return [(fact.level, fact.kind) for fact in found]


def test_a_weight_that_learns():
    assert facts(training()) == []
    assert facts(training(now=BEFORE + 1e-7 * AFTER)) != [], "hardly"


def test_a_weight_that_was_forgotten():
    """Also on the output of the optimizer that stands for it."""
    found = facts(training(now=BEFORE, forgotten=True))
    assert kinds(found) == [("bad", "weight_no_update"), ("bad", "weight_unchanged")]
    assert found[1].numbers == {"unchanged": 24, "total": 24}


def test_an_optimizer_in_another_graph():
    trained = training(forgotten=True)
    trained.updated_elsewhere = {"w"}
    assert facts(trained) == []


def test_an_evaluation_updates_nothing():
    trained = Trained(*FORGOTTEN, now={"w": BEFORE}, before={"w": BEFORE})
    assert facts(trained) == []


def test_a_weight_that_an_assignment_updates():
    trained = Trained(*FORGOTTEN, op("net/new", "Mul", "w", "x"), op("net/set", "Assign", "w", "net/new"),
                      now={"w": AFTER}, before={"w": BEFORE})  # fmt: skip
    assert facts(trained) == []


def test_a_gradient_of_zeros():
    found = facts(training(now=BEFORE, gradient=np.zeros_like(GRADIENT)))
    assert kinds(found) == [("bad", "weight_zero_gradient"), ("bad", "weight_unchanged")]
    assert found[0].links == (TensorName("graph", "Gradients/w"),)
    assert facts(training(now=BEFORE, gradient=np.zeros_like(GRADIENT)), "optimizer/w")[0] == found[0]


def test_half_of_it_unchanged():
    now = AFTER.copy()
    now[:2] = BEFORE[:2]
    (fact,) = facts(training(now=now))
    assert (fact.kind, fact.level, fact.numbers) == ("weight_unchanged", "note", {"unchanged": 12, "total": 24})
    now[:2, :3] = AFTER[:2, :3]
    assert facts(training(now=now)) == []


@pytest.mark.parametrize(("factor", "level"), [(1.3, "note"), (5.0, "bad"), (1 + 2e-8, "note")])
def test_the_size_of_an_update(factor, level):
    now = BEFORE.astype(np.float64) * factor
    before = BEFORE.astype(np.float64)
    (fact,) = facts(training(now=now, before=before))
    assert (fact.kind, fact.level) == ("update_ratio", level)
    assert fact.numbers == {"ratio": pytest.approx(abs(factor - 1), rel=1e-6)}


def test_a_usual_update_is_told_where_a_watchpoint_asks_for_it():
    (fact,) = facts(training(), conditions=["weight_change_too_small"])
    assert (fact.kind, fact.level) == ("update_ratio", "note")
    assert fact.numbers["ratio"] == pytest.approx(0.001, rel=1e-3)


def test_what_starts_as_zeros_may_change_at_once():
    assert facts(training(before=np.zeros_like(BEFORE), now=0.01 * GRADIENT)) == []
    assert facts(training(before=0.001 * BEFORE, now=0.003 * BEFORE)) == []


# ---------------------------------------------------------------- gradients


def layers(*sizes: float) -> Trained:
    """A network whose weights have gradients of these sizes, from the input of the network to its output."""
    records, values, value = [data("x"), constant("rate", 0.1)], {}, "x"
    for number in range(len(sizes)):
        weight, bias = f"w{number}", f"b{number}"
        records += [parameter(weight), parameter(bias, (3,))]
        records.append(op(f"net/mul{number}", "MatMul", value, weight))
        records.append(op(f"net/add{number}", "BiasAdd", f"net/mul{number}", bias))
        value = f"net/add{number}"
    gradient = value
    for number in reversed(range(len(sizes))):
        records.append(op(f"Gradients/w{number}", "MatMul", gradient, f"net/mul{number}"))
        records.append(op(f"Gradients/b{number}", "BiasAddGrad", gradient))
        records.append(op(f"Gradients/x{number}", "MatMul", gradient, f"w{number}"))
        gradient = f"Gradients/x{number}"
    for number, size in enumerate(sizes):
        shape = (4, 4 * (number + 1))
        values[f"Gradients/w{number}"] = size * (1 - 2 * (np.indices(shape).sum(0) % 2))  # of mean 0
        values[f"Gradients/b{number}"] = np.full(4, 1e9)
        values[f"Gradients/x{number}"] = size * BEFORE
        for one in ("w", "b"):
            records.append(update(f"{one}{number}"))
    return Trained(*records, now=values)


def trend(trained: Trained, node: str, **more: Any) -> Fact | None:
    return next((fact for fact in facts(trained, node, **more) if fact.kind == "gradient_trend"), None)


def test_gradients_that_vanish_on_their_way_back():
    """From layer 5, which is nearest to the output, to layer 1; before that they rise again."""
    trained = layers(1e-4, 1e-7, 1e-5, 1e-4, 1e-2, 1.0, 0.5)
    fact = trend(trained, "Gradients/w3")
    assert fact is not None
    assert fact.level == "bad"
    assert fact.numbers == {"ratio_exponent": pytest.approx(-7), "layers": 5}
    assert fact.links == tuple(TensorName("graph", f"Gradients/w{number}") for number in (5, 4, 3, 2, 1))
    assert trend(trained, "Gradients/x4") == fact, "which goes to the weight of layer 3"
    assert trend(trained, "Gradients/b3") == fact, "of the same layer"
    turn = trend(trained, "Gradients/w1")
    assert turn is not None
    assert turn.links == fact.links, "the steeper way of the two"


def test_gradients_that_explode():
    fact = trend(layers(1e4, 1e2, 1.0, 1.5), "Gradients/w1")
    assert fact is not None
    assert (fact.level, fact.numbers) == ("note", {"ratio_exponent": pytest.approx(4), "layers": 3})
    hit = trend(layers(1e4, 1e2, 1.0, 1.5), "Gradients/w1", conditions=["gradient_too_large"])
    assert hit is not None
    assert hit.level == "bad"


def test_healthy_gradients_say_nothing():
    trained = layers(0.02, 0.03, 0.01, 0.005, 0.1, 0.4)
    assert all(trend(trained, f"Gradients/{name}{number}") is None for name in "wbx" for number in range(6))
    assert trend(layers(1e-9, 1.0), "Gradients/w0") is None, "two layers are no trend"
    assert trend(trained, "net/mul3") is None, "no gradient"


def test_zeros_of_rows_that_a_batch_did_not_touch_do_not_count():
    trained = layers(1.0, 0.9, 0.8)
    sparse = np.zeros((10_000, 10))
    sparse[3] = 1.0
    trained.values["current"]["Gradients/w0"] = sparse
    assert trend(trained, "Gradients/w0") is None


def test_a_layer_that_is_not_known_ends_the_run():
    trained = layers(1e-9, 1e-7, 1e-5, 1e-3, 1e-1)
    trained.values["current"]["Gradients/w1"] = np.full((4, 4), np.nan)
    fact = trend(trained, "Gradients/w3")
    assert fact is not None
    assert fact.numbers["layers"] == 3
    assert trend(trained, "Gradients/w0") is None


def test_a_deep_network_is_asked_for_as_far_as_needed():
    trained = layers(*(10.0 ** (-number / 4) for number in range(60)))
    fact = trend(trained, "Gradients/w30")
    assert fact is not None
    assert fact.numbers == {"ratio_exponent": pytest.approx(59 / 4), "layers": 60}


@settings(deadline=None)
@given(st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=12), st.data())
def test_the_run_is_the_longest_of_its_kind(norms, draws):
    at = draws.draw(st.integers(0, len(norms) - 1))
    found = steepest_run(dict(enumerate(norms)), at)
    runs = []
    for first in range(at + 1):
        for last in range(at, len(norms)):
            part = norms[first : last + 1]
            if part in (sorted(part), sorted(part, reverse=True)):
                runs.append(Run(first, last, np.log10(norms[first] / norms[last])))
    assert found is not None
    assert found in [Run(each.first, each.last, pytest.approx(each.exponent, abs=1e-9)) for each in runs]
    assert abs(found.exponent) == pytest.approx(max(abs(each.exponent) for each in runs), abs=1e-9)
