"""The cursor in a recorded step: where each command takes it, and when a step has to be run first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stepscope.agent.recorded import RecordedTraining
from stepscope.core.errors import NotAvailable
from stepscope.core.looks import BeyondQuestion, FactsQuestion, PlaceQuestion
from stepscope.core.ports import Command, Cursor, ExecutedNode, Report, State, TensorKey
from stepscope.testing.dumps import DumpFolder, GraphFile

GRAPH = "graph_0"
A, B, C, D = (f"Default/{op}-op0" for op in ("Add", "Sub", "Mul", "Div"))
LOAD = "Default/Load-op0"


class Steps:
    """The training process: what it writes and what it reports."""

    def __init__(self, folder: Any) -> None:
        self.dump = DumpFolder(folder)
        self.training = RecordedTraining(folder)
        graph = GraphFile()
        graph.parameter("w")
        load = graph.op("Default/Load", "w", graph.monad)
        for op in ("Add", "Sub", "Mul", "Div"):
            graph.op(f"Default/{op}", load)
        self.training.recording.add_graph(0, self.dump.write_graph(0, graph), {"w": True})

    def run(self, step: int, nodes: str) -> None:
        """Records a step; each run of a node has its position as its value."""
        for position, letter in enumerate(nodes, 1):
            name = dict(zip("abcd", (A, B, C, D), strict=True))[letter]
            op = name.removeprefix("Default/").removesuffix("-op0")
            self.dump.run(step, op, name, {}, {0: np.float32(100 * step + position)})
        self.dump.parameter(step, "w", np.full(3, step, np.float32))

    def report(self, step: int, recorded: tuple[int, ...] = (), **more: Any) -> Report:
        message = {
            "is": "report", "state": "paused", "step": step, "reason": "step", "recorded": list(recorded), "loss": 0.5,
            "step_seconds": 1.5, "sequence": 7, "warning": "",
        }  # fmt: skip
        return self.training.reported({**message, **more})

    def do(self, kind: Any, node: str = "", graph: str = GRAPH, sequence: int = 8) -> Report | None:
        command = Command(kind, node=node, graph=graph, sequence=sequence)
        assert self.training.moves_cursor(command)
        return self.training.move_cursor(command)

    def position(self, kind: Any, node: str = "") -> int | None:
        """Where a command takes the cursor; None if a step has to be run first."""
        report = self.do(kind, node)
        if report is None:
            return None
        assert report.reason == "node"
        assert report.cursor is not None
        return report.cursor.position


@pytest.fixture
def steps(tmp_path) -> Steps:
    """Paused at the end of step 1, in which a, b, c and b again ran."""
    made = Steps(tmp_path)
    made.report(0, reason="start")
    made.run(1, "abcb")
    made.report(1, (1,))
    return made


# ------------------------------------------------------------ reports


def test_a_report_passes_through_without_a_cursor(steps):
    assert steps.report(1, (1,), warning="mind the gap", sequence=12) == Report(
        State.PAUSED,
        step=1,
        reason="step",
        cursor=None,
        recorded_steps=(1,),
        loss=0.5,
        step_seconds=1.5,
        command_sequence=12,
        warning="mind the gap",
    )
    assert steps.report(5, state="running", reason="").state is State.RUNNING


def test_tensors_of_a_graph_that_was_missed_are_told(tmp_path):
    steps = Steps(tmp_path)
    steps.run(1, "ab")
    steps.dump.run(1, "Neg", "Default/Neg-op7", {}, {0: np.float32(1)})
    told = steps.report(1, (1,)).warning
    assert told == "1 recorded tensors of step 1 belong to no node of the graphs"
    assert steps.report(1, (1,)).warning == ""  # once for these graphs


def test_which_commands_move_the_cursor(steps):
    moving = [kind for kind in ("run", "resume", "pause", "terminate", "next_node", "previous_node", "run_to")
              if steps.training.moves_cursor(Command(kind))]  # fmt: skip
    assert moving == ["next_node", "previous_node", "run_to"]


# ------------------------------------------------------------ within the step


def test_the_end_of_a_step_counts_as_its_last_node(steps):
    assert steps.position("previous_node") == 3


def test_back_to_the_first_node_and_no_further(steps):
    assert [steps.position("previous_node") for _ in range(4)] == [3, 2, 1, 1]


def test_forth_again_to_the_last_node(steps):
    for _ in range(3):
        steps.do("previous_node")
    assert [steps.position("next_node") for _ in range(3)] == [2, 3, 4]
    assert steps.position("next_node") is None  # past it, the next step has to be run


def test_the_report_of_a_move(steps):
    report = steps.do("previous_node", sequence=9)
    assert report == Report(
        State.PAUSED,
        step=1,
        reason="node",
        cursor=Cursor(GRAPH, C, 3, 4),
        recorded_steps=(1,),
        loss=0.5,
        step_seconds=1.5,
        command_sequence=9,
    )


def test_a_warning_is_not_said_twice(steps):
    steps.report(1, (1,), warning="mind the gap")
    report = steps.do("previous_node")
    assert report is not None
    assert report.warning == ""


def test_run_to_a_node_that_comes_later(steps):
    for _ in range(3):
        steps.do("previous_node")
    assert steps.position("run_to", C) == 3
    assert steps.position("run_to", B) == 4


def test_run_to_the_node_where_the_cursor_stands_is_its_next_time(steps):
    for _ in range(2):
        steps.do("previous_node")
    assert steps.position("run_to", B) == 4
    assert steps.position("run_to", B) is None


def test_what_a_node_shows_is_what_it_had_made_by_then(steps):
    shown = []
    for kind in ("previous_node", "previous_node", "next_node", "next_node"):
        steps.do(kind)
        shown.append(float(steps.training.tensor(TensorKey(GRAPH, B), None).array))
    assert shown == [102.0, 102.0, 102.0, 104.0]


# ------------------------------------------------------------ into the next step


def test_past_the_last_node_is_the_first_of_the_next_step(steps):
    assert steps.do("next_node") is None
    steps.run(2, "cab")
    report = steps.report(2, (1, 2), sequence=8)
    assert (report.reason, report.cursor) == ("node", Cursor(GRAPH, C, 1, 3))
    assert (report.step, report.command_sequence, report.loss) == (2, 8, 0.5)
    assert steps.position("next_node") == 2


def test_so_is_the_first_command_of_all(tmp_path):
    steps = Steps(tmp_path)
    steps.report(0, reason="start")
    assert steps.do("next_node") is None
    steps.run(1, "ab")
    assert steps.report(1, (1,)).cursor == Cursor(GRAPH, A, 1, 2)


def test_run_to_a_node_before_the_cursor_is_in_the_next_step(steps):
    steps.do("previous_node")
    assert steps.do("run_to", A) is None
    steps.run(2, "bca")
    report = steps.report(2, (1, 2))
    assert (report.reason, report.cursor) == ("node", Cursor(GRAPH, A, 3, 3))


def test_run_to_a_node_that_the_next_step_does_not_run(steps):
    assert steps.do("run_to", D) is None
    steps.run(2, "abc")
    report = steps.report(2, (1, 2))
    assert (report.reason, report.cursor) == ("not_reached", None)
    assert report.warning == f"{D} did not run in step 2"


def test_a_step_that_could_not_be_recorded_keeps_its_own_warning(steps):
    assert steps.do("next_node") is None
    report = steps.report(2, (1,), warning="step 2 was not recorded: there is no room")
    assert (report.reason, report.cursor) == ("not_reached", None)
    assert report.warning == "step 2 was not recorded: there is no room"


def test_a_step_in_which_nothing_ran(steps):
    assert steps.do("next_node") is None
    steps.dump.step_folder(2)
    assert steps.report(2, (1, 2)).warning == "no node ran in step 2"


def test_the_node_is_waited_for_until_the_training_stands(steps):
    assert steps.do("run_to", C) is None
    assert steps.report(1, (1,), state="running", reason="").cursor is None
    steps.run(2, "abc")
    assert steps.report(2, (1, 2)).cursor == Cursor(GRAPH, C, 3, 3)
    steps.run(3, "abc")
    assert steps.report(3, (2, 3)).cursor is None  # and only once


def test_whole_steps_leave_the_cursor_at_their_end(steps):
    steps.do("previous_node")
    steps.run(2, "abc")
    assert steps.report(2, (1, 2)).cursor is None
    assert steps.position("previous_node") == 2
    assert float(steps.training.tensor(TensorKey(GRAPH, C), None).array) == 203.0


# ------------------------------------------------------------ nowhere


@pytest.mark.parametrize(("node", "graph"), [(LOAD, GRAPH), ("w", GRAPH), ("no such node", GRAPH), (A, "graph_5")])
def test_run_to_what_never_runs_stays_where_it_is(node, graph, steps):
    here = steps.do("previous_node")
    assert here is not None
    report = steps.do("run_to", node, graph, sequence=11)
    assert report is not None
    assert (report.reason, report.cursor, report.command_sequence) == ("not_reached", here.cursor, 11)
    assert report.warning == f"{node} never runs by itself: it is no operator with a kernel"
    assert steps.position("previous_node") == 2


def test_before_the_first_step_there_is_nothing_to_go_back_to(tmp_path):
    steps = Steps(tmp_path)
    steps.report(0, reason="start")
    report = steps.do("previous_node")
    assert report is not None
    assert (report.cursor, report.warning, report.command_sequence) == (None, "no node has run yet", 8)


# ------------------------------------------------------------ queries


def test_queries_are_answered_from_the_record(steps):
    steps.run(2, "ab")
    steps.report(2, (1, 2))
    training, weight = steps.training, TensorKey(GRAPH, "w")
    assert training.execution(1, 5).nodes == (ExecutedNode(GRAPH, B),)
    part = training.tensor(weight, "1:")
    assert part.array.tolist() == [2.0, 2.0]
    assert part.shape == (3,)  # of the whole
    assert training.tensor(TensorKey(GRAPH, "w", when="previous"), None).array.tolist() == [1.0] * 3
    assert (training.stats(weight).mean, training.stats(weight).step) == (2.0, 2)
    comparison = training.compare(TensorKey(GRAPH, "w", when="previous"))
    assert (comparison.current.step, comparison.previous.step) == (2, 1)
    assert (comparison.difference.mean, comparison.changed_count) == (1.0, 3)
    with pytest.raises(NotAvailable):
        training.stats(TensorKey(GRAPH, D))


# ------------------------------------------------------------ the end


def test_the_last_words_say_how_far_it_came(steps, tmp_path):
    steps.do("previous_node")
    last = steps.training.last_words({"is": "bye", "step": 9, "error": ""})
    assert last == Report(State.RUNNING, step=9, loss=0.5, step_seconds=1.5, command_sequence=8)
    assert steps.training.last_words(None).step == 1
    (tmp_path / "step").write_bytes((12).to_bytes(8, "little"))  # what a killed one leaves
    assert steps.training.last_words(None).step == 12


# ------------------------------------------------------------ what is worked out of the values


def test_questions_about_values_are_answered_where_the_cursor_stands(steps):
    key = TensorKey(GRAPH, B)
    ask = PlaceQuestion("max")
    assert steps.training.look(key, ask).value == "104.0"
    assert steps.training.stats(key).max == 104
    steps.do("run_to", B)
    steps.do("previous_node")
    steps.do("previous_node")
    assert steps.training.look(key, ask).value == "102.0"
    assert steps.training.stats(key).max == 102
    with pytest.raises(NotAvailable):
        steps.training.look(key, BeyondQuestion(0.0))


def test_an_answer_outlives_what_it_was_worked_out_of(steps, monkeypatch):
    key = TensorKey(GRAPH, B)
    answers = steps.training.stats(key), steps.training.look(key, FactsQuestion())
    monkeypatch.setattr(steps.training.recording, "tensor", lambda key: pytest.fail("it was read again"))
    assert (steps.training.stats(key), steps.training.look(key, FactsQuestion())) == answers
