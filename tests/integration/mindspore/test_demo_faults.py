"""The planted faults of the demo with the real MindSpore: the way back from any hit ends at the planted node, and the
guide says what is wrong there. The healthy demo has nothing bad to tell."""

from __future__ import annotations

import pytest

from stepscope.client.job import Job
from stepscope.demo import script

pytestmark = pytest.mark.mindspore

SECONDS = 120


@pytest.fixture
def stopped(train, job):
    """The demo with a fault, at the first hit of the recommended watchpoints."""

    def at_first_hit(bug: str) -> Job:
        train(script("mindspore"), "--bug", bug)
        training = job()
        training.use_recommended()
        training.resume()
        assert training.wait(SECONDS) == "paused"
        assert training.reason == "watchpoint"
        return training

    return at_first_hit


def kinds(training: Job, node: str) -> dict[str, str]:
    return {fact.kind: fact.level for fact in training.guide(node).facts}


def test_nan(stopped):
    training = stopped("nan")
    (loss,) = (hit for hit in training.hits() if hit.node.endswith("Neg-op0") and "Gradients/" not in hit.node)
    origin = training.origin(loss.node, watchpoint=loss.watchpoint)
    first = origin.path[0]
    assert (origin.found, first.op, first.why) == (True, "Log", "inf")
    assert "ops.log(probabilities)" in first.source.text
    assert origin.path[-1].node == loss.node
    assert origin == training.origin(loss.node, watchpoint=None), "the way is the same without a hit"
    facts = {fact.kind: fact for fact in training.guide(first.node).facts}
    assert {kind for kind, fact in facts.items() if fact.level == "bad"} == {
        *("nonfinite_first", "all_inputs_finite", "input_zeros")
    }
    zeros = training.stats(first.node, input=0).zero_count
    assert facts["input_zeros"].numbers["zero"] == zeros > 0
    for hit in training.hits():
        origin = training.origin(hit.node, hit.slot, watchpoint=hit.watchpoint)
        if not hit.error and hit.condition != "tensor_all_zero":
            # Backwards, the same zeros are divided by.
            assert (origin.path[0].op, origin.path[0].source.text) in {
                ("Log", first.source.text),
                ("Div", first.source.text),
            }, hit


def test_nan_in_the_steps_after(stopped):
    """All weights are NaN; the way leads through them into the step before."""
    training = stopped("nan")
    training.clear_watchpoints()
    training.run()
    training.wait(SECONDS)
    (loss,) = (node for node in training.nodes("*NaiveCrossEntropy/Neg-op0") if "Gradients/" not in node)
    origin = training.origin(loss)
    assert origin.path[0].op in ("Log", "Div")
    assert origin.path[0].step == training.step - 1
    assert origin.path[-1].step == training.step
    training.run()
    training.wait(SECONDS)
    first = training.origin(loss).path[0]
    assert (first.op, first.step) == ("Parameter", training.step - 1), "the values of the step with the fault are gone"


def test_a_frozen_layer(stopped):
    training = stopped("frozen")
    for hit in training.hits():
        origin = training.origin(hit.node, watchpoint=hit.watchpoint)
        assert (origin.reason, [each.node for each in origin.path]) == ("compares", ["conv2.weight"])
    assert kinds(training, "conv2.weight") == {"weight_no_update": "bad", "weight_unchanged": "bad"}
    assert kinds(training, "conv1.weight") == {}


def test_a_learning_rate_that_is_too_high(stopped):
    training = stopped("exploding")
    for hit in training.hits():
        origin = training.origin(hit.node, watchpoint=hit.watchpoint)
        assert (origin.reason, [each.node for each in origin.path]) == ("compares", [hit.node])
        (fact,) = training.guide(hit.node).facts
        assert (fact.kind, fact.level) == ("update_ratio", "bad")
        assert fact.numbers == {"ratio": training.compare(hit.node).update_ratio}


def test_a_dead_relu(stopped):
    training = stopped("dead-relu")
    (relu,) = (node for node in training.nodes("*ReLU-op2") if "Gradients/" not in node)
    for hit in training.hits():
        origin = training.origin(hit.node, watchpoint=hit.watchpoint)
        if origin.reason == "compares":
            assert kinds(training, hit.node)["weight_zero_gradient"] == "bad"
        else:
            assert origin.path[0].node == relu, hit
    assert kinds(training, relu) == {"input_negative": "bad", "zero_share": "bad"}


def test_a_healthy_training(train, job):
    train(script("mindspore"))
    training = job()
    for steps in (1, 20):
        training.run(steps)
        training.wait(SECONDS)
        told = {}
        for node in training.nodes():
            if node.kind != "constant":
                told[node] = training.guide(node).facts
                assert training.origin(node).reason in ("no_fault", "no_values")
        assert [node for node, facts in told.items() if any(fact.level == "bad" for fact in facts)] == []
        assert sum(map(len, told.values())) < len(told) / 3
