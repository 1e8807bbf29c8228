"""A server whose part the test plays, and what connects to it: a bare link, or an agent with a training process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from attach_server import Attachment, AttachServer
from fake_probe import Probe

from stepscope.agent import link as link_module
from stepscope.agent.link import Link, Refused
from stepscope.core.ports import SourceInfo
from stepscope.protocol.gen import stepscope_pb2 as pb

INFO = SourceInfo("job1", "mindspore", "2.10.0", pid=5, command_line=("python", "train.py"))


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_module, "RETRY", 0.01)


@pytest.fixture
async def server() -> AsyncIterator[AttachServer]:
    async with AttachServer() as running:
        yield running


@pytest.fixture
async def connect(server) -> AsyncIterator[Callable[..., Link]]:
    """Makes a link that runs; `running` on it is its task, `heard` what came."""
    links: list[Link] = []

    def make(host: str = "127.0.0.1", port: int = 0, token: str = "") -> Link:
        heard: asyncio.Queue[pb.ServerMessage] = asyncio.Queue()
        link = Link((host, port or server.port), token, INFO, heard.put)
        link.heard = heard
        link.running = asyncio.ensure_future(link.run())
        links.append(link)
        return link

    yield make
    for link in links:
        link.running.cancel()
        with contextlib.suppress(asyncio.CancelledError, Refused):
            await link.running


@pytest.fixture
async def start(tmp_path) -> AsyncIterator[Any]:
    probes: list[Probe] = []

    def make(port: int, *arguments: Any) -> Probe:
        probes.append(Probe(tmp_path / "data", port, *arguments))
        return probes[-1]

    yield make
    for probe in probes:
        with probe.process:
            probe.process.kill()
        probe.close()
        probe.agent.cancel()
        await asyncio.gather(probe.agent, return_exceptions=True)
        probe._agents_socket.close()


@pytest.fixture
async def attached(server, start) -> tuple[Probe, Attachment]:
    """A training that is connected."""
    probe = start(server.port)
    probe.hello()
    stream = await server.attached()
    await stream.welcome(address="http://here")
    await probe.next("connected")
    return probe, stream
