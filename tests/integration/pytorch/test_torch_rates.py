"""The learning rate of a real training that changes it: what is shown is said to be of the step that it is of."""

from __future__ import annotations

import pytest
from trainings import step_on, until

pytestmark = pytest.mark.torch


def test_a_changing_learning_rate(train, job) -> None:
    train("rates.py")
    training = job()
    step_on(training, lambda: training.run(2))
    update = training.nodes("weight/aten.add_")[0]

    def check(step: int) -> None:
        node = training.node(update)
        assert (node.attributes_step, node.attributes["alpha"]) == (step, pytest.approx(-0.1 * step))

    check(2)
    step_on(training, lambda: training.run(5))
    check(7)
    step_on(training, lambda: training.run_to(update, before=True))
    check(8)
    step_on(training, training.run)
    step_on(training, training.next_node)
    assert training.step == 9
    node = training.node(update)  # which has not run in this step
    assert node.attributes_step < 9
    check(node.attributes_step)
    training.resume()
    until(lambda: training.step > 20)
    assert training.node(update).attributes_step is None
    training.pause()
    assert training.wait(60) == "paused"
    check(training.step)
