"""The first run of a graph under the debugger: the server, the graphs, the first pause, and all warnings."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from fake_mindspore import Cell, Parameter, Tensor

WEIGHT = Parameter("first.weight", np.arange(6, dtype=np.float32).reshape(2, 3))


@pytest.fixture
def network(ms):
    return Cell(ms, lambda *args: Tensor(np.float32(2.5)), [WEIGHT])


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
    [
        ({"RANK_ID": "3", "RANK_SIZE": "8"}, 3, 8),
        ({"MS_NODE_ID": "1", "MS_WORKER_NUM": "2"}, 1, 2),
        ({"RANK_ID": "x"}, 0, 1),
    ],
)
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
    assert graphs["parameters"]["first.weight"] is True
    assert graphs["parameters"][state.name] is False


def test_the_parameters_are_copied_before_the_first_step(sidecar, debug, network):
    copies = []

    def look(here) -> None:
        folder = session._dump.folder.path / "before" / "0"
        index = json.loads((folder / "index.json").read_text())
        copies.extend((one, np.load(folder / one["file"])) for one in index if one["name"] == "first.weight")
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


# ------------------------------------------------------------ warnings


def test_without_room_the_step_runs_and_the_pause_says_so(ms, sidecar, debug, network, monkeypatch):
    session = debug(("run", 1), ("run", 1))
    monkeypatch.setattr(session._dump.folder, "free_bytes", lambda: 0 if len(ms.runs) < 2 else 1 << 40)
    network()
    assert ms.runs == [(0, 0)]
    assert sidecar.pauses() == [(0, "start", []), (1, "step", [])]
    (report,) = [report for report in sidecar.heard("report") if report["step"] == 1 and report["state"] == "paused"]
    assert report["warning"].startswith("step 1 was not recorded: it needs about 0 MiB and ")
    assert report["loss"] is None


def test_a_mindspore_that_writes_no_graph_can_not_be_debugged(ms, sidecar, debug, network, capsys):
    debug()
    ms.switch.config = {}  # as on Ascend in whole-graph mode
    assert network().asnumpy() == 2.5
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("stepscope: MindSpore wrote no graph that can be debugged; on Ascend use jit_level O0 or O1")
    assert line.endswith("; going on undebugged")
    assert sidecar.heard("released")


@pytest.mark.parametrize(("arguments", "warned"), [((), True), ((1,), False)])
def test_data_that_are_sunk_into_the_device_are_warned_of(arguments, warned, ms, sidecar, debug, network):
    ms.device = "Ascend"
    debug()
    network(*arguments)
    (start,) = [report for report in sidecar.heard("report") if report["reason"] == "start"]
    assert ("dataset_sink_mode=False" in start["warning"]) is warned


def test_pynative_without_any_gradient_is_warned_of(ms, sidecar, debug):
    ms.pynative = True
    function = ms.jit(lambda: None)
    ms.backward = False
    debug()
    function()
    (start,) = [report for report in sidecar.heard("report") if report["reason"] == "start"]
    assert start["warning"].startswith("this script runs in PyNative mode")
    assert all(not report["warning"] for report in sidecar.heard("report") if report is not start)


def test_pynative_with_its_gradients_in_a_graph_is_not(ms, sidecar, debug):
    ms.pynative = True
    debug()
    ms.jit(lambda: None)()
    assert all(not report["warning"] for report in sidecar.heard("report"))
