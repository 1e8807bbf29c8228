"""Events: in order, none twice, none missed, and a fresh start where that is not possible."""

from __future__ import annotations

import asyncio

from stepscope.server.events import KEPT, EventBus
from stepscope.server.models import ServerInfo

SERVER = ServerInfo(version="1", address="http://x", debugger_address=None, workspace="/w")


async def take(bus: EventBus, since: int | None, count: int) -> list:
    followed = bus.follow(since, SERVER)
    try:
        return [await asyncio.wait_for(anext(followed), 60) for _ in range(count)]
    finally:
        await followed.aclose()


async def test_a_new_follower_is_told_to_fetch_and_then_follows():
    bus = EventBus()
    bus.removed("a")
    followed = bus.follow(None, SERVER)
    first = await anext(followed)
    assert (first.type, first.server) == ("server", SERVER)
    waiting = asyncio.create_task(anext(followed))
    await asyncio.sleep(0)
    bus.removed("b")
    second = await asyncio.wait_for(waiting, 60)
    assert (second.type, second.job_id, second.seq) == ("job_removed", "b", first.seq + 1)
    await followed.aclose()


async def test_who_was_away_gets_what_was_missed():
    bus = EventBus()
    (start,) = await take(bus, None, 1)
    for name in "abc":
        bus.removed(name)
    events = await take(bus, start.seq + 1, 2)
    assert [event.job_id for event in events] == ["b", "c"]
    assert [event.job_id for event in await take(bus, start.seq, 3)] == ["a", "b", "c"]


async def test_who_was_away_too_long_starts_anew():
    bus = EventBus()
    (start,) = await take(bus, None, 1)
    for number in range(KEPT + 1):
        bus.removed(str(number))
    (event,) = await take(bus, start.seq, 1)
    assert (event.type, event.seq) == ("server", start.seq + KEPT + 1)
    assert (await take(bus, start.seq + 1, 1))[0].job_id == "1"


async def test_numbers_of_another_server_start_anew():
    bus = EventBus()
    (start,) = await take(bus, None, 1)
    assert (await take(bus, start.seq - 5, 1))[0].type == "server"
    assert (await take(bus, start.seq + 5, 1))[0].type == "server"


async def test_the_next_server_has_higher_numbers(monkeypatch):
    clock = 1_800_000_000 * 10**9
    monkeypatch.setattr("time.time_ns", lambda: clock)
    bus = EventBus()
    for _ in range(100):
        bus.removed("a")
    (last,) = await take(bus, None, 1)
    clock += 10**9  # a server takes longer than this to start
    (first,) = await take(EventBus(), None, 1)
    assert first.seq > last.seq


async def test_closing_ends_all_followers():
    bus = EventBus()
    followed = bus.follow(None, SERVER)
    await anext(followed)
    waiting = asyncio.create_task(anext(followed, "ended"))
    await asyncio.sleep(0)
    bus.close()
    assert await asyncio.wait_for(waiting, 60) == "ended"
