"""The steps of a training under the debugger: where it stands still, what is recorded, what is told."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from fake_mindspore import Cell, Parameter, Tensor

from stepscope.probe.mindspore.session import Terminated

WEIGHT = Parameter("fc1.weight", np.arange(6, dtype=np.float32).reshape(2, 3))


@pytest.fixture
def network(ms):
    return Cell(ms, lambda *args: Tensor(np.float32(2.5)), [WEIGHT])


def iterations(ms) -> list[int]:
    """What each run was recorded as; 0: not at all."""
    return [iteration for _, iteration in ms.runs]


# ------------------------------------------------------------ the start


def test_the_first_run_waits_for_the_server_and_for_the_user(ms, sidecar, debug, network, capsys):
    debug(lambda here: (before.extend(ms.runs), here.command("resume")), step_unit="run", token="secret", port=7)
    before: list[object] = []
    network(1)
    assert before == []  # nothing has run at the first pause
    assert len(ms.runs) == 1
    assert sidecar.pauses() == [(0, "start", [])]
    assert [message["is"] for message in sidecar.said[:3]] == ["hello", "graphs", "report"]
    assert capsys.readouterr().err == "stepscope: paused before the first step; go on from http://here\n"
    hello = sidecar.said[0]
    assert (hello["host"], hello["port"], hello["token"]) == ("127.0.0.1", 7, "secret")
    assert (hello["connect_wait"], hello["lost_wait"]) == (15.0, 600.0)
    info = hello["info"]
    assert info["framework"], info["framework_version"] == ("mindspore", "2.10.0")
    assert (info["device"], info["rank"], info["rank_count"], info["pid"]) == ("CPU", 0, 1, os.getpid())
    assert (info["step_unit"], info["stepping"]) == ("run", "recorded")
    assert len(info["job_id"]) == 16


@pytest.mark.parametrize(
    ("environ", "rank", "count"),
    [({"RANK_ID": "3", "RANK_SIZE": "8"}, 3, 8), ({"MS_NODE_ID": "1", "MS_WORKER_NUM": "2"}, 1, 2), ({"RANK_ID": "x"}, 0, 1)],
)  # fmt: skip
def test_who_we_are_among_the_workers(environ, rank, count, debug, network, sidecar, monkeypatch):
    for name in ("RANK_ID", "RANK_SIZE", "MS_NODE_ID", "MS_WORKER_NUM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    debug()
    network()
    info = sidecar.heard("hello")[0]["info"]
    assert (info["rank"], info["rank_count"]) == (rank, count)


def test_graphs_are_told_with_the_roles_of_all_parameters_that_are_alive(ms, sidecar, debug, network):
    state = Parameter("moment", np.zeros(2, np.float32), requires_grad=False)
    debug()
    network()
    (graphs,) = sidecar.heard("graphs")
    ((number, path),) = graphs["files"]
    assert number == 0
    assert path.endswith("rank_0/graphs/ms_output_trace_code_graph_0.pb")
    assert graphs["parameters"]["fc1.weight"] is True
    assert graphs["parameters"][state.name] is False


def test_the_parameters_are_copied_before_the_first_step(sidecar, debug, network):
    copies = []

    def look(here) -> None:
        folder = session._dump.folder.path / "before" / "0"
        index = json.loads((folder / "index.json").read_text())
        copies.extend((one, np.load(folder / one["file"])) for one in index if one["name"] == "fc1.weight")
        here.command("resume")

    session = debug(look)
    network()
    ((entry, array),) = copies
    assert (entry["dtype"], entry["shape"], entry["own"]) == ("float32", [2, 3], True)
    assert (array == WEIGHT.asnumpy()).all()


def test_the_size_of_a_step_is_learnt_from_the_agent(sidecar, debug, network):
    session = debug()
    sidecar.step_bytes = 5 << 20
    network()
    assert session._dump._expected == 5 << 20


def test_a_command_that_comes_while_graphs_are_read_is_not_lost(ms, sidecar, debug, network):
    """A new graph in the midst of a free run: an evaluation, or another shape."""
    debug("resume")
    sidecar.asides = [lambda here: None, lambda here: here.command("pause")]
    network()
    other = Cell(ms, lambda: None)
    other()
    network()
    assert sidecar.pauses()[1:] == [(2, "pause", [2])]


def test_a_graph_that_is_compiled_later_is_told_before_it_runs(ms, sidecar, debug, network):
    debug()
    network()
    Cell(ms, lambda: None, phase="eval", op="Add")()
    told = [[number for number, _ in message["files"]] for message in sidecar.heard("graphs")]
    assert told == [[0], [1]]


# ------------------------------------------------------------ steps


def test_one_step_at_a_time(ms, sidecar, debug, network):
    debug(("run", 1), ("run", 1))
    for _ in range(4):
        network()
    assert sidecar.pauses() == [(0, "start", []), (1, "step", [1]), (2, "step", [1, 2])]
    assert iterations(ms) == [1, 2, 0, 0]


def test_of_many_steps_the_last_two_are_recorded(ms, sidecar, debug, network):
    session = debug(("run", 5), "resume")
    for _ in range(7):
        network()
    assert iterations(ms) == [0, 0, 0, 4, 5, 0, 0]
    assert sidecar.pauses()[1:] == [(5, "step", [4, 5])]
    assert (session._dump.folder.path / "before" / "3").is_dir()  # what the weights were before step 4
    assert not (session._dump.folder.path / "before" / "4").exists()  # that is in the record of step 4


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
    debug(lambda here: (here.command("pause"), here.command("run", 2)))
    network()
    network()
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
    session = debug(("run", 1), ("run", 1), ("run", 1))
    network()
    other()
    before = session._dump.folder.path / "before"
    assert (before / "1").exists()
    other()
    assert not (before / "2").exists()


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


# ------------------------------------------------------------ terminate


@pytest.mark.parametrize("at", [0, 1, 4])
def test_terminate_ends_the_script_as_sys_exit_would(at, ms, sidecar, debug, capsys):
    network = Cell(ms, lambda number: sidecar.command("terminate") if number == at == 4 else None)
    debug(*[("run", 1), ("run", 1)][:at], "terminate" if at < 4 else "resume", "resume")
    with pytest.raises(SystemExit) as caught:
        for number in range(1, 7):
            network(number)
    assert caught.value.code == 143
    assert isinstance(caught.value, Terminated)
    assert len(ms.runs) == at
    assert ms.switch.iteration == 0
    assert sidecar.heard("terminating")
    assert capsys.readouterr().err.splitlines()[-1] == "stepscope: terminated, as asked in the debugger"


# ------------------------------------------------------------ warnings


def test_without_room_the_step_runs_and_the_pause_says_so(ms, sidecar, debug, network):
    debug(lambda here: (full.append(1), here.command("run", 1)), ("run", 1))
    full: list[int] = []
    session_free = 10 << 30
    session = next(iter([one for one in [network] if one]))
    del session, session_free
    network()
    assert sidecar.pauses()[1] == (1, "step", [1])


def test_pynative_without_any_gradient_is_warned_of(ms, sidecar, debug, monkeypatch):
    ms.pynative = True
    function = ms.jit(lambda: None)
    monkeypatch.setattr("stepscope.testing.dumps.GraphFile.op", _without_gradients)
    debug()
    function()
    (start,) = [report for report in sidecar.heard("report") if report["reason"] == "start"]
    assert start["warning"].startswith("this script runs in PyNative mode")
    assert all(not report["warning"] for report in sidecar.heard("report") if report is not start)


def _without_gradients(graph, name, *inputs, **more):
    return "1"
