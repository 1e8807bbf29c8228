"""One job: its states, and which command is possible in which of them. Pure: no I/O, no clock but the wall's.

    (attach) ──► running ──report──► paused ──run, resume, next/previous node, run to──► running
    running | paused ──farewell──► finished | lost        running | paused ──stream broken──► lost ──attach──► running

* After a command that starts work the job is running until a report says otherwise that has this command's number or
  a higher one: a report which was on its way can't end a wait.
* A job that is lost goes on where it was when its training process attaches again; a finished one is final.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from typing import Any

from stepscope.core.errors import Conflict, NotAvailable
from stepscope.core.graph.views import GraphSummary
from stepscope.core.ports import IMPOSSIBLE, Command, CommandKind, Farewell, Report, Source, SourceInfo, State
from stepscope.core.watch.records import HitBatch
from stepscope.server.errors import Refused
from stepscope.server.models import CursorView, Exit, JobView, StepRecord
from stepscope.server.watch.hits import Checked
from stepscope.server.watch.watchpoints import State as WatchState
from stepscope.server.watch.watchpoints import Watchpoints

ANY_TIME = ("pause", "terminate")  # the others need a job that is paused
NO_WORK = ("pause", "recheck")  # the others start work: the job runs after them
ENDING = "terminate"  # `reason` of a running job that was told to end


class Job:
    """`view` is what users see; `source` is there while the training process is connected."""

    def __init__(self, view: JobView, sequence: int = 0, watch: WatchState | None = None):
        self.view = view
        self.sequence = sequence  # of the last command
        self.watch = Watchpoints(watch)
        self.watching = asyncio.Lock()  # held from looking at the watchpoints to changing them
        self.checked: Checked | None = None  # the last check; None where there was none, or it is in the store only
        self.graphs: dict[str, GraphSummary] = {}
        self.source: Source | None = None
        self._awaited = 0  # reports with a lower sequence are from before the last command that started work
        self._changed = asyncio.Event()
        self._closed = False

    @classmethod
    def new(cls, info: SourceInfo) -> Job:
        started_at = info.started_at or time.time()
        view = JobView(
            id=info.job_id, state=State.RUNNING, connected=False, address="", started_at=started_at, **_facts(info)
        )
        return cls(view)

    @property
    def script(self) -> str:
        """The script with its folder: another job with the same one is another run of it."""
        return os.path.normpath(os.path.join(self.view.working_directory, script(self.view.command_line)))

    # ------------------------------------------------------------ what the training process tells

    def attach(self, source: Source, address: str) -> None:
        """The training process is there, for the first time or again; raises Refused where it can't be this job's."""
        info = source.info
        if self.view.state is State.FINISHED:
            raise Refused(f"job {self.view.id} has ended: {_ended(self.view)}")
        if self.source is not None and (self.view.host, self.view.pid) != (info.host, info.pid):
            raise Refused(f"job {self.view.id} is in use by process {self.view.pid} on {self.view.host}")
        self.source = source
        self._awaited = 0
        self._change(
            **_facts(info), address=address, connected=True, state=State.RUNNING, reason="", exit=None, ended_at=None
        )

    def detach(self, detail: str) -> None:
        """The connection is gone; without a farewell before it the job is lost."""
        self.source = None
        if not self.view.state.ended:
            self._end(State.LOST, Exit(outcome="lost", detail=detail))

    def report(self, report: Report) -> StepRecord | None:
        """Take a report; returns what it adds to the step history."""
        if self.view.state.ended:
            return None
        old = self.view
        self.sequence = max(self.sequence, report.command_sequence)  # a server that was killed may have forgotten some
        stale = report.command_sequence < self._awaited
        self._change(
            state=old.state if stale else report.state,
            reason=old.reason if stale else report.reason,
            step=report.step,
            cursor=CursorView.model_validate(report.cursor) if report.cursor else None,
            recorded_steps=list(report.recorded_steps),
            loss=report.loss,
            step_seconds=report.step_seconds,
            warning=report.warning,
            notes=list(report.notes),
            skipped_updates=report.skipped_updates,
        )
        paused_here = report.state is State.PAUSED and report.reason in ("step", "pause", "watchpoint")
        if report.step < 1 or (report.step == old.step and not paused_here):
            return None
        reason = report.reason if paused_here else ""
        return StepRecord(
            step=report.step, at=time.time(), loss=report.loss, seconds=report.step_seconds, reason=reason
        )

    def hits(self, batch: HitBatch) -> Checked:
        """Take what a check found."""
        self.checked = Checked.of(batch, self.watch.at(batch.revision))
        self._change(hits=len(self.checked.batch.hits), hits_revision=self.view.hits_revision + 1)
        return self.checked

    def farewell(self, farewell: Farewell) -> None:
        self.source = None
        if not self.view.state.ended:
            state = State.LOST if farewell.outcome == "lost" else State.FINISHED
            self._end(state, Exit.model_validate(farewell))

    def add_graph(self, summary: GraphSummary) -> None:
        self.graphs[summary.name] = summary
        self._change(graphs=list(self.graphs))

    def warn(self, text: str) -> None:
        self._change(warning=text)

    def watch_changed(self) -> None:
        self._change(watchpoints=self.watch.state.revision)

    # ------------------------------------------------------------ what users ask for

    def check(self, kind: CommandKind) -> None:
        """Raises Conflict where the job's state doesn't allow a command."""
        state = self.view.state
        if self.source is None or state.ended:
            raise Conflict(
                f"{kind} is not possible: {self._why_gone()}", code="ended" if state.ended else "disconnected"
            )
        if self.view.reason == ENDING and kind != "terminate":
            raise Conflict(f"{kind} is not possible: the job was told to end", code="ending")
        if why := IMPOSSIBLE[self.view.stepping].get(kind):
            raise Conflict(f"{kind} is not possible: {why}", code="not_offered")
        if kind not in ANY_TIME and state is not State.PAUSED:
            why = f"{kind} is possible while the job is paused only: it is {state.value}, pause it first"
            raise Conflict(why, code="not_paused")

    def command(
        self, kind: CommandKind, steps: int = 1, graph: str = "", node: str = "", before: bool = False
    ) -> Command | None:
        """The command to send, with the job in the state after it; None where nothing is left to do (see `check`)."""
        self.check(kind)
        if kind == "pause" and self.view.state is State.PAUSED:
            return None
        self.sequence += 1
        if kind not in NO_WORK:
            self._awaited = self.sequence
            self._change(state=State.RUNNING, reason=ENDING if kind == "terminate" else "", cursor=None)
        return Command(kind, steps=steps, graph=graph, node=node, sequence=self.sequence, before=before)

    def live(self) -> Source:
        """The source, for questions; raises NotAvailable where the training process is gone."""
        if self.source is None:
            raise NotAvailable(f"the tensors are gone: {self._why_gone()}", code="gone")
        return self.source

    async def wait_while(self, state: State, seconds: float) -> None:
        """Return once the job is in another state, or after that time."""
        deadline = time.monotonic() + seconds
        while self.view.state is state and not self._closed and (left := deadline - time.monotonic()) > 0:
            try:
                await asyncio.wait_for(self._changed.wait(), left)
            except asyncio.TimeoutError:
                return

    def close(self) -> None:
        """End all waits: the server stops."""
        self._closed = True
        self._wake()

    # ------------------------------------------------------------

    def _change(self, **changes: Any) -> None:
        self.view = self.view.model_copy(update={**changes, "revision": self.view.revision + 1})
        self._wake()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _end(self, state: State, how: Exit) -> None:
        self._change(state=state, reason="", cursor=None, exit=how, ended_at=time.time(), connected=False)

    def _why_gone(self) -> str:
        return f"the job is {self.view.state.value} ({_ended(self.view)})"


def _ended(view: JobView) -> str:
    if view.exit is None:
        return "the training process is not connected"
    status = "" if view.exit.exit_status is None else f", exit status {view.exit.exit_status}"
    return f"{view.exit.outcome}{': ' if view.exit.detail else ''}{view.exit.detail}{status}"


def _facts(info: SourceInfo) -> dict[str, Any]:
    return {
        "title": title(info.command_line),
        "command_line": list(info.command_line),
        "working_directory": info.working_directory,
        "framework": info.framework,
        "framework_version": info.framework_version,
        "device": info.device,
        "rank": info.rank,
        "rank_count": info.rank_count,
        "host": info.host,
        "pid": info.pid,
        "step_unit": info.step_unit,
        "stepping": info.stepping,
    }


def title(command_line: Sequence[str]) -> str:
    """The script's name out of a command line: "train.py", or the module of `python -m module`."""
    return os.path.basename(script(command_line)) or "training"


def script(command_line: Sequence[str]) -> str:
    """The script as the command line has it, "src/train.py"; "" where there is none."""
    for word in command_line:
        if word.endswith(".py"):
            return word
    if "-m" in command_line[:-1]:
        return command_line[command_line.index("-m") + 1]
    return command_line[0] if command_line else ""
