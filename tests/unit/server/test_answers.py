"""Questions to a training process: shared while they are on their way, bounded in memory, never without an end."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from stepscope.core.errors import Conflict, NotAvailable, StepscopeError, Timeout
from stepscope.core.ports import ExecutedNode, ExecutionOrder, Tensor, TensorKey
from stepscope.protocol import convert
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.server import answers, live
from stepscope.server.live import LiveSource
from stepscope.testing.source import INFO

KEY = TensorKey("g", "n")
ORDER = ExecutionOrder(1, (ExecutedNode("g", "n"),))


class Wire:
    """A source, and what it sent."""

    def __init__(self) -> None:
        self.sent: list[pb.ServerMessage] = []
        self.source = LiveSource(INFO, self.sent.append)

    @property
    def queries(self) -> list[pb.Query]:
        return [message.query for message in self.sent]

    async def answer(self, id: int, **what) -> None:
        await self.source.answer(pb.Answer(id=id, **what))


@pytest.fixture
def wire():
    return Wire()


async def started(*work):
    tasks = [asyncio.ensure_future(one) for one in work]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return tasks


async def test_the_same_question_is_asked_once(wire):
    source = wire.source
    tasks = await started(source.execution(), source.execution(), source.execution(0, 5))
    assert [(query.execution.offset, query.execution.limit) for query in wire.queries] == [(0, 1000), (0, 5)]
    for query in wire.queries:
        await wire.answer(query.id, execution=convert.execution_to_proto(ORDER))
    assert await asyncio.gather(*tasks) == [ORDER] * 3
    (later,) = await started(source.execution())  # what was answered may be outdated by now
    assert len(wire.queries) == 3
    await wire.answer(wire.queries[-1].id, execution=convert.execution_to_proto(ORDER))
    await later


async def test_one_who_goes_away_does_not_take_the_answer_along(wire):
    first, second = await started(wire.source.execution(), wire.source.execution())
    first.cancel()
    await asyncio.sleep(0)
    await wire.answer(wire.queries[0].id, execution=convert.execution_to_proto(ORDER))
    assert await second == ORDER


async def test_a_question_that_nobody_waits_for_is_forgotten(wire):
    (only,) = await started(wire.source.execution())
    only.cancel()
    with pytest.raises(asyncio.CancelledError):
        await only
    await wire.answer(wire.queries[0].id, execution=convert.execution_to_proto(ORDER))
    (again,) = await started(wire.source.execution())
    assert len(wire.queries) == 2
    await wire.answer(wire.queries[1].id, execution=convert.execution_to_proto(ORDER))
    assert await again == ORDER


async def test_a_tensor_comes_whole_and_in_part(wire):
    array = np.arange(3 << 20, dtype=np.int8).reshape(3, -1)
    whole, row = await started(wire.source.tensor(KEY), wire.source.tensor(KEY, "1, :"))
    for query, part in zip(wire.queries, (array, array[1]), strict=True):
        for message in convert.tensor_to_proto(Tensor(part, "int8", array.shape, 4)):
            await wire.answer(query.id, tensor=message)
    tensor = await whole
    assert np.array_equal(tensor.array, array)
    assert (tensor.dtype, tensor.shape, tensor.step) == ("int8", array.shape, 4)
    assert np.array_equal((await row).array, array[1])


async def test_a_large_tensor_is_not_kept(wire, monkeypatch):
    monkeypatch.setattr(answers, "SHARED", 1000)
    parts = wire.source.tensor_parts(KEY)
    first = asyncio.ensure_future(anext(parts))
    await asyncio.sleep(0)
    (held,) = wire.source._waiting.values()
    for number in range(100):
        part = pb.TensorPart(content=bytes([number]) * 100, finished=number == 99)
        await wire.answer(wire.queries[0].id, tensor=part)
        got = await first if number == 0 else await anext(parts)
        assert got.content == bytes([number]) * 100
    assert sum(each is not None for each in held._answers) <= 11
    with pytest.raises(StopAsyncIteration):
        await anext(parts)
    assert not wire.source._waiting
    assert not wire.source._asked


async def test_beyond_the_limit_nobody_joins_but_the_slow_still_get_all(wire, monkeypatch):
    monkeypatch.setattr(answers, "SHARED", 1000)
    fast, slow = wire.source.tensor_parts(KEY), wire.source.tensor_parts(KEY)
    heads = await started(anext(fast), anext(slow))
    assert len(wire.queries) == 1
    for number in range(20):
        await wire.answer(1, tensor=pb.TensorPart(content=bytes([number]) * 100, finished=number == 19))
    heads = await asyncio.gather(*heads)
    rest = [part.content async for part in fast]
    late = wire.source.tensor_parts(KEY)
    await started(anext(late))
    assert len(wire.queries) == 2
    assert [part.content async for part in slow] == rest
    assert [heads[0].content, *rest] == [bytes([number]) * 100 for number in range(20)]


async def test_readers_are_waited_for_but_not_long(wire, monkeypatch):
    monkeypatch.setattr(answers, "SHARED", 100)
    monkeypatch.setattr(answers, "PATIENCE", 60)
    parts = wire.source.tensor_parts(KEY)
    (head,) = await started(anext(parts))
    await wire.answer(1, tensor=pb.TensorPart(content=b"x" * 80))
    (second,) = await started(wire.answer(1, tensor=pb.TensorPart(content=b"x" * 80)))
    assert (await head).content
    await asyncio.wait_for(second, 60)  # there is room again: the first part was taken
    (third,) = await started(wire.answer(1, tensor=pb.TensorPart(content=b"x" * 80)))
    assert not third.done()
    monkeypatch.setattr(answers, "PATIENCE", 0.01)
    await asyncio.wait_for(wire.answer(1, tensor=pb.TensorPart(content=b"x" * 80)), 60)
    for _ in range(2):
        await anext(parts)
    await asyncio.wait_for(third, 60)


async def test_a_failure_is_the_error_that_it_names(wire):
    stats, compare = await started(wire.source.stats(KEY), wire.source.compare(KEY))
    await wire.answer(1, failure=pb.Failure(kind="not_available", message="not recorded"))
    await wire.answer(2, failure=pb.Failure(kind="something new", message="oh"))
    with pytest.raises(NotAvailable, match="not recorded"):
        await stats
    with pytest.raises(StepscopeError, match="oh"):
        await compare


async def test_an_answer_to_another_question_is_no_answer(wire):
    (stats,) = await started(wire.source.stats(KEY))
    await wire.answer(77, execution=convert.execution_to_proto(ORDER))  # nobody asked
    await wire.answer(1, execution=convert.execution_to_proto(ORDER))
    with pytest.raises(StepscopeError, match="answered with execution where statistics was asked"):
        await stats


async def test_silence_has_an_end(wire, monkeypatch):
    monkeypatch.setattr(answers, "ANSWER_SECONDS", 0.01)
    with pytest.raises(Timeout, match="no answer from the training process"):
        await wire.source.stats(KEY)
    assert not wire.source._waiting


async def test_all_who_wait_hear_of_the_end(wire):
    parts = wire.source.tensor_parts(KEY)
    head, stats = await started(anext(parts), wire.source.stats(KEY))
    await wire.answer(1, tensor=pb.TensorPart(content=b"x"))
    wire.source.close("it died")
    assert (await head).content == b"x"
    with pytest.raises(NotAvailable, match="it died"):
        await anext(parts)
    with pytest.raises(NotAvailable, match="it died"):
        await stats
    with pytest.raises(NotAvailable, match="it died"):
        await wire.source.stats(KEY)


async def test_too_many_questions_are_refused(wire, monkeypatch):
    monkeypatch.setattr(live, "MAX_PENDING", 2)
    tasks = await started(*(wire.source.execution(0, number + 1) for number in range(2)))
    with pytest.raises(Conflict, match="too many"):
        await wire.source.stats(KEY)
    for task in tasks:
        task.cancel()
