"""What a recording has not: other steps, the values in between, nodes that ran several times or not at all."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from small_training import DATA, GRAPH, PRODUCT, WEIGHT, array, key, record, why_not

from stepscope.core.errors import BadRequest, NotAvailable, UnknownNode
from stepscope.core.ports import ExecutedNode
from stepscope.replay.mindspore import recording as module
from stepscope.testing.dumps import DumpFolder

# ------------------------------------------------------------ the step before


def test_the_step_before(recording):
    assert (array(recording, "Default/net/MatMul-op0", when="previous") == PRODUCT).all()
    tensor = recording.tensor(key("fc.weight", when="previous"))
    assert (tensor.array == WEIGHT).all()
    assert tensor.step == 3


def save_copy(dump: DumpFolder, step: int, value: np.ndarray, dtype: str = "float32") -> None:
    folder = dump.path / module.BEFORE / str(step)
    folder.mkdir(parents=True)
    np.save(folder / "0.npy", value)
    entry = {"name": "fc.weight", "dtype": dtype, "shape": value.shape, "file": "0.npy", "own": True}
    (folder / "index.json").write_text(json.dumps([entry]))


def test_a_step_of_which_only_the_parameters_were_kept(recording, dump):
    save_copy(dump, 7, WEIGHT * 9, dtype="bfloat16")
    record(dump, 8)
    recording.set_steps((8,), 8)
    tensor = recording.tensor(key("fc.weight", when="previous"))
    assert (tensor.array == WEIGHT * 9).all()
    assert (tensor.dtype, tensor.step) == ("bfloat16", 7)
    assert (array(recording, "Default/opt/Adam-op0", when="previous") == WEIGHT * 9).all()
    expected = "step 7 was not recorded; of it only the parameters are known"
    assert why_not(recording, "Default/net/MatMul-op0", when="previous") == expected


def test_a_copy_that_is_made_after_the_step_was_looked_at(recording, dump):
    """A graph of which the parameters are in no record: it ran at other steps."""
    for file in dump.step_folder(4).glob("Parameter.fc_weight.*"):
        file.unlink()
    why_not(recording, "fc.weight")
    save_copy(dump, 4, WEIGHT * 5)
    assert (array(recording, "fc.weight") == WEIGHT * 5).all()


def test_before_the_first_step_there_are_only_parameters(recording, dump):
    save_copy(dump, 0, WEIGHT)
    recording.set_steps((), 0)
    assert (array(recording, "fc.weight") == WEIGHT).all()
    expected = "nothing has run before the first step; run a step to see this tensor"
    assert why_not(recording, "Default/net/MatMul-op0") == expected
    assert why_not(recording, "fc.weight", when="previous") == "there is no step before the first"
    assert recording.execution().total == 0


# ------------------------------------------------------------ what is not there


def test_a_step_that_was_not_recorded(recording):
    recording.set_steps((3, 4), 6)
    assert why_not(recording, "fc.weight") == "step 6 was not recorded: the training ran free"
    with pytest.raises(NotAvailable, match="step 6 was not recorded"):
        recording.execution()


def test_a_node_that_did_not_run(recording, dump):
    for file in dump.step_folder(4).glob("ReLU.*"):
        file.unlink()
    assert why_not(recording, "Default/net/ReLU-op0") == "Default/net/ReLU-op0 did not run in step 4"
    with pytest.raises(NotAvailable) as raised:
        recording.tensor(key("Default/net/ReLU-op0"))
    assert raised.value.code == "not_run"


def test_an_output_that_was_not_recorded_and_that_nobody_read(recording, dump):
    for file in dump.step_folder(4).glob("ReLU.*.output.*"):
        file.unlink()
    assert why_not(recording, "Default/net/ReLU-op0") == "output 0 of Default/net/ReLU-op0 was not recorded in step 4"


def test_a_step_that_has_moved_on(recording, dump):
    recording.execution()
    shutil.rmtree(dump.step_folder(4))
    assert why_not(recording, "Default/net/MatMul-op0") == "the step has moved on; its values are gone"
    recording.set_steps((5,), 5)
    assert why_not(recording, "Default/net/MatMul-op0") == "step 5 was not recorded: the training ran free"


def test_a_step_that_moves_on_while_it_is_listed(recording, dump, monkeypatch):
    found = module.RecordedStep

    def removed_first(*args):
        shutil.rmtree(dump.step_folder(4))
        return found(*args)

    monkeypatch.setattr(module, "RecordedStep", removed_first)
    with pytest.raises(NotAvailable, match="the step has moved on"):
        recording.execution()


@pytest.mark.parametrize("what", [{"node": "no such node"}, {"graph": "graph_9"}])
def test_what_does_not_exist(what, recording):
    with pytest.raises(UnknownNode) as caught:
        recording.tensor(replace(key("fc.weight"), **what))
    if "graph" in what:
        assert caught.value.nearest == ("graph_0",)


def test_a_slot_that_does_not_exist(recording):
    with pytest.raises(BadRequest, match="there is no slot 3"):
        recording.tensor(key("Default/opt/Adam-op0", 3))


# ------------------------------------------------------------ order and cursor


def test_the_order_in_which_the_nodes_ran(recording):
    order = recording.execution()
    assert order.total == 6
    assert order.nodes[0] == ExecutedNode(GRAPH, "Default/net/MatMul-op0")
    assert order.nodes[-1] == ExecutedNode(GRAPH, "Default/opt/Adam-op0")
    assert recording.execution(1, 2).nodes == order.nodes[1:3]
    assert recording.execution(1, 2).total == 6
    assert recording.execution(99, 2).nodes == ()


def test_a_node_that_ran_several_times_is_shown_as_at_the_cursor(recording, dump):
    name = "Default/net/ReLU-op0"
    for number in range(3):
        dump.run(5, "ReLU", name, {0: DATA + number}, {0: DATA - number})
    dump.run(4, "ReLU", name, {0: DATA}, {0: DATA + 100})  # a second time in the step before
    recording.set_steps((4, 5), 5)
    assert (array(recording, name) == DATA - 2).all()
    recording.set_position(2)
    assert (array(recording, name) == DATA - 1).all()
    assert (array(recording, name, input=0) == DATA + 1).all()
    assert (array(recording, name, when="previous") == DATA + 100).all()  # at its end
    recording.set_position(None)
    assert (array(recording, name) == DATA - 2).all()
    recording.set_position(1)
    recording.set_steps((4, 5), 5)  # a new pause: the cursor is at the end
    assert (array(recording, name) == DATA - 2).all()
