"""A training with watchpoints: every step is recorded, and waits for what is said of it."""

from __future__ import annotations

import numpy as np
import pytest
from fake_mindspore import Cell, Parameter, Tensor

WEIGHT = Parameter("fc1.weight", np.arange(6, dtype=np.float32).reshape(2, 3))


@pytest.fixture
def network(ms):
    return Cell(ms, lambda *args: Tensor(np.float32(2.5)), [WEIGHT])


def watch(then, on=True):
    """Set (or delete) watchpoints at a pause, then go on with the command `then`."""

    def do(sidecar):
        sidecar.send("watch", on=on)
        sidecar.command(*([then] if isinstance(then, str) else then))

    return do


def iterations(ms) -> list[int]:
    return [iteration for _, iteration in ms.runs]


def test_every_step_of_a_free_run_is_recorded_and_asked_about(ms, sidecar, debug, network):
    debug(watch("resume"))
    for _ in range(4):
        network()
    assert iterations(ms) == [1, 2, 3, 4]
    asked = sidecar.heard("step")
    assert [message["step"] for message in asked] == [1, 2, 3, 4]
    assert [message["recorded"] for message in asked] == [[1], [1, 2], [2, 3], [3, 4]]
    assert sidecar.pauses() == [(0, "start", [])]


def test_it_stands_still_after_the_step_that_is_hit(sidecar, debug, network):
    sidecar.verdicts = [False, True, False, True]
    debug(watch("resume"), ("run", 5), "resume")
    for _ in range(6):
        network()
    assert sidecar.pauses() == [(0, "start", []), (2, "watchpoint", [1, 2]), (4, "watchpoint", [3, 4])]


def test_a_pause_that_is_due_anyway_is_one_at_a_watchpoint_where_it_is_hit(sidecar, debug, network):
    sidecar.verdicts = [True, False]
    debug(watch(("run", 1)), ("run", 1), "resume")
    for _ in range(3):
        network()
    assert [pause[:2] for pause in sidecar.pauses()] == [(0, "start"), (1, "watchpoint"), (2, "step")]


def test_without_watchpoints_nothing_is_recorded_any_more(ms, sidecar, debug, network):
    debug(watch(("run", 2)), watch("resume", on=False))
    for _ in range(5):
        network()
    assert iterations(ms) == [1, 2, 0, 0, 0]
    assert len(sidecar.heard("step")) == 2


def test_watchpoints_that_are_set_while_it_runs_free(ms, sidecar, debug):
    network = Cell(ms, lambda number: sidecar.send("watch", on=True) if number == 2 else None, [WEIGHT])
    debug("resume")
    for number in range(1, 6):
        network(number)
    assert iterations(ms) == [0, 0, 3, 4, 5]
    assert [message["step"] for message in sidecar.heard("step")] == [3, 4, 5]


def test_a_command_that_comes_before_the_verdict_counts(sidecar, debug, network):
    sidecar.before_verdict = [lambda: sidecar.command("pause")]
    debug(watch("resume"), "resume")
    for _ in range(2):
        network()
    assert [pause[:2] for pause in sidecar.pauses()] == [(0, "start"), (1, "pause")]


def test_a_sidecar_that_dies_instead_of_a_verdict_leaves_the_training_alone(ms, sidecar, debug, network, capsys):
    sidecar.before_verdict = [sidecar.die]
    debug(watch("resume"))
    for _ in range(3):
        network()
    assert len(ms.runs) == 3
    assert "going on undebugged" in capsys.readouterr().err
