"""What users do with the watchpoints of a job.

Who changes something holds the job's lock from the first look to the last word, so that of two changes at the same
time none is lost. A change is checked as a whole before anything is kept.
"""

from __future__ import annotations

import asyncio
from typing import Any

from stepscope.core.errors import Conflict, NotAvailable
from stepscope.core.watch.recommended import recommended
from stepscope.core.watch.records import Watchpoint
from stepscope.core.watch.validate import warnings
from stepscope.server.job import Job
from stepscope.server.jobs import Jobs
from stepscope.server.watch.coverage import Coverage, Covered
from stepscope.server.watch.models import (
    CreateRequest,
    EarlierJob,
    StatesRequest,
    StatesView,
    TickRequest,
    UpdateRequest,
    WarningView,
    WatchpointList,
    WatchpointView,
)
from stepscope.server.watch.ticks import rules_of, selection_of


class Watching:
    """Methods raise NotAvailable for a watchpoint that is not there."""

    def __init__(self, jobs: Jobs):
        self._jobs = jobs
        self._coverage = Coverage(jobs.graphs)

    async def list(self, job: Job) -> WatchpointList:
        state = job.watch.state
        earlier = self._earlier(job)
        return WatchpointList(
            revision=state.revision,
            recommended=state.recommended,
            earlier=None if earlier is None else _earlier_view(earlier),
            watchpoints=[await self._view(job, each) for each in state.watchpoints],
        )

    async def create(self, job: Job, request: CreateRequest) -> WatchpointView:
        async with job.watching:
            graphs = await self._coverage.graphs(job)
            selection = await asyncio.to_thread(selection_of, request, graphs)
            new = job.watch.create(request.condition, request.parameters, selection, request.name, request.enabled)
            await self._jobs.watch_changed(job)
        return await self._view(job, new)

    async def update(self, job: Job, id: int, request: UpdateRequest) -> WatchpointView:
        return await self._change(job, job.watch.update, id, **request.model_dump())

    async def duplicate(self, job: Job, id: int) -> WatchpointView:
        return await self._change(job, job.watch.duplicate, id)

    async def tick(self, job: Job, id: int, request: TickRequest) -> WatchpointView:
        async with job.watching:
            job.watch.get(id)
            rules = await asyncio.to_thread(rules_of, request, await self._coverage.graphs(job))
            new = await asyncio.to_thread(job.watch.tick, id, rules)
            await self._jobs.watch_changed(job)
        return await self._view(job, new)

    async def delete(self, job: Job, id: int) -> None:
        async with job.watching:
            job.watch.delete(id)
            await self._jobs.watch_changed(job)

    async def clear(self, job: Job) -> None:
        async with job.watching:
            job.watch.clear()
            await self._jobs.watch_changed(job)

    async def states(self, job: Job, id: int, request: StatesRequest) -> StatesView:
        selection = job.watch.get(id).selection
        return await self._coverage.states(job, selection, request.graph, request.scopes, request.nodes)

    async def recommended(self, job: Job, use: bool) -> WatchpointList:
        async with job.watching:
            if use:
                graphs = await self._coverage.graphs(job)
                if not graphs:
                    raise Conflict("nothing can be recommended yet: the job has no graph", code="no_graph")
                job.watch.add_new(await asyncio.to_thread(recommended, graphs, job.view.step))
            job.watch.answer_offer(use)
            await self._jobs.watch_changed(job)
        return await self.list(job)

    async def earlier(self, job: Job) -> WatchpointList:
        async with job.watching:
            if (of := self._earlier(job)) is None:
                raise NotAvailable("there are no watchpoints of an earlier run of this script to take over")
            job.watch.take_earlier(of.watch.state)
            await self._jobs.watch_changed(job)
        return await self.list(job)

    # ------------------------------------------------------------

    async def _change(self, job: Job, change: Any, *arguments: Any, **more: Any) -> WatchpointView:
        async with job.watching:
            new = change(*arguments, **more)
            await self._jobs.watch_changed(job)
        return await self._view(job, new)

    async def _view(self, job: Job, watchpoint: Watchpoint) -> WatchpointView:
        covered = await self._coverage.of(job, watchpoint)
        last = await self._jobs.last_check(job)
        return WatchpointView(
            id=watchpoint.id,
            name=watchpoint.name,
            condition=watchpoint.condition,
            parameters=dict(watchpoint.parameters),
            enabled=watchpoint.enabled,
            recommended=watchpoint.recommended,
            watched=covered.count,
            hits=last.counts[watchpoint.id],
            warnings=_warnings(job, watchpoint, covered),
        )

    def _earlier(self, job: Job) -> Job | None:
        """The run whose watchpoints are offered to a job."""
        if job.view.state.ended or job.watch.state.earlier_taken:
            return None
        runs = [
            each
            for each in self._jobs.all()
            if each is not job and each.view.state.ended and each.watch.state.watchpoints and each.script == job.script
        ]
        return max(runs, key=lambda each: each.view.ended_at or 0, default=None)


def _earlier_view(job: Job) -> EarlierJob:
    view = job.view
    return EarlierJob(
        job_id=view.id, title=view.title, ended_at=view.ended_at or 0, count=len(job.watch.state.watchpoints)
    )


def _warnings(job: Job, watchpoint: Watchpoint, covered: Covered) -> list[WarningView]:
    found = [
        WarningView(code=each.code, message=each.message, field=each.field)
        for each in warnings(watchpoint.condition, watchpoint.parameters, job.view.step)
    ]
    if covered.missing:
        message = f"{covered.missing} of what is ticked is not in the graph any more"
        found.append(WarningView(code="missing_nodes", message=message, number=covered.missing))
    if not covered.count and job.graphs:
        found.append(WarningView(code="no_nodes", message="this covers no node: it can never hit"))
    return found
