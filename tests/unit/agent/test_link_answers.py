"""What goes to the server over the agent's connection: answers, which may be large, and the last word."""

from __future__ import annotations

import asyncio

from attach_server import PATIENCE, AttachServer, soon

from stepscope.agent.link import QUEUED_ANSWERS, Link
from stepscope.core.ports import Farewell, Report, State
from stepscope.protocol import convert
from stepscope.protocol.gen import stepscope_pb2 as pb

PAUSED = Report(State.PAUSED, step=3, reason="step")

# ------------------------------------------------------------ answers


def answer(number: int, size: int = 0) -> pb.Answer:
    return pb.Answer(id=number, tensor=pb.TensorPart(content=bytes(size)))


async def test_an_answer_goes_over_the_connection_of_its_query(server, connect):
    link = connect()
    stream = await server.attached()
    await stream.welcome()
    await soon(link.connected)
    await link.send_answer(answer(5), link.connection)
    assert (await stream.next("answer")).id == 5


async def test_answers_to_a_broken_connection_are_dropped(server, connect):
    """The next server numbers its own queries: an old answer could be taken for one of theirs."""
    link = connect()
    first = await server.attached()
    await first.welcome()
    await soon(link.connected)
    old = link.connection
    first.end()
    await soon(link.lost)
    await link.send_answer(answer(1), old)  # while there is none
    second = await server.attached()
    await second.welcome()
    await soon(link.connected)
    await link.send_answer(answer(2), old)
    await link.send_answer(answer(3), link.connection)
    assert (await second.next("answer")).id == 3


async def test_answers_do_not_pile_up_before_a_slow_server(server, connect):
    link = connect()
    stream = await server.attached()
    await stream.welcome()
    await soon(link.connected)
    stream.reading.clear()
    sending = asyncio.ensure_future(_send_many(link, 40))
    await asyncio.sleep(0.2)
    assert not sending.done()
    assert link.connection.qsize() <= QUEUED_ANSWERS
    stream.reading.set()
    assert [(await stream.next("answer")).id for _ in range(40)] == list(range(40))
    await sending


async def test_a_connection_that_breaks_ends_the_wait_for_a_slow_server(server, connect):
    link = connect()
    stream = await server.attached()
    await stream.welcome()
    await soon(link.connected)
    stream.reading.clear()
    sending = asyncio.ensure_future(_send_many(link, 40))
    await asyncio.sleep(0.05)
    stream.end()
    await asyncio.wait_for(sending, PATIENCE)


async def _send_many(link: Link, count: int) -> None:
    connection = link.connection
    for number in range(count):
        await link.send_answer(answer(number, 1 << 20), connection)


# ------------------------------------------------------------ farewell


async def test_the_farewell_is_the_last_word(server, connect):
    link = connect()
    stream = await server.attached()
    await stream.welcome()
    await soon(link.connected)
    link.send_report(PAUSED)
    leaving = asyncio.ensure_future(link.send_farewell(Farewell("lost", "killed", -9), PATIENCE))
    await stream.next("report")
    assert convert.farewell_from_proto(await stream.next("farewell")) == Farewell("lost", "killed", -9)
    await soon(stream.ended)  # our half of the stream is closed
    assert not leaving.done()
    stream.end()
    await asyncio.wait_for(leaving, PATIENCE)


async def test_a_server_that_does_not_close_the_stream_is_not_waited_for(server, connect):
    link = connect()
    stream = await server.attached()
    await stream.welcome()
    await soon(link.connected)
    await link.send_farewell(Farewell("finished"), 0.05)
    await stream.next("farewell")


async def test_without_a_server_there_is_no_farewell(connect):
    async with AttachServer() as gone:
        pass
    await connect(port=gone.port).send_farewell(Farewell("finished"), PATIENCE)
