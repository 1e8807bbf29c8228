"""A training that stands still within a step, behind the real agent, the real pipe and real gRPC."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
from fake_live_probe import LiveProbe

from stepscope.core.errors import NotAvailable, UnknownNode
from stepscope.core.looks import HistogramQuestion
from stepscope.core.ports import TensorKey
from stepscope.core.watch.records import Rule, Selection, Watchpoint
from stepscope.testing.network import INPUTS, NODES
from stepscope.testing.timeline import Timeline, listening

sys.path.insert(0, str(Path(__file__).parents[2] / "contract"))
from source_contract import LIVE_CHECKS

WEIGHT = TensorKey("graph_0", "hidden.weight")


@pytest.fixture
async def attached(tmp_path) -> AsyncIterator[tuple[Timeline, LiveProbe]]:
    async with listening() as (timeline, address):
        probe = LiveProbe(tmp_path / "data", address)
        try:
            await timeline.attached()
            yield timeline, probe
        finally:
            await probe.close()


@pytest.mark.parametrize("check", LIVE_CHECKS, ids=lambda check: check.__name__)
async def test_the_contract(attached, check):
    await check(attached[0])


async def test_the_graph_arrives_as_it_was_and_its_file_is_gone(attached):
    timeline, probe = attached
    graph = timeline.graphs["graph_0"]
    assert set(graph.nodes(folded=True)) >= set(NODES)
    assert set(graph.of_kind("input")) == set(INPUTS)
    assert not (probe.folder / "graph.json").exists()


async def test_a_graph_that_can_not_be_read_is_a_warning_and_the_training_stays(attached):
    timeline, probe = attached
    (probe.folder / "broken").write_text("{}")
    probe.say("graph", name="eval", path=str(probe.folder / "broken"))
    report = await timeline.do("run", 1)
    told = [each.warning for each in timeline.reports if each.warning]
    assert told[0].startswith("the graph 'eval' could not be read: KeyError")
    assert report.step == 1


async def test_a_look_at_a_tensor(attached):
    timeline, _ = attached
    await timeline.do("run", 1)
    found = await timeline.source.look(WEIGHT, HistogramQuestion(bins=4))
    values = (await timeline.source.tensor(WEIGHT)).array
    assert found.counts == tuple(np.histogram(values, 4)[0])


async def test_no_array_stays_behind(attached):
    timeline, probe = attached
    await timeline.do("run", 1)
    await asyncio.gather(*(timeline.source.tensor(TensorKey("graph_0", name)) for name in NODES))
    assert list(probe.folder.glob("*.npy")) == []


async def test_an_error_keeps_its_kind(attached):
    timeline, _ = attached
    with pytest.raises(UnknownNode):
        await timeline.source.stats(TensorKey("graph_0", "no such node"))


async def test_the_agent_itself_refuses_while_the_training_runs(attached):
    timeline, probe = attached
    probe.source.step_seconds = 60  # it would not look at the pipe for a minute
    await timeline.send("resume")
    with pytest.raises(NotAvailable, match="the training runs: pause it"):
        await timeline.source.tensor(WEIGHT)
    assert "query" not in probe.sent


async def test_who_asks_when_the_training_ends_is_told(attached):
    timeline, probe = attached
    probe.mute = True
    asking = asyncio.ensure_future(timeline.source.tensor(WEIGHT))
    await asyncio.wait_for(probe.asked.wait(), 10)
    probe.end()
    with pytest.raises(NotAvailable, match="ended"):
        await asking
    assert (await timeline.farewell_came()).outcome == "finished"


async def test_the_last_words_count_whole_steps(attached):
    timeline, probe = attached
    await timeline.do("run", 2)
    await timeline.do("next_node")
    probe.process.kill()
    probe.hang_up()
    assert (await timeline.farewell_came()).outcome == "lost"
    last = timeline.reports[-1]
    assert (last.step, last.recorded_steps, last.cursor) == (2, (), None)


async def test_watchpoints_reach_the_probe_whole(attached) -> None:
    timeline, probe = attached
    watchpoints = [on(name) for name in NODES]
    await timeline.watch(*watchpoints)
    await timeline.do("run", 1)
    assert [each.selection for each in probe.source.watchpoints.watchpoints] == [each.selection for each in watchpoints]


def on(name: str) -> Watchpoint:
    return Watchpoint(0, "tensor_overflow", {}, Selection("none", rules=(Rule(name, True),)))
