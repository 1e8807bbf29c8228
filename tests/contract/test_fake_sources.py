"""The contract on the fakes: the source itself, and the same behind real gRPC."""

from __future__ import annotations

import asyncio

import pytest
from source_contract import CHECKS

from stepscope.testing.agent import FakeAgent
from stepscope.testing.source import FakeSource
from stepscope.testing.timeline import Timeline, listening

each_check = pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)


async def attached_directly() -> Timeline:
    source, timeline = FakeSource(), Timeline()
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
async def test_the_fake_source(check):
    timeline = await attached_directly()
    await check(timeline)
    timeline.passing_on.cancel()


@each_check
async def test_a_live_source(check):
    async with listening() as (timeline, address):
        agent = await asyncio.to_thread(FakeAgent, address)
        await timeline.attached()
        await check(timeline)
        await asyncio.to_thread(agent.close)


async def test_all_on_one_training():
    async with listening() as (timeline, address):
        agent = await asyncio.to_thread(FakeAgent, address)
        await timeline.attached()
        for check in CHECKS:
            await check(timeline)
        await asyncio.to_thread(agent.close)
