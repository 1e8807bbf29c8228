"""All jobs of the server: what their sources tell goes in here, what users ask goes out.

Each change of a job is published and kept. Sources call the methods of the first half (the `Registry` that they know),
in the order in which things happened; what a source says after another one took its place is dropped.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Protocol

from stepscope.core.errors import BadRequest, Conflict, NotAvailable, StepscopeError, UnknownJob
from stepscope.core.graph.graph import Graph
from stepscope.core.ports import EventSink, Farewell, Report, Source, TensorKey, When
from stepscope.core.watch.records import HitBatch
from stepscope.server.events import EventBus
from stepscope.server.graphs import Graphs
from stepscope.server.job import Job
from stepscope.server.models import CommandRequest
from stepscope.server.store import Store
from stepscope.server.watch.hits import Checked

log = logging.getLogger(__name__)

STOPPED = "the server was stopped while it was connected"


class Registry(EventSink, Protocol):
    """Where sources come and go; `EventSink` is what they tell in between."""

    async def attach(self, source: Source, address: str) -> list[str]:
        """A source is there. Returns the graphs known of it already; raises `Refused`."""
        ...

    async def detach(self, source: Source, detail: str) -> None:
        """A source is gone, for the reason `detail` if it hasn't said farewell."""
        ...


class Jobs:
    def __init__(self, store: Store, graphs: Graphs, events: EventBus):
        self.graphs = graphs
        self.store = store
        self._events = events
        self._jobs: dict[str, Job] = {}
        self._sending: set[asyncio.Task[None]] = set()
        for saved in store.load():
            job = self._jobs[saved.view.id] = Job(saved.view, saved.sequence, saved.watch)
            job.graphs = {summary.name: summary for summary in saved.graphs}
            if not saved.view.state.ended:
                job.detach(STOPPED)
                store.save(job.view, saved.sequence)

    # ------------------------------------------------------------ from sources

    async def attach(self, source: Source, address: str) -> list[str]:
        job = self._jobs.get(source.info.job_id)
        if job is None:
            job = Job.new(source.info)
        job.attach(source, address)
        self._jobs[job.view.id] = job
        self._keep(job)
        # Behind the welcome, which goes out when we return.
        sending = asyncio.create_task(_watch(source, job))
        self._sending.add(sending)
        sending.add_done_callback(self._sending.discard)
        return list(job.graphs)

    async def detach(self, source: Source, detail: str) -> None:
        if job := self._of(source):
            job.detach(detail)
            self._keep(job)

    async def graph(self, source: Source, name: str, data: bytes) -> None:
        if not (job := self._of(source)):
            return
        try:
            summary = await self.graphs.add(job.view.id, name, data)
        except BadRequest as error:
            log.warning("job %s: %s", job.view.id, error)
            job.warn(str(error))
        else:
            if self._jobs.get(job.view.id) is not job:  # removed meanwhile
                return
            job.add_graph(summary)
            self._events.graph(job.view.id, summary)
        self._keep(job)

    async def report(self, source: Source, report: Report) -> None:
        if job := self._of(source):
            if record := job.report(report):
                self.store.add_step(job.view.id, record)
            self._keep(job)

    async def hits(self, source: Source, batch: HitBatch) -> None:
        if job := self._of(source):
            checked = job.hits(batch)
            self.store.add_hits(job.view.id, job.view.hits_revision, checked)
            self._keep(job)

    async def farewell(self, source: Source, farewell: Farewell) -> None:
        if job := self._of(source):
            job.farewell(farewell)
            self._keep(job)

    def _of(self, source: Source) -> Job | None:
        job = self._jobs.get(source.info.job_id)
        return job if job is not None and job.source is source else None

    def _keep(self, job: Job) -> None:
        self.store.save(job.view, job.sequence)
        self._events.job(job.view)

    # ------------------------------------------------------------ from users

    def all(self) -> list[Job]:
        """In order of arrival."""
        return list(self._jobs.values())

    def get(self, job_id: str) -> Job:
        try:
            return self._jobs[job_id]
        except KeyError:
            raise UnknownJob(f"no job {job_id!r}") from None

    async def command(self, job: Job, request: CommandRequest) -> None:
        """Hand a command to the job's source; the job is in the state that follows from it on return."""
        graph = ""
        if request.before and job.view.stepping != "live":
            raise BadRequest("the steps of this job are recorded: it can stand after a node, not before it")
        if request.kind == "run_to":
            job.check(request.kind)
            found = await self.locate(job, request.node, request.graph)
            if (node := found.node(request.node)).kind != "op" or node.folded:
                what = "is folded away" if node.kind == "op" else f"is of kind {node.kind}"
                raise BadRequest(f"run_to needs a node that runs: {request.node!r} {what}")
            graph = found.name
        command = job.command(request.kind, request.steps, graph, request.node, request.before)
        if command is not None:
            source = job.live()
            self._keep(job)
            await source.command(command)

    async def watch_changed(self, job: Job) -> None:
        """Keep, tell and hand on the watchpoints of a job, if they have changed."""
        if job.view.watchpoints == job.watch.state.revision:
            return
        job.watch_changed()
        self._keep(job)
        await self.store.save_watch(job.view.id, job.watch.state)
        if job.source is not None:
            await _watch(job.source, job)

    async def last_check(self, job: Job) -> Checked:
        """What the last check found; nothing where there was none."""
        if job.checked is None:
            kept = await self.store.hits(job.view.id) if job.view.hits_revision else None
            job.checked = job.checked or kept or Checked()  # one may have come meanwhile
        return job.checked

    async def checked(self, job: Job, step: int | None = None) -> tuple[Checked, list[int]]:
        """The last check, or the one of a step, and the steps of which hits are kept; raises NotAvailable."""
        steps = await self.store.hit_steps(job.view.id)
        if step is not None:
            if (found := await self.store.hits(job.view.id, step)) is None:
                raise NotAvailable(f"no hits of step {step} are kept")
            return found, steps
        return await self.last_check(job), steps

    async def locate(self, job: Job, node: str, graph: str = "") -> Graph:
        """The one of the job's graphs that has `node`."""
        return await self.graphs.locate(job.view.id, list(job.graphs), node, graph)

    async def graph_of(self, job: Job, name: str) -> Graph:
        """A graph by its name."""
        return await self.graphs.get(job.view.id, self.graphs.known(list(job.graphs), name))

    async def key(
        self, job: Job, node: str, slot: int = 0, input: int | None = None, when: When = "current", graph: str = ""
    ) -> TensorKey:
        """The tensor that a user names, checked against the graph; raises UnknownNode and BadRequest.

        Folded nodes stay in it: where their value really lives is resolved next to the data.
        """
        found = await self.locate(job, node, graph)
        of = found.node(node)
        if input is None:
            _check_number("output slot", slot, [port.slot for port in of.outputs], node)
        else:
            _check_number("input", input, [port.index for port in of.inputs if not port.control], node)
        return TensorKey(found.name, node, slot=slot, when=when, input=input)

    async def remove(self, job: Job) -> None:
        """Forget a job that has ended."""
        if not job.view.state.ended:
            raise Conflict(f"job {job.view.id} is {job.view.state.value}: only one that has ended can be deleted")
        del self._jobs[job.view.id]
        self.graphs.forget(job.view.id)
        job.close()
        await self.store.remove(job.view.id)
        self._events.removed(job.view.id)

    def close(self) -> None:
        """Let go of all who wait."""
        for job in self._jobs.values():
            job.close()


async def _watch(source: Source, job: Job) -> None:
    with contextlib.suppress(StepscopeError):  # it is gone, and gets them when it is back
        await source.watch(job.watch.set)


def _check_number(what: str, number: int, allowed: list[int], node: str) -> None:
    if number not in allowed:
        numbers = ", ".join(map(str, sorted(set(allowed)))) or "none"
        raise BadRequest(f"{node!r} has no {what} {number}; it has: {numbers}", code="no_slot")
