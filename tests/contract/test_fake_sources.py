"""The contract on the fakes: the sources themselves, and the same behind real gRPC."""

from __future__ import annotations

import asyncio

import pytest
from source_contract import CHECKS, LIVE_CHECKS

from stepscope.testing.agent import FakeAgent
from stepscope.testing.live_source import FakeLiveSource
from stepscope.testing.source import FakeSource
from stepscope.testing.timeline import Timeline, listening

ALL = [(FakeSource, check) for check in CHECKS] + [(FakeLiveSource, check) for check in LIVE_CHECKS]
each_check = pytest.mark.parametrize(("of", "check"), ALL, ids=lambda each: each.__name__)


async def attached_directly(source: FakeSource) -> Timeline:
    timeline = Timeline()
    events: asyncio.Queue = asyncio.Queue()
    await timeline.attach(source, "")
    await timeline.graph(source, *source.graph())
    await timeline.report(source, source.last)

    async def pass_on():
        while True:
            tell, event = await events.get()
            await tell(source, event)

    source.on_hits = lambda batch: events.put_nowait((timeline.hits, batch))
    source.on_report = lambda report: events.put_nowait((timeline.report, report))
    source.on_farewell = lambda farewell: events.put_nowait((timeline.farewell, farewell))
    timeline.passing_on = asyncio.create_task(pass_on())
    return timeline


@each_check
async def test_the_fake_source(of, check):
    timeline = await attached_directly(of())
    await check(timeline)
    timeline.passing_on.cancel()


@each_check
async def test_a_source_behind_a_connection(of, check):
    async with listening() as (timeline, address):
        agent = await asyncio.to_thread(FakeAgent, address, of())
        await timeline.attached()
        await check(timeline)
        await asyncio.to_thread(agent.close)


@pytest.mark.parametrize(("of", "checks"), [(FakeSource, CHECKS), (FakeLiveSource, LIVE_CHECKS)])
async def test_all_on_one_training(of, checks):
    async with listening() as (timeline, address):
        agent = await asyncio.to_thread(FakeAgent, address, of())
        await timeline.attached()
        for check in checks:
            await check(timeline)
        await asyncio.to_thread(agent.close)
