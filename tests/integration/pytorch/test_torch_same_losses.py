"""A training computes the same under the debugger as without, to the last bit, whatever one does with it there."""

from __future__ import annotations

import pytest
from trainings import COMPILE, step_on

pytestmark = pytest.mark.torch

KINDS = ("cnn", "lstm", "transformer", "gan", "lbfgs", "amp", "by_hand", "sparse", "groups", "per_sample")
STEPS = 200


@pytest.mark.parametrize("kind", KINDS)
def test_same_losses(kind: str, train, job) -> None:
    alone = train("kinds.py", kind, str(STEPS), debug=False)
    script = train("kinds.py", kind, str(STEPS))
    training = job()
    for _ in range(2):
        step_on(training, training.run)
    for _ in range(12):
        step_on(training, training.next_node)
    step_on(training, training.previous_node)
    target = training.nodes(category="gradient")[-1]
    step_on(training, lambda: training.run_to(target, before=True))
    assert training.cursor.node == target
    training.tensor(training.nodes(category="weight")[0])
    step_on(training, lambda: training.run(5))
    watchpoint = training.watch("tensor_overflow")
    step_on(training, lambda: training.run(3))
    watchpoint.delete()
    training.resume()
    assert training.wait(timeout=COMPILE) == "finished"
    assert script.wait() == alone.wait() == 0
    assert len(alone.printed("loss")) == STEPS
    assert script.out == alone.out
    assert training.step == STEPS
    assert script.complaints == []
