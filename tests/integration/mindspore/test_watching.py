"""Watchpoints on real trainings: healthy ones run through, unchanged, and a hit says what is true."""

from __future__ import annotations

import pytest
from test_true_values import needs_bfloat16

pytestmark = pytest.mark.mindspore


@pytest.mark.parametrize(
    "script", ["model_fit.py", "jit_function.py", "mixed_precision.py", "bfloat16.py", "worker_data.py"]
)
def test_a_healthy_training_runs_through_and_learns_the_same(script, train, job):
    needs_bfloat16(script)
    alone = train(script, debug=False)
    debugged = train(script)
    training = job()
    assert len(training.use_recommended()) >= 5
    training.resume()
    assert training.wait(120) == "finished", training.hits()
    assert debugged.wait() == 0
    assert alone.wait() == 0
    assert len(alone.printed("loss")) >= 3
    assert debugged.printed("loss") == alone.printed("loss")


def test_a_hit_on_each_step_with_what_the_tensors_say(train, job):
    train("cell_loop.py")
    training = job()
    training.watch("tensor_too_large", abs_mean_gt=0)
    training.watch("weight_change_too_large", abs_mean_update_ratio_gt=0)
    for step in (1, 2):
        training.resume()
        assert training.wait(60) == "paused"
        assert (training.step, training.reason) == (step, "watchpoint")
        hits = training.hits()
        positions = [hit.position for hit in hits]
        assert positions == sorted(positions)
        order = training.execution(0, 10_000)
        ran = {(each.graph, each.node) for each in order.nodes}
        found = {"tensor_too_large": 0, "weight_change_too_large": 0}
        for hit in hits:
            assert not hit.error
            (param,) = hit.params
            if hit.condition == "tensor_too_large":
                expected = training.stats(hit.node, hit.slot, graph=hit.graph).abs_mean
                assert (hit.graph, hit.node) in ran or hit.position in (0, order.total)
            else:
                expected = training.compare(hit.node, hit.slot, graph=hit.graph).update_ratio
            assert param.actual == pytest.approx(expected, rel=1e-9)
            found[hit.condition] += 1
        assert found["tensor_too_large"] > 20
        assert found["weight_change_too_large"] == len(training.nodes(category="weight"))
    training.clear_watchpoints()
    training.run()
    assert training.wait(60) == "paused"
    assert training.reason == "step"
