"""The trainings with MindSpore's own debugger client that are there, and those that are not."""

from __future__ import annotations

import asyncio

import pytest

from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.server.mindspore.peers import Peers
from stepscope.testing.timeline import Timeline

TRAINING = pb.Metadata(device_name="0:0", backend="GPU", ms_version="1.2.0")


@pytest.fixture
async def timeline():
    return Timeline()


@pytest.fixture
async def peers(timeline):
    peers = Peers(timeline)
    yield peers
    peers.close("the test is over")


async def test_one_that_is_back_at_once_is_not_told_to_be_gone(timeline, peers):
    peer = await peers.begin(TRAINING, "ipv4:127.0.0.1:1")
    peers.lose(peer, "the connection broke")
    peer.source.comes_back()
    await asyncio.sleep(0.01)
    assert timeline.detached is None


async def test_hits_of_strangers_are_kept_for_a_few_of_them(peers):
    for port in range(1, 101):
        peers.keep([pb.WatchpointHit(id=port)], f"ipv4:127.0.0.1:{port}")
    assert len(peers._early) == 20
    assert list(peers._early)[-1] == "ipv4:127.0.0.1:100"


async def test_two_that_are_alike_are_not_mixed_up(peers):
    """Who of them comes back can't be told."""
    for port in (1, 2):
        peers.lose(await peers.begin(TRAINING, f"ipv4:127.0.0.1:{port}"), "the connection broke")
    assert await peers.come_back(TRAINING, "ipv4:127.0.0.1:3") is None


async def test_one_comes_back_in_its_step_or_the_next(peers):
    peer = await peers.begin(TRAINING, "ipv4:127.0.0.1:1")
    peers.lose(peer, "the connection broke")
    for unlike in ({"cur_step": 2}, {"backend": "Ascend"}, {"device_name": "1:0"}):
        other = pb.Metadata(**{"device_name": "0:0", "backend": "GPU", **unlike})
        assert await peers.come_back(other, "ipv4:127.0.0.1:2") is None
    assert await peers.come_back(TRAINING, "ipv4:192.0.2.1:2") is None
    one = pb.Metadata(device_name="0:5", backend="GPU", cur_step=1)
    assert await peers.come_back(one, "ipv4:127.0.0.1:2") is peer
