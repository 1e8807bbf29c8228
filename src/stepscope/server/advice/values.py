"""The values of a job as the core asks for them: what is not there is None, many questions are on their way at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from stepscope.core.errors import StepscopeError
from stepscope.core.looks import FactsQuestion, TensorFacts
from stepscope.core.ports import Comparison, Source, TensorKey, TensorStats
from stepscope.server.job import Job
from stepscope.server.jobs import Jobs
from stepscope.server.settings import MAX_AT_ONCE

T = TypeVar("T")


class JobValues:
    """`core.advice.guide.Values` of one request. `graph` is the one that is asked about.

    All figures are of the step of the first one: a training that runs on meanwhile is not mixed up with itself.
    """

    def __init__(self, jobs: Jobs, job: Job, graph: str) -> None:
        self._jobs, self._job, self._graph = jobs, job, graph
        self._at_once = asyncio.Semaphore(MAX_AT_ONCE)
        self._step: int | None = None

    async def stats(self, key: TensorKey) -> TensorStats | None:
        found = await self._ask(lambda source: source.stats(key))
        return found if found and self._is_of_one_step(found.step + (key.when == "previous")) else None

    async def compare(self, key: TensorKey) -> Comparison | None:
        found = await self._ask(lambda source: source.compare(key))
        return found if found and self._is_of_one_step(found.current.step) else None

    async def facts(self, key: TensorKey) -> TensorFacts | None:
        return await self._ask(lambda source: source.look(key, FactsQuestion(key.when)))

    async def is_updated_elsewhere(self, parameter: str) -> bool:
        others = [name for name in self._job.graphs if name != self._graph]
        graphs = await asyncio.gather(*(self._jobs.graph_of(self._job, name) for name in others))
        return any(graph.updates.writers(parameter) for graph in graphs)

    def _is_of_one_step(self, step: int) -> bool:
        self._step = step if self._step is None else self._step
        return step == self._step

    async def _ask(self, question: Callable[[Source], Awaitable[T]]) -> T | None:
        async with self._at_once:
            try:
                return await question(self._job.live())
            except StepscopeError:  # gone, not recorded, no numbers: there is less to tell
                return None
