"""Steers the trainings of a checked script: sets the watchpoints at the first pause, lets them run, and ends them all
at the first hit.

It is a thread, since the main one waits for the script. Whatever happens in here ends up in the report; a training that
was paused never stays so.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from stepscope.cli.check import Wish
from stepscope.cli.report import Report, Training, findings
from stepscope.core.errors import Conflict, NotAvailable, StepscopeError
from stepscope.core.watch.conditions import CONDITIONS
from stepscope.server.workspace import RunningServer

if TYPE_CHECKING:
    from stepscope.client import Debugger, Job
    from stepscope.client.nodes import NodeName
    from stepscope.client.watchpoints import Watchpoint

_POLL_SECONDS = 0.05
_LAST_WORDS_SECONDS = 10.0  # in which a training that has ended tells how far it came


class _Followed(NamedTuple):
    """A job whose watchpoints are set; `graphs` are those that the patterns were matched with, and `waiting` the wishes
    for nodes that may come with the first step, of a job whose graph is known only then."""

    training: Training
    watched: list[tuple[Wish, Watchpoint]]
    graphs: set[str]
    waiting: list[Wish]


class _Unusable(Exception):
    """The check can't be made; the message says why."""


class Checker(threading.Thread):
    """Start it once the script runs; `finish` when that has ended. Fills the report."""

    def __init__(
        self,
        running: RunningServer,
        wishes: Sequence[Wish],
        recommended: bool,
        steps: int | None,
        report: Report,
    ) -> None:
        super().__init__(name="checker", daemon=True)
        self._running, self._wishes, self._recommended, self._steps = running, wishes, recommended, steps
        self._report = report
        self._script_ended = threading.Event()
        self._followed: dict[str, _Followed] = {}

    def run(self) -> None:
        import stepscope

        try:
            debugger = stepscope.connect(self._running.url, self._running.token)
        except StepscopeError as error:
            self._report.end("could_not_run", str(error))
            return
        with debugger:
            try:
                self._follow(debugger)
            except _Unusable as problem:
                self._report.end("could_not_run", str(problem))
            except Exception as error:  # whatever it is, the script has to come to its end
                self._report.end("could_not_run", f"the check broke off: {type(error).__name__}: {error}")
            self._end_all(debugger)

    def finish(self, status: int) -> None:
        """The script has ended with this status."""
        self._script_ended.set()
        self.join()
        report = self._report
        if report.outcome:
            return
        steps = sum(training.steps for training in report.trainings)
        if status:
            where = f", after {steps} steps without a hit" if steps else ""
            report.end("could_not_run", f"the script failed with status {status}{where}")
        elif not report.trainings:
            report.end("could_not_run", "nothing in the script could be watched: no training has connected")
        elif not steps:
            report.end("could_not_run", "nothing in the script could be watched: no step was made")
        else:
            report.end("no_hit", f"no hit in {steps} steps")

    # ------------------------------------------------------------

    def _follow(self, debugger: Debugger) -> None:
        give_up = math.inf
        while not self._report.outcome and time.monotonic() < give_up:
            if self._script_ended.is_set() and give_up == math.inf:
                give_up = time.monotonic() + _LAST_WORDS_SECONDS
            jobs = debugger.jobs()
            live = False
            for job in jobs:
                with suppress(NotAvailable, Conflict):  # it has gone meanwhile: the next turn sees that
                    info = job.info
                    live = live or info["state"] in ("running", "paused")
                    self._look_at(job, info)
                if self._report.outcome:
                    return
            if not live and give_up < math.inf:
                return
            time.sleep(_POLL_SECONDS)

    def _look_at(self, job: Job, info: dict[str, Any]) -> None:
        paused = info["state"] == "paused"
        if job.id not in self._followed:
            if not paused:
                return
            self._followed[job.id] = self._watch(job, info)
        followed = self._followed[job.id]
        followed.training.steps = info["step"]
        followed.training.skipped_updates = info["skipped_updates"]
        self._watch_new_graphs(job, followed, info["graphs"])
        if not paused:
            return
        if followed.waiting and info["step"] and info["reason"] != "watchpoint":
            info = self._watch_rest(job, followed, info)
        if info["reason"] == "watchpoint":
            self._found(job, followed.training, info)
        elif followed.waiting:
            job.run(1)
        elif self._steps is None:
            job.resume()
        elif info["step"] < self._steps:
            job.run(steps=self._steps - info["step"])
        else:
            self._report.end("no_hit", f"no hit in {info['step']} steps")

    def _watch(self, job: Job, info: dict[str, Any]) -> _Followed:
        if self._recommended:
            job.use_recommended()
        grows = info["stepping"] == "live" and not info["step"]  # its graph is known once the first step has run
        later = [each for each in self._wishes if each.pattern and grows]
        watched = [self._set(job, each, info) for each in self._wishes if each not in later]
        training = Training.of(info, job.watchpoints())
        self._report.trainings.append(training)
        return _Followed(training, watched, set(info["graphs"]), later)

    @staticmethod
    def _set(job: Job, each: Wish, info: dict[str, Any]) -> tuple[Wish, Watchpoint]:
        nodes = _matching(job, each) if each.pattern else None
        if nodes == []:
            raise _Unusable(f"--watch {each.text}: no node of {info['title']} matches {each.pattern!r}")
        return each, job.watch(each.condition, nodes=nodes, **each.parameters)

    def _watch_rest(self, job: Job, followed: _Followed, info: dict[str, Any]) -> dict[str, Any]:
        """After the first step, which is then checked again; returns what the job says of itself after that."""
        followed.watched.extend(self._set(job, each, info) for each in followed.waiting)
        followed.waiting.clear()
        followed.training.watchpoints = Training.of(info, job.watchpoints()).watchpoints
        job.recheck()
        return job.info

    @staticmethod
    def _watch_new_graphs(job: Job, followed: _Followed, graphs: Sequence[str]) -> None:
        for graph in graphs:
            if graph not in followed.graphs:
                followed.graphs.add(graph)
                for each, watchpoint in followed.watched:
                    if each.pattern and (nodes := _matching(job, each, graph)):
                        watchpoint.tick(nodes)

    def _found(self, job: Job, training: Training, info: dict[str, Any]) -> None:
        training.findings, training.found = findings(job, info["step"])
        real = any(not each.reasons for each in training.findings)
        what = "a hit" if real else "a tensor that could not be evaluated"
        self._report.end("hit" if real else "not_evaluated", f"{what} at step {info['step']}")

    def _end_all(self, debugger: Debugger) -> None:
        """Also those that only come now: no training is to stand still with nobody there."""
        while not self._script_ended.is_set():
            with suppress(StepscopeError):
                for job in debugger.jobs():
                    info = job.info
                    if info["connected"] and info["reason"] != "terminate":
                        job.terminate()
            self._script_ended.wait(_POLL_SECONDS)


def _matching(job: Job, wish: Wish, graph: str | None = None) -> list[NodeName]:
    """The nodes that a pattern means: those that the condition is for, or any where none of them match."""
    category = CONDITIONS[wish.condition].category
    found = [] if category == "tensor" else job.nodes(wish.pattern, category=category, graph=graph)
    every = found or job.nodes(wish.pattern, graph=graph)
    return [each for each in every if each.kind != "constant"]
