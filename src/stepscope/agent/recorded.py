"""A training whose steps are recorded and then walked: MindSpore in graph mode.

The training process runs whole steps. Within a step the cursor moves over the nodes that ran, here, without the
training process; past the last one, the next step is run first. The tensors are files, so they are read here, too, and
stay readable while the training runs on.
"""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from stepscope.agent.debuggee import steps_counted
from stepscope.agent.figures import KeptFigures
from stepscope.core.errors import NotAvailable
from stepscope.core.looks import Question
from stepscope.core.ports import (
    Command,
    Comparison,
    Cursor,
    ExecutedNode,
    ExecutionOrder,
    Report,
    State,
    Tensor,
    TensorKey,
    TensorStats,
)
from stepscope.core.step_data import ASIDE
from stepscope.core.tensors import apply_index, compare, look, stats
from stepscope.core.watch.records import HitBatch, WatchpointSet
from stepscope.core.watch.step_check import StepCheck
from stepscope.pipe import Message
from stepscope.replay.mindspore import Recording

A = TypeVar("A")

_FIRST = ExecutedNode("", "")  # as a target: whatever node runs first


class RecordedTraining:
    """All methods may take a while: they are for a thread, one at a time for those that return a `Report`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.recording = Recording(folder)
        self._last = Report(State.RUNNING)
        self._checked_graphs = 0
        self._check = StepCheck()
        self._figures = KeptFigures(lambda: self.recording.moment)
        self._target: ExecutedNode | None = None  # where the cursor goes when the step that runs has ended

    # ------------------------------------------------------------ from the training process

    def reported(self, message: Message) -> Report:
        """The report in a probe's message; the cursor is added where the step was run for it."""
        report = Report(
            state=State(message["state"]),
            step=message["step"],
            reason=message["reason"],
            recorded_steps=tuple(message["recorded"]),
            loss=message["loss"],
            step_seconds=message["step_seconds"],
            command_sequence=message["sequence"],
            warning=message["warning"],
        )
        if report.state is State.PAUSED:
            self.recording.set_steps(report.recorded_steps, report.step)
            report = self._checked(report)
            target, self._target = self._target, None
            if target is not None:
                report = self._placed(report, target)
        self._stand(report)
        return report

    def _checked(self, report: Report) -> Report:
        """After new graphs: whether the names in the first step that is recorded are those of the graphs."""
        graphs = len(self.recording.graphs)
        if graphs == self._checked_graphs or report.step not in report.recorded_steps:
            return report
        self._checked_graphs = graphs
        with contextlib.suppress(NotAvailable):
            if strangers := self.recording.unmatched():
                warning = f"{strangers} recorded tensors of step {report.step} belong to no node of the graphs"
                return replace(report, warning=report.warning or warning)
        return report

    def last_words(self, goodbye: Message | None) -> Report:
        """The last report of a training that has ended: how far it came, and that its values are gone."""
        step = max(goodbye["step"] if goodbye else 0, steps_counted(self._folder), self._last.step)
        return replace(self._last, state=State.RUNNING, step=step, recorded_steps=(), cursor=None, reason="")

    # ------------------------------------------------------------ watchpoints

    def watch(self, watchpoints: WatchpointSet) -> bool:
        """Takes them in place of those before; whether there is anything to check."""
        self._check.watch(watchpoints)
        return self._check.active

    def step_ended(self, message: Message) -> None:
        """A step has been recorded, and the training waits for what `check` says of it."""
        self._last = replace(self._last, step=message["step"], cursor=None)
        self.recording.set_steps(tuple(message["recorded"]), message["step"])

    def check(self) -> HitBatch:
        """The watchpoints on the step that the training stands after."""
        return self._check.check(self.recording, self._last.step)

    def is_to_check_initial_state(self, command: Command) -> bool:
        """Whether the command is the one that leaves the state before the first step, which was not checked yet."""
        return self._check.is_due_before(command, self._last.step)

    def stay(self, command: Command, hit: bool) -> Report:
        """The report of a training that stands still where it was, after a check."""
        reason = "watchpoint" if hit else self._last.reason
        self._last = replace(self._last, reason=reason, command_sequence=command.sequence, warning="")
        return self._last

    def tidy(self) -> None:
        """Removes steps that were set aside: the training has no time for it as long as it does not pause."""
        with contextlib.suppress(OSError):
            for old in (self._folder / ASIDE).iterdir():  # not the folder itself, into which the next one is moved
                shutil.rmtree(old, ignore_errors=True)

    # ------------------------------------------------------------ commands

    def moves_cursor(self, command: Command) -> bool:
        """Whether the command is one for the cursor (and not for the training process)."""
        return command.kind in ("next_node", "previous_node", "run_to")

    def move_cursor(self, command: Command) -> Report | None:
        """Where the cursor stands now; None if a step has to be run first, whose report will tell."""
        moved = self._moved(command)
        if moved is not None:
            self._stand(moved)
        return moved

    def _moved(self, command: Command) -> Report | None:
        report = replace(self._last, reason="node", command_sequence=command.sequence, warning="", cursor=None)
        order = self._order()
        at = self._last.cursor.position if self._last.cursor else len(order)
        if command.kind == "previous_node":
            if not order:
                return replace(report, warning="no node has run yet")
            return replace(report, cursor=_cursor(order, max(at - 1, 1)))
        target = _FIRST if command.kind == "next_node" else ExecutedNode(command.graph, command.node)
        if target is not _FIRST and not self._runs(target):
            return replace(report, reason="not_reached", cursor=self._last.cursor, warning=_never(target))
        place = _find(order, target, at)
        if place is not None:
            return replace(report, cursor=_cursor(order, place))
        self._target = target
        return None

    def _stand(self, report: Report) -> None:
        self._last = report
        self.recording.set_position(report.cursor.position if report.cursor else None)

    def _runs(self, target: ExecutedNode) -> bool:
        graph = self.recording.graphs.get(target.graph)
        if graph is None or target.node not in graph:
            return False
        node = graph.node(target.node)
        return node.kind == "op" and not node.folded

    def _placed(self, report: Report, target: ExecutedNode) -> Report:
        order = self._order()
        place = _find(order, target, 0)
        if place is None:
            missed = f"{target.node} did not run" if target.node else "no node ran"
            return replace(report, reason="not_reached", warning=report.warning or f"{missed} in step {report.step}")
        return replace(report, reason="node", cursor=_cursor(order, place))

    def _order(self) -> list[ExecutedNode]:
        try:
            return list(self.recording.execution(0, 1 << 31).nodes)
        except NotAvailable:
            return []

    # ------------------------------------------------------------ queries: slow, for a thread

    def tensor(self, key: TensorKey, index: str | None) -> Tensor:
        tensor = self.recording.tensor(key)
        return replace(tensor, array=apply_index(tensor.array, index))

    def stats(self, key: TensorKey) -> TensorStats:
        return self._figures.get(("stats", key), lambda: self._stats(key))

    def compare(self, key: TensorKey) -> Comparison:
        key = replace(key, when="current")
        return self._figures.get(("compare", key), lambda: self._compare(key))

    def look(self, key: TensorKey, question: Question[A]) -> A:
        key = replace(key, when="current")
        return self._figures.get(
            (question, key), lambda: look(question, lambda when: self.recording.tensor(replace(key, when=when)))
        )

    def _stats(self, key: TensorKey) -> TensorStats:
        tensor = self.recording.tensor(key)
        return stats(tensor.array, tensor.dtype, tensor.step)

    def _compare(self, key: TensorKey) -> Comparison:
        current = self.recording.tensor(key)
        previous = self.recording.tensor(replace(key, when="previous"))
        return compare(current.array, previous.array, current.dtype, current.step, previous.step)

    def execution(self, offset: int, limit: int) -> ExecutionOrder:
        return self.recording.execution(offset, limit)


def _find(order: list[ExecutedNode], target: ExecutedNode, after: int) -> int | None:
    """The 1-based position of the first node after position `after` that is the target."""
    for position in range(after + 1, len(order) + 1):
        node = order[position - 1]
        if target is _FIRST or (node.graph, node.node) == (target.graph, target.node):
            return position
    return None


def _cursor(order: list[ExecutedNode], position: int) -> Cursor:
    node = order[position - 1]
    return Cursor(node.graph, node.node, position, len(order))


def _never(target: ExecutedNode) -> str:
    return f"{target.node} never runs by itself: it is no operator with a kernel"
