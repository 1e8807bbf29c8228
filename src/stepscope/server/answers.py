"""One question to a training process, with its answers as they arrive, for one reader or several.

All answers are kept for readers who come later, up to `SHARED` bytes; beyond it nobody can join, and an answer is freed
once all readers have it. Readers go at their own pace: they are waited for a little, but as the stream also carries
everything else, never long.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress

from stepscope.core.errors import StepscopeError, Timeout
from stepscope.protocol.convert import failure_from_proto
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.server.settings import ANSWER_SECONDS, MIB

SHARED = 64 * MIB
PATIENCE = 0.05  # seconds that readers are waited for, a part


class Answers:
    """`kind` is the field of the answers that are expected; `on_end` is called when no more of them are wanted."""

    def __init__(self, kind: str, on_end: Callable[[], None]):
        self.joinable = True
        self._kind = kind
        self._on_end = on_end
        self._answers: list[pb.Answer | None] = []  # None: freed
        self._freed = 0
        self._held = 0  # bytes
        self._room = asyncio.Event()
        self._readers: list[_Reader] = []
        self._finished = False
        self._error: StepscopeError | None = None
        self._news = asyncio.Event()

    def feed(self, answer: pb.Answer) -> None:
        kind = answer.WhichOneof("what")
        if kind == "failure":
            self.fail(failure_from_proto(answer.failure))
        elif kind != self._kind:
            self.fail(StepscopeError(f"the training process answered with {kind} where {self._kind} was asked"))
        else:
            self._answers.append(answer)
            self._held += answer.ByteSize()
            if kind != "tensor" or answer.tensor.finished:
                self._end()
            self._trim()
            self._wake()

    async def room(self) -> None:
        """Wait until the readers have taken in most of it, but not long."""
        if self._held > SHARED and self._readers:
            self._room.clear()
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._room.wait(), PATIENCE)

    def fail(self, error: StepscopeError) -> None:
        self._error = error
        self._end()
        self._wake()

    async def one(self) -> pb.Answer:
        """The first answer, where there is only one to come."""
        async with aclosing(self.read()) as answers:
            async for answer in answers:
                return answer
        raise StepscopeError("the training process gave no answer")

    async def read(self) -> AsyncGenerator[pb.Answer, None]:
        """The answers in order; raises what the training process said instead, and Timeout after a long silence."""
        reader = _Reader()
        self._readers.append(reader)
        try:
            while True:
                news = self._news
                if reader.at < len(self._answers):
                    answer = self._answers[reader.at]
                    assert answer is not None
                    reader.at += 1
                    self._trim()
                    yield answer
                elif self._error:
                    raise self._error
                elif self._finished:
                    return
                else:
                    try:
                        await asyncio.wait_for(news.wait(), ANSWER_SECONDS)
                    except asyncio.TimeoutError:
                        raise Timeout(f"no answer from the training process for {ANSWER_SECONDS:.0f} s") from None
        finally:
            self._readers.remove(reader)
            if not self._readers:
                self._end()

    def _end(self) -> None:
        if not self._finished:
            self._finished = True
            self.joinable = False
            self._on_end()

    def _trim(self) -> None:
        if self._held <= SHARED and self.joinable:
            return
        self.joinable = False
        for at in range(self._freed, min((reader.at for reader in self._readers), default=len(self._answers))):
            answer, self._answers[at] = self._answers[at], None
            assert answer is not None
            self._held -= answer.ByteSize()
            self._freed = at + 1
        if self._held <= SHARED:
            self._room.set()

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


class _Reader:
    """A place in the row of answers."""

    def __init__(self) -> None:
        self.at = 0
