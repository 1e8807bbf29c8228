"""The agent's connection to a server, over real gRPC: opened, broken, opened again, refused."""

from __future__ import annotations

import asyncio
import socket

import grpc
import pytest
from attach_server import PATIENCE, Attachment, AttachServer, soon

from stepscope.agent.link import CHUNK, Link, Refused
from stepscope.core.ports import Report, SourceInfo, State
from stepscope.protocol import convert
from stepscope.protocol.gen import stepscope_pb2 as pb

INFO = SourceInfo("job1", "mindspore", "2.10.0", pid=5, command_line=("python", "train.py"))
PAUSED = Report(State.PAUSED, step=3, reason="step", command_sequence=2)


def report_of(message: pb.Report) -> Report:
    return convert.report_from_proto(message)


async def graph_of(stream: Attachment) -> tuple[str, bytes]:
    """A whole graph, of whatever parts."""
    content = b""
    while True:
        chunk = await stream.next("graph")
        content += chunk.buffer
        assert len(chunk.buffer) <= CHUNK
        if chunk.finished:
            return chunk.graph_name, content


# ------------------------------------------------------------ connecting


async def test_the_first_word_says_who_we_are(server, connect):
    link = connect(token="secret")
    stream = await server.attached()
    assert not link.connected.is_set()
    hello = await stream.welcome(address="http://here:8080")
    assert convert.info_from_proto(hello) == INFO
    assert hello.protocol_version == convert.PROTOCOL_VERSION
    assert stream.metadata["authorization"] == "Bearer secret"
    await soon(link.connected)
    assert not link.lost.is_set()
    assert link.server == "http://here:8080"


async def test_without_a_token_none_is_sent(server, connect):
    connect()
    assert "authorization" not in (await server.attached()).metadata


async def test_what_was_said_before_the_connection_is_sent_after_it(server, connect):
    link = connect()
    link.send_graph("graph_0", b"abc")
    link.send_report(Report(State.RUNNING, step=1))
    link.send_report(PAUSED)
    stream = await server.attached()
    await stream.welcome()
    assert await graph_of(stream) == ("graph_0", b"abc")
    assert report_of(await stream.next("report")) == PAUSED  # the last one only


async def test_then_everything_is_sent_as_it_comes(server, connect):
    link = connect()
    stream = await server.attached()
    await stream.welcome()
    await soon(link.connected)
    link.send_report(PAUSED)
    link.send_graph("graph_1", b"xyz")
    assert report_of(await stream.next("report")) == PAUSED
    assert await graph_of(stream) == ("graph_1", b"xyz")


@pytest.mark.parametrize("size", [0, 1, CHUNK, CHUNK + 1, 3 * CHUNK])
async def test_a_large_graph_goes_in_parts(size, server, connect):
    link = connect()
    data = bytes(range(256)) * (size // 256) + bytes(size % 256)
    link.send_graph("large", data)
    stream = await server.attached()
    await stream.welcome()
    assert await graph_of(stream) == ("large", data)


async def test_commands_and_queries_are_handed_over_in_order(server, connect):
    link = connect()
    stream = await server.attached()
    await stream.welcome()
    sent = [pb.ServerMessage(command=pb.Command(sequence=number)) for number in range(3)]
    sent.append(pb.ServerMessage(query=pb.Query(id=7)))
    for message in sent:
        stream.send(message)
    assert [await asyncio.wait_for(link.heard.get(), PATIENCE) for _ in sent] == sent


# ------------------------------------------------------------ broken, and opened again


async def test_a_new_connection_gets_what_its_server_has_not(server, connect):
    link = connect()
    first = await server.attached()
    await first.welcome()
    await soon(link.connected)
    for number in range(3):
        link.send_graph(f"graph_{number}", bytes([number]))
        await graph_of(first)
    first.end()
    await soon(link.lost)
    assert not link.connected.is_set()
    link.send_report(PAUSED)  # meanwhile
    link.send_graph("graph_3", b"3")
    second = await server.attached()
    hello = await second.welcome(known_graphs=["graph_0", "graph_2"])
    assert hello.job_id == "job1"
    assert [await graph_of(second), await graph_of(second)] == [("graph_1", b"\1"), ("graph_3", b"3")]
    assert report_of(await second.next("report")) == PAUSED
    assert link.connected.is_set()
    assert second.silent


async def test_a_server_that_is_started_again_is_found(connect):
    async with AttachServer() as first:
        link = connect(port=first.port)
        await (await first.attached()).welcome()
        await soon(link.connected)
    await soon(link.lost)
    async with AttachServer(first.port) as second:
        await (await second.attached()).welcome()
        await soon(link.connected)


async def test_a_server_that_comes_later_is_found(connect):
    async with AttachServer() as gone:
        pass
    link = connect(port=gone.port)
    while link.problem != "nothing answers there":
        await asyncio.sleep(0.005)
    assert link.lost.is_set()
    async with AttachServer(gone.port) as server:
        await (await server.attached()).welcome()
        await soon(link.connected)


async def test_a_message_that_can_not_be_handled_costs_one_connection(server, connect):
    link = connect()
    link._on_message = None  # calling it raises
    first = await server.attached()
    await first.welcome()
    first.send(pb.ServerMessage(command=pb.Command(sequence=1)))
    second = await server.attached()
    await second.welcome()
    await soon(link.connected)
    assert link.problem.startswith("TypeError: ")


# ------------------------------------------------------------ refused, and unreachable


async def refusal(link: Link) -> str:
    with pytest.raises(Refused) as caught:
        await asyncio.wait_for(link.running, PATIENCE)
    assert not link.connected.is_set()
    return str(caught.value)


async def test_a_server_that_does_not_want_us_says_why(server, connect):
    link = connect()
    await (await server.attached()).welcome(accepted=False, reason="another protocol")
    assert await refusal(link) == "another protocol"
    assert server.streams == 1


@pytest.mark.parametrize("code", [grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED])
async def test_a_wrong_token(code, server, connect):
    server.abort = (code, "no")
    expected = f"the server at 127.0.0.1:{server.port} wants a token: set STEPSCOPE_TOKEN"
    assert await refusal(connect(token="wrong")) == expected
    assert server.streams == 1


async def test_a_grpc_server_of_another_kind(connect):
    other = grpc.aio.server()
    port = other.add_insecure_port("127.0.0.1:0")
    await other.start()
    assert await refusal(connect(port=port)) == f"what listens at 127.0.0.1:{port} is no stepscope server"
    await other.stop(None)


async def test_another_error_of_the_server_is_kept_and_tried_again(server, connect):
    server.abort = (grpc.StatusCode.INVALID_ARGUMENT, "the hello is malformed")
    link = connect()

    async def tried_again() -> None:
        while server.streams < 2 or link.problem != "the hello is malformed":
            await asyncio.sleep(0.005)

    await asyncio.wait_for(tried_again(), 20)
    assert not link.running.done()


async def test_a_host_that_has_no_address(connect):
    link = connect(host="no-such-host.invalid")
    while link.problem == "no answer":
        await asyncio.sleep(0.005)
    assert "Name" in link.problem or "name" in link.problem
    assert not link.running.done()


async def test_one_that_listens_and_does_not_answer(connect):
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        link = connect(port=stranger.getsockname()[1])
        await asyncio.sleep(0.1)
        assert link.problem == "no answer"
        assert not link.connected.is_set()
