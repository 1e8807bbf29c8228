"""A training process behind one Attach stream, as a `Source`.

A question that is asked while the same one is on its way shares its answers. A tensor is handed on part by part, and
as the stream is one for all, a slow reader never holds up reports or other answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Hashable
from contextlib import aclosing
from dataclasses import replace
from typing import TypeVar

from stepscope.core.errors import Conflict, NotAvailable
from stepscope.core.looks import Question
from stepscope.core.ports import (
    Command,
    Comparison,
    ExecutionOrder,
    NodeAttributes,
    SourceInfo,
    StackFrame,
    Tensor,
    TensorKey,
    TensorStats,
)
from stepscope.core.watch.records import WatchpointSet
from stepscope.protocol import convert, looks
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.protocol.watchpoints import watchpoints_to_proto
from stepscope.server.answers import Answers
from stepscope.server.settings import MAX_PENDING

A = TypeVar("A")


class LiveSource:
    """`send` puts a message on the stream; the stream's reader calls `answer`, and at its end `close`."""

    def __init__(self, info: SourceInfo, send: Callable[[pb.ServerMessage], None]):
        self._info = info
        self._send = send
        self._waiting: dict[int, Answers] = {}
        self._asked: dict[Hashable, Answers] = {}
        self._last_id = 0
        self._in_order = asyncio.Lock()  # a command never overtakes the watchpoints that were set before it
        self.gone = ""  # why there are no more answers
        self.closed = asyncio.Event()

    @property
    def info(self) -> SourceInfo:
        return self._info

    async def command(self, command: Command) -> None:
        if self.gone:
            raise Conflict(self.gone)
        async with self._in_order:
            self._send(pb.ServerMessage(command=convert.command_to_proto(command)))

    async def watch(self, watchpoints: WatchpointSet) -> None:
        async with self._in_order:
            for chunk in await asyncio.to_thread(list, watchpoints_to_proto(watchpoints)):
                self._send(pb.ServerMessage(watchpoints=chunk))

    async def tensor(self, key: TensorKey, index: str | None = None) -> Tensor:
        async with aclosing(self.tensor_parts(key, index)) as parts:
            return convert.tensor_from_proto([part async for part in parts], index)

    async def tensor_parts(self, key: TensorKey, index: str | None = None) -> AsyncGenerator[pb.TensorPart, None]:
        """The same as it comes in; the first part has the description."""
        query = pb.Query(tensor=pb.TensorQuery(key=convert.key_to_proto(key), index=index))
        async with aclosing(self._ask("tensor", (key, index), query).read()) as answers:
            async for answer in answers:
                yield answer.tensor

    async def stats(self, key: TensorKey) -> TensorStats:
        answer = await self._ask("statistics", key, pb.Query(statistics=convert.key_to_proto(key))).one()
        return convert.stats_from_proto(answer.statistics)

    async def compare(self, key: TensorKey) -> Comparison:
        answer = await self._ask("comparison", key, pb.Query(comparison=convert.key_to_proto(key))).one()
        return convert.comparison_from_proto(answer.comparison)

    async def look(self, key: TensorKey, question: Question[A]) -> A:
        key = replace(key, when="current")  # it is not looked at: those who only differ in it share the answer
        query = pb.Query(look=looks.query_to_proto(key, question))
        return looks.answer_from_proto((await self._ask("look", (key, question), query).one()).look, question)

    async def execution(self, offset: int = 0, limit: int = 1000) -> ExecutionOrder:
        query = pb.Query(execution=pb.ExecutionQuery(offset=offset, limit=limit))
        return convert.execution_from_proto((await self._ask("execution", (offset, limit), query).one()).execution)

    async def frames(self) -> tuple[StackFrame, ...]:
        answer = await self._ask("frames", None, pb.Query(frames=pb.FramesQuery())).one()
        return convert.frames_from_proto(answer.frames)

    async def attributes(self, graph: str, node: str) -> NodeAttributes:
        query = pb.Query(attributes=pb.AttributesQuery(graph_name=graph, node_name=node))
        return convert.attributes_from_proto((await self._ask("attributes", (graph, node), query).one()).attributes)

    # ------------------------------------------------------------ for the reader of the stream

    async def answer(self, answer: pb.Answer) -> None:
        """Take an answer; one that nobody waits for any more is dropped. Returns when there is room for the next."""
        if answers := self._waiting.get(answer.id):
            answers.feed(answer)
            await answers.room()

    def close(self, why: str) -> None:
        """Take no more questions, and end those that wait."""
        self.gone = why
        self.closed.set()
        for answers in list(self._waiting.values()):
            answers.fail(NotAvailable(why, code="gone"))

    def _ask(self, kind: str, what: Hashable, query: pb.Query) -> Answers:
        if self.gone:
            raise NotAvailable(self.gone, code="gone")
        asked = self._asked.get((kind, what))
        if asked is not None and asked.joinable:
            return asked
        if len(self._waiting) >= MAX_PENDING:
            raise Conflict(f"{MAX_PENDING} questions wait for an answer of the training process: too many", code="busy")
        self._last_id += 1
        query.id = number = self._last_id

        def on_end() -> None:
            self._waiting.pop(number, None)
            if self._asked.get((kind, what)) is answers:
                del self._asked[kind, what]

        answers = self._waiting[number] = self._asked[kind, what] = Answers(kind, on_end)
        self._send(pb.ServerMessage(query=query))
        return answers
