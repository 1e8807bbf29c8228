"""The WebSocket: every change arrives, in order, also after a connection that broke."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager

import pytest
import websockets
from pydantic import TypeAdapter
from websockets.asyncio.client import connect

import stepscope
from stepscope.server.models import Event
from stepscope.testing.agent import FakeAgent
from stepscope.testing.server import ServerThread

EVENT = TypeAdapter(Event)


@asynccontextmanager
async def following(server, since=None, **options):
    query = "" if since is None else f"?since={since}"
    async with connect(server.url.replace("http", "ws", 1) + f"/api/events{query}", **options) as socket:
        yield socket


async def take(socket) -> dict:
    """The next event; it is as described."""
    event = json.loads(await asyncio.wait_for(socket.recv(), 10))
    EVENT.validate_python(event)
    return event


async def take_until(socket, wanted) -> list[dict]:
    events = [await take(socket)]
    while not wanted(events[-1]):
        events.append(await take(socket))
    return events


async def test_a_job_from_its_coming_to_its_end(server):
    async with following(server) as socket:
        hello = await take(socket)
        assert (hello["type"], hello["server"]["debugger_address"]) == ("server", server.debugger_address)
        agent = await asyncio.to_thread(FakeAgent, server.debugger_address)
        events = await take_until(socket, lambda event: event.get("job", {}).get("state") == "paused")
        await asyncio.to_thread(agent.close)
        events += await take_until(socket, lambda event: event.get("job", {}).get("state") == "lost")
    assert [event["type"] for event in events] == ["job", "graph", "job", "job", "job"]
    assert [event["seq"] for event in events] == list(range(hello["seq"] + 1, hello["seq"] + 6))
    assert (events[1]["job_id"], events[1]["graph"]["name"], events[1]["graph"]["nodes"]) == ("fake-1", "graph_0", 13)
    revisions = [event["job"]["revision"] for event in events if event["type"] == "job"]
    assert revisions == sorted(set(revisions))


async def test_who_comes_back_misses_nothing(server, job):
    async with following(server) as socket:
        seen = (await take(socket))["seq"]
    await asyncio.to_thread(job.run)
    assert await asyncio.to_thread(job.wait, 10) == "paused"
    async with following(server, since=seen) as socket:
        events = await take_until(socket, lambda event: event["job"]["state"] == "paused")
        assert events[0]["seq"] == seen + 1
        assert events[0]["job"]["state"] == "running"
        assert events[-1]["job"]["step"] == 1


async def test_another_servers_numbers_start_anew(tmp_path):
    with ServerThread(tmp_path) as server:
        async with following(server) as socket:
            seen = (await take(socket))["seq"]
    with ServerThread(tmp_path) as server:
        for since in (seen, seen + 10**9, 0, -1):
            async with following(server, since=since) as socket:
                assert (await take(socket))["type"] == "server"


async def test_losses_that_are_no_numbers(server):
    from stepscope.testing.source import FakeSource

    async with following(server) as socket:
        with FakeAgent(server.debugger_address, FakeSource(nan_at=1)), stepscope.connect(server.url) as debugger:
            job = debugger.wait_for_job(60)
            job.run()
            events = await take_until(socket, lambda event: event.get("job", {}).get("step") == 1)
            assert events[-1]["job"]["loss"] == "nan"


async def test_a_removed_job(server, agent, job):
    import httpx

    agent.finish()
    assert await asyncio.to_thread(job.wait, 10) == "finished"
    async with following(server) as socket:
        await take(socket)
        async with httpx.AsyncClient(base_url=server.url) as client:
            assert (await client.delete("/api/jobs/fake-1", headers={"X-Stepscope": "1"})).status_code == 204
        event = await take(socket)
        assert (event["type"], event["job_id"]) == ("job_removed", "fake-1")


async def test_followers_are_let_go_when_the_server_stops(tmp_path):
    server = ServerThread(tmp_path)
    async with following(server) as socket:
        await take(socket)
        await asyncio.to_thread(server.close)
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await asyncio.wait_for(socket.recv(), 10)
        assert closed.value.rcvd.code == 1012


async def test_what_a_page_says_is_of_no_interest_and_has_a_limit(server):
    async with following(server) as socket:
        await take(socket)
        await socket.send("x" * 1000)
        await socket.send(b"x")
        await socket.send("x" * 100_000)
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await asyncio.wait_for(socket.recv(), 10)
        assert closed.value.rcvd.code == 1009


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"origin": "http://evil.example"}, 403),
        ({"additional_headers": {"Origin": "null"}}, 403),
    ],
)
async def test_foreign_pages_may_not_follow(server, options, status):
    with pytest.raises(websockets.InvalidStatus) as refused:
        async with following(server, **options):
            pass
    assert refused.value.response.status_code == status
    assert refused.value.response.headers["x-frame-options"] == "DENY"


async def test_our_own_page_may(server):
    async with following(server, origin=server.url) as socket:
        assert (await take(socket))["type"] == "server"


async def test_following_needs_the_token(tmp_path):
    with ServerThread(tmp_path, token="secret") as server:
        with pytest.raises(websockets.InvalidStatus) as refused:
            async with following(server):
                pass
        assert refused.value.response.status_code == 401
        port = server.url.rpartition(":")[2]
        for headers in ({"Authorization": "Bearer secret"}, {"Cookie": f"stepscope-{port}=secret"}):
            async with following(server, additional_headers=headers) as socket:
                assert (await take(socket))["type"] == "server"


async def test_a_follower_that_does_not_read_holds_up_nobody(server, agent, job):
    async with following(server, max_queue=1) as socket:
        await take(socket)
        for _ in range(20):
            await asyncio.to_thread(job.run, 5)
            assert await asyncio.to_thread(job.wait, 10) == "paused"
        events = await take_until(socket, lambda event: event.get("job", {}).get("step") == 100)
        assert [event["seq"] for event in events] == sorted({event["seq"] for event in events})
