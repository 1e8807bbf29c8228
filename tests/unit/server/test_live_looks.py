"""Questions to a training process about a tensor: those who ask the same at the same time share the answer."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from stepscope.core.errors import BadRequest
from stepscope.core.looks import Beyond, BeyondQuestion, HistogramQuestion
from stepscope.core.ports import TensorKey
from stepscope.protocol import convert, looks
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.server.live import LiveSource
from stepscope.testing.source import INFO

KEY = TensorKey("graph", "node")


async def asked(source: LiveSource, *questions):
    """The answers as they are to come, once all have been asked."""
    waiting = [asyncio.create_task(source.look(key, question)) for key, question in questions]
    await asyncio.sleep(0)
    return asyncio.gather(*waiting)


async def test_the_same_question_is_sent_once():
    sent: list[pb.ServerMessage] = []
    source = LiveSource(INFO, sent.append)
    question = BeyondQuestion(0.5, "0")
    same = [(KEY, question), (replace(KEY, when="previous"), BeyondQuestion(0.5, "0")), (KEY, question)]
    other = (KEY, BeyondQuestion(0.25, "0"))
    answers = await asked(source, *same, other)
    assert [message.query.look.beyond.threshold for message in sent] == [0.5, 0.25]
    for number, message in enumerate(sent, 1):
        assert message.query.id == number
        answer = pb.Answer(id=number, look=looks.answer_to_proto(Beyond(number, 9)))
        await source.answer(answer)
    assert await answers == [Beyond(1, 9)] * 3 + [Beyond(2, 9)]
    again = await asked(source, (KEY, question))
    assert len(sent) == 3
    await source.answer(pb.Answer(id=3, look=looks.answer_to_proto(Beyond(7, 9))))
    assert await again == [Beyond(7, 9)]


async def test_what_is_wrong_with_the_question_comes_back():
    source = LiveSource(INFO, lambda message: None)
    answers = await asked(source, (KEY, HistogramQuestion(index="x")))
    error = BadRequest("'x' is no index")
    error.field = "index"
    await source.answer(pb.Answer(id=1, failure=convert.failure_to_proto(error)))
    with pytest.raises(BadRequest, match="no index") as refused:
        await answers
    assert refused.value.field == "index"
