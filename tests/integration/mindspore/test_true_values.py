"""The debugger changes nothing, and shows what is."""

from __future__ import annotations

from hashlib import sha256
from importlib import metadata

import numpy as np
import pytest
from flow import same, walk_back
from trainings import step_on

pytestmark = pytest.mark.mindspore

ALL = [
    "cell_loop.py",
    "model_fit.py",
    "jit_function.py",
    "gan.py",
    "mixed_precision.py",
    "control_flow.py",
    "dynamic_shape.py",
    "bfloat16.py",
    "worker_data.py",
    "capture_modes.py bytecode",
]


def needs_bfloat16(script: str) -> None:
    if script == "bfloat16.py" and metadata.version("mindspore").startswith("2.7."):
        pytest.skip("the CPU kernels of MindSpore 2.7 don't take bfloat16")


@pytest.mark.parametrize("script", ALL)
def test_losses_are_bit_identical_and_every_input_equals_its_producer(script, train, job):
    needs_bfloat16(script)
    alone = train(*script.split(), debug=False)
    debugged = train(*script.split())
    training = job()
    assert training.step == 0
    assert step_on(training, training.run) == "paused"
    assert training.step == 1
    assert step_on(training, training.next_node) == "paused"
    assert training.step == 2
    first = training.cursor
    assert first is not None
    assert first.position == 1
    assert step_on(training, training.run) == "paused"
    assert training.step == 3
    count = walk_back(training)
    assert count["nodes"] == first.count or script in ("gan.py", "control_flow.py", "dynamic_shape.py")
    assert count["equal"] > count["nodes"]
    unrecorded = {what for what in count if what.startswith("unrecorded")}
    assert unrecorded <= {"unrecorded constant"} or script == "control_flow.py", unrecorded
    assert step_on(training, training.resume) == "finished"
    assert debugged.wait() == 0
    assert alone.wait() == 0
    assert len(alone.printed("loss")) >= 3
    assert debugged.printed("loss") == alone.printed("loss")
    assert [line.split(";")[0] for line in debugged.said] == ["stepscope: paused before the first step"]


def test_weights_after_and_before_each_step(train, job):
    """`current` is what the script itself reads after the step, `previous` what it read after the step before."""
    script = train("cell_loop.py")
    training = job()
    shown = {0: training.tensor("fc1.weight")}
    for step in (1, 2, 3):
        step_on(training, training.run)
        shown[step] = training.tensor("fc1.weight")
        assert same(training.tensor("fc1.weight", when="previous"), shown[step - 1])
        comparison = training.compare("fc1.weight")
        assert comparison.changed_count == np.count_nonzero(shown[step] != shown[step - 1])
        assert comparison.current.max == shown[step].max()
    # Free for a step, then a pause: the step before the pause was not recorded, its weights are known all the same.
    step_on(training, lambda: training.run(2))
    shown[5] = training.tensor("fc1.weight")
    shown[4] = training.tensor("fc1.weight", when="previous")
    step_on(training, training.resume)
    assert script.wait() == 0
    printed = {int(line.split()[1]): line.split()[2] for line in script.printed("fc1.weight")}
    for step in (1, 2, 3, 4, 5):
        assert sha256(shown[step].tobytes()).hexdigest() == printed[step], step
    assert not same(shown[1], shown[2])


def test_an_optimizer_shows_the_new_value_of_its_parameter(train, job):
    train("model_fit.py")
    training = job()
    step_on(training, training.run)
    (update,) = [name for name in training.nodes("Adam-op") if training.node(name).inputs[0].node == "conv.weight"]
    for slot, parameter in enumerate(("conv.weight", "moment1.conv.weight", "moment2.conv.weight")):
        assert same(training.tensor(update, slot), training.tensor(parameter))
    assert training.stats(update).nan_count == 0
    training.terminate()


def test_bfloat16_is_shown_exactly(train, job):
    needs_bfloat16("bfloat16.py")
    train("bfloat16.py")
    training = job()
    before = training.tensor("scale")
    assert before.dtype == np.float32
    step_on(training, training.run)
    assert training.stats("scale").dtype == "bfloat16"
    assert same(before, training.tensor("scale"))
    assert np.array_equal(before.view(np.uint32) & 0xFFFF, np.zeros_like(before, np.uint32))
    training.terminate()


def test_every_node_of_a_transformer_can_be_read(train, job):
    train("encoder.py")
    training = job()
    step_on(training, training.run)
    order = training.execution(limit=10_000)
    assert order.total > 500
    assert len(training.nodes()) > 1000
    nodes = {(executed.graph, executed.node) for executed in order.nodes}
    for graph, name in nodes:
        for output in training.node(name, graph=graph).outputs:
            stats = training.stats(name, output.slot, graph=graph)
            if output.type.shape is not None:
                assert stats.shape == output.type.shape
    step_on(training, training.next_node)
    assert training.step == 2
    training.terminate()
