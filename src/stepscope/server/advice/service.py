"""Answers about one tensor of a job: from its hits, its graph and what the training process says of its values."""

from __future__ import annotations

from stepscope.core.advice.guide import guide
from stepscope.core.advice.origin import NamedHit, Origin, trace
from stepscope.core.advice.places import placed
from stepscope.core.ports import TensorKey
from stepscope.server.advice.values import JobValues
from stepscope.server.job import Job
from stepscope.server.jobs import Jobs
from stepscope.server.tensor_models import FactView, GuideView
from stepscope.server.watch.hits import Wanted


class Advice:
    """Values that are not there make the answers shorter, they are no errors."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    async def origin(self, job: Job, key: TensorKey, watchpoint: int | None = None) -> Origin:
        graph = await self._jobs.graph_of(job, key.graph)
        return await trace(graph, key, JobValues(self._jobs, job, graph.name).stats, await self._hits(job), watchpoint)

    async def guide(self, job: Job, key: TensorKey) -> GuideView:
        graph = await self._jobs.graph_of(job, key.graph)
        checked = await self._jobs.last_check(job)
        place = placed(graph, key)
        wanted = Wanted(graph=graph.name, node=place.node, slot=place.slot)
        step = job.view.step - (key.when == "previous")
        conditions = {
            checked.labels[each.watchpoint].condition
            for each in wanted.of(checked.batch.hits, job.view.rank)
            if each.step == step and not each.error - {"nan", "inf"}
        }
        facts = await guide(graph, key, JobValues(self._jobs, job, graph.name), conditions)
        hits = checked.view(wanted, job.view, job.watch.state, []).hits
        return GuideView(step=step, hits=hits, facts=[FactView.model_validate(each) for each in facts])

    async def _hits(self, job: Job) -> list[NamedHit]:
        checked = await self._jobs.last_check(job)
        return [NamedHit(each, checked.labels[each.watchpoint].condition) for each in checked.batch.hits]
