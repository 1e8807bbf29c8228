"""The steps of a training under the debugger: where it stands still, and what of it is recorded."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from fake_mindspore import Cell, Parameter, Tensor

from stepscope.probe.mindspore.session import Terminated

WEIGHT = Parameter("fc1.weight", np.arange(6, dtype=np.float32).reshape(2, 3))


@pytest.fixture
def network(ms):
    return Cell(ms, lambda *args: Tensor(np.float32(2.5)), [WEIGHT])


def copies(session) -> list[int]:
    """The steps of which there is a copy of the parameters."""
    return sorted(int(folder.name) for folder in (session._dump.folder.path / "before").iterdir())


def iterations(ms) -> list[int]:
    """What each run was recorded as; 0: not at all."""
    return [iteration for _, iteration in ms.runs]


def test_one_step_at_a_time(ms, sidecar, debug, network):
    debug(("run", 1), ("run", 1))
    for _ in range(4):
        network()
    assert sidecar.pauses() == [(0, "start", []), (1, "step", [1]), (2, "step", [1, 2])]
    assert iterations(ms) == [1, 2, 0, 0]


def test_of_many_steps_the_last_two_are_recorded(ms, sidecar, debug, network):
    debug(("run", 5), "resume")
    for _ in range(7):
        network()
    assert iterations(ms) == [0, 0, 0, 4, 5, 0, 0]
    assert sidecar.pauses()[1:] == [(5, "step", [4, 5])]


def test_a_pause_tells_loss_and_time_and_what_it_answers(sidecar, debug, network):
    debug(("run", 2))
    network()
    network()
    first, last = (report for report in sidecar.heard("report") if report["state"] == "paused")
    assert (first["loss"], first["step_seconds"], first["sequence"]) == (None, None, 0)
    assert last["loss"] == 2.5
    assert 0 < last["step_seconds"] < 60
    assert last["sequence"] == 1


def test_a_resumed_training_records_nothing_and_says_where_it_is(ms, sidecar, debug, network):
    debug("resume")
    for _ in range(3):
        network()
    assert iterations(ms) == [0, 0, 0]
    running = [report for report in sidecar.heard("report") if report["state"] == "running"]
    assert [report["step"] for report in running] == [1, 2, 3]
    assert {report["sequence"] for report in running} == {1}


def test_a_free_run_reports_only_now_and_then(sidecar, debug, network, monkeypatch):
    monkeypatch.setattr("stepscope.probe.mindspore.session.PROGRESS_INTERVAL", 3600.0)
    debug("resume")
    for _ in range(50):
        network()
    assert len(sidecar.heard("report")) == 1


def test_a_pause_in_a_free_run_comes_after_one_more_step_that_is_recorded(ms, sidecar, debug):
    network = Cell(ms, lambda number: sidecar.command("pause") if number == 3 else None, [WEIGHT])
    debug("resume", "resume")
    for number in range(1, 7):
        network(number)
    assert sidecar.pauses()[1:] == [(4, "pause", [4])]
    assert iterations(ms) == [0, 0, 0, 4, 0, 0]


def test_a_pause_within_recorded_steps_comes_at_once(ms, sidecar, debug):
    network = Cell(ms, lambda number: sidecar.command("pause") if number == 8 else None)
    debug(("run", 9), "resume")
    for number in range(1, 12):
        network(number)
    assert sidecar.pauses()[1:] == [(8, "pause", [8])]
    assert iterations(ms) == [0] * 7 + [8, 0, 0, 0]


def test_a_pause_of_a_training_that_stands_changes_nothing(ms, sidecar, debug, network):
    later = threading.Timer(0.1, sidecar.command, ("run", 2))
    debug(lambda here: (here.command("pause"), later.start()))
    network()
    network()
    later.join()
    assert sidecar.pauses()[1:] == [(2, "step", [1, 2])]


def test_the_count_of_steps_is_left_for_the_agent(debug, network):
    session = debug()
    for _ in range(3):
        network()
    assert (session._dump.folder.path / "step").read_bytes() == (3).to_bytes(8, "little")


def test_evaluations_are_neither_counted_nor_recorded(ms, sidecar, debug, network):
    evaluation = Cell(ms, lambda: None, phase="eval", op="Add")
    debug(("run", 1), ("run", 2), "resume")
    for cell in (network, evaluation, network, evaluation, evaluation, network):
        cell()
    assert sidecar.pauses()[1:] == [(1, "step", [1]), (3, "step", [2, 3])]
    assert ms.runs == [(0, 1), (1, 0), (0, 2), (1, 0), (1, 0), (0, 3)]


def test_a_step_may_end_with_the_optimizer(ms, sidecar, debug):
    """Gradients and update are two graphs: one step of unit "optimizer", and both in its record."""
    gradients, update = Cell(ms, lambda: None, op="Add"), Cell(ms, lambda: Tensor(np.float32(1)))
    debug(("run", 1), ("run", 2), step_unit="optimizer")
    for _ in range(3):
        gradients()
        update()
    assert ms.runs == [(0, 1), (1, 1), (0, 2), (1, 2), (0, 3), (1, 3)]
    assert [step for step, _, _ in sidecar.pauses()] == [0, 1, 3]


def test_parameters_are_copied_where_the_step_before_has_others(ms, sidecar, debug, network):
    """Graphs that run in turn have each the parameters of their own in their record."""
    other = Cell(ms, lambda: None, [Parameter("other", np.ones(2, np.float32))])
    session = debug(*[lambda here: (seen.append(copies(session)), here.command("run", 1))] * 5)
    seen: list[list[int]] = []
    for cell in (network, other, other, network):
        cell()
    assert seen == [[0], [0], [1], [], [3]]  # at 3, step 2 has them in its record


def test_parameters_are_copied_before_a_step_that_is_recorded_after_a_free_run(ms, sidecar, debug):
    network = Cell(ms, lambda number: sidecar.command("pause") if number in (3, 8) else None, [WEIGHT])
    session = debug("resume", *[lambda here: (seen.append(copies(session)), here.command("resume"))] * 2)
    seen: list[list[int]] = []
    for number in range(1, 10):
        network(number)
    assert [step for step, _, _ in sidecar.pauses()] == [0, 4, 9]
    assert seen == [[3], [8]]  # and not those of long ago, which only took room


@pytest.mark.parametrize(
    ("result", "loss"),
    [
        (Tensor(np.float32(0.5)), 0.5),
        ((Tensor(np.float16([0.25])), Tensor(np.zeros(3))), 0.25),
        ([[Tensor(np.float64(3))], "rest"], 3.0),
        (Tensor(np.float32("inf")), float("inf")),
        (Tensor(np.int32(4)), None),
        (Tensor(np.zeros(2, np.float32)), None),
        ((), None),
        (None, None),
        (0.5, None),
    ],
)
def test_the_loss_is_the_first_value_if_it_is_a_scalar(result, loss, ms, sidecar, debug):
    network = Cell(ms, lambda: result)
    debug(("run", 1))
    assert network() is result
    assert [report["loss"] for report in sidecar.heard("report") if report["reason"] == "step"] == [loss]


@pytest.mark.parametrize("at", [0, 1, 4])
def test_terminate_ends_the_script_as_sys_exit_would(at, ms, sidecar, debug, capsys):
    network = Cell(ms, lambda number: sidecar.command("terminate") if number == at == 4 else None)
    debug(*[("run", 1), ("run", 1)][:at], "terminate" if at < 4 else "resume", "resume")

    def train() -> None:
        for number in range(1, 7):
            network(number)

    with pytest.raises(SystemExit) as caught:
        train()
    assert caught.value.code == 143
    assert isinstance(caught.value, Terminated)
    assert len(ms.runs) == at
    assert ms.switch.iteration == 0
    assert capsys.readouterr().err.splitlines()[-1] == "stepscope: terminated, as asked in the debugger"
