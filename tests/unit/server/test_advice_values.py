"""The values of a job for one answer: none are mixed from two steps, and what is not there is None."""

from __future__ import annotations

from types import SimpleNamespace

from stepscope.core.errors import NotAvailable, Timeout
from stepscope.core.graph import Graph, InputRef, NodeRecord
from stepscope.core.ports import TensorKey
from stepscope.core.tensors import compare, stats
from stepscope.server.advice.values import JobValues

KEY, BEFORE = TensorKey("a", "x"), TensorKey("a", "x", when="previous")


class RunningSource:
    """A training that makes a step between two questions, or keeps still at one."""

    def __init__(self, steps: list[int]):
        self._steps = iter(steps)

    async def stats(self, key: TensorKey):
        return stats([1.0], step=next(self._steps) - (key.when == "previous"))

    async def compare(self, key: TensorKey):
        step = next(self._steps)
        return compare([1.0], [2.0], step=step, previous_step=step - 1)

    async def look(self, key: TensorKey, question: object):
        raise Timeout("no answer")


class Graphs:
    """`graph_of` of `Jobs`: graph b updates w."""

    async def graph_of(self, job: object, name: str) -> Graph:
        refs = [InputRef("w"), InputRef("rate"), InputRef("g")]
        update = NodeRecord("u", "u", "ApplyGradientDescent", "op", refs if name == "b" else refs[1:])
        return Graph(name, [NodeRecord("w", "w", "Parameter", "parameter"), update])


def values(source: object) -> JobValues:
    job = SimpleNamespace(live=lambda: source, graphs={"a": None, "b": None})
    return JobValues(Graphs(), job, "a")


async def test_all_figures_are_of_one_step():
    of = values(RunningSource([5, 5, 5, 6, 6, 5]))
    assert (await of.stats(KEY)).step == 5
    assert (await of.stats(BEFORE)).step == 4
    assert (await of.compare(KEY)).current.step == 5
    assert await of.stats(KEY) is None
    assert await of.compare(KEY) is None
    assert (await of.stats(KEY)).step == 5


async def test_what_is_not_there_is_none():
    def gone() -> None:
        raise NotAvailable("it has ended")

    ended = JobValues(Graphs(), SimpleNamespace(live=gone, graphs={}), "a")
    assert await ended.stats(KEY) is None
    assert await ended.compare(KEY) is None
    assert await values(RunningSource([])).facts(KEY) is None


async def test_other_graphs_of_the_job():
    assert await values(None).is_updated_elsewhere("w")
    assert not await values(None).is_updated_elsewhere("v")
