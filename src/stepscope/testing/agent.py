"""An agent that speaks real gRPC to a real server, with a `FakeSource` behind it, in a thread of its own.

It attaches, steps and answers as a good agent does; and it can die, come back, fall silent and send what it pleases.
All public methods may be called from any thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

import grpc

from stepscope.agent.answering import answers
from stepscope.core.errors import StepscopeError
from stepscope.core.ports import Farewell, Report
from stepscope.core.watch.records import HitBatch
from stepscope.protocol import convert
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.protocol.gen.stepscope_pb2_grpc import EventListenerStub
from stepscope.protocol.watchpoints import hits_to_proto, watchpoints_from_proto
from stepscope.testing.source import FakeSource

CHUNK = 2 << 20
T = TypeVar("T")


class FakeAgent:
    """Attached once the constructor (or `attach`) returns, with its graph and its first report sent.

    `first` is the message that a stream begins with. `refusal` is why the server did not take it, or "". `asked` and
    `commands` are what came; when `silent`, questions get no answer. Use it in a `with` block: leaving that is its
    death, without a farewell.
    """

    def __init__(self, address: str, source: FakeSource | None = None, token: str | None = None, attach: bool = True):
        self.source = source or FakeSource()
        self.first = pb.AgentMessage(hello=convert.info_to_proto(self.source.info))
        self.silent = False
        self.asked: list[str] = []
        self.commands: list[pb.Command] = []
        self.known_graphs: list[str] = []
        self._watchpoints: list[pb.Chunk] = []  # parts that have come so far
        self.refusal = ""
        self._address = address
        self._metadata = [("authorization", f"Bearer {token}")] if token else []
        self._outgoing: asyncio.Queue[pb.AgentMessage | None] = asyncio.Queue()
        self._stream: asyncio.Task[None] | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        if attach:
            self.attach()

    # ------------------------------------------------------------ life and death

    def attach(self) -> None:
        """Connect, or connect again as the same job."""
        self._wait(self._attach())

    def die(self) -> None:
        """Break the stream without a word."""
        self._wait(self._break())

    def finish(self, farewell: Farewell | None = None) -> None:
        """Say farewell and go."""
        self._call(self._farewell, farewell or Farewell("finished", exit_status=0))
        self._wait(self._end())

    def join(self) -> None:
        """Wait until the source has said farewell."""
        self._wait(self._end())

    def report(self, report: Report) -> None:
        """Send a report, whatever the truth is."""
        self.send(pb.AgentMessage(report=convert.report_to_proto(report)))

    def send_graph(self, name: str, data: bytes) -> None:
        self._call(self._put_graph, name, data)

    def send(self, message: pb.AgentMessage) -> None:
        """Send any message."""
        self._call(self._outgoing.put_nowait, message)

    def close(self) -> None:
        if self._thread.is_alive():
            self._wait(self._close())
            self._call(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def __enter__(self) -> FakeAgent:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # ------------------------------------------------------------ in the agent's own loop

    async def _attach(self) -> None:
        attached = self._loop.create_future()
        self._outgoing = asyncio.Queue()
        self._put(self.first)
        self._stream = asyncio.create_task(self._talk(attached))
        await attached

    async def _talk(self, attached: asyncio.Future[None]) -> None:
        self.source.on_report = lambda report: self._put(pb.AgentMessage(report=convert.report_to_proto(report)))
        self.source.on_hits = self._put_hits
        self.source.on_farewell = self._farewell
        try:
            async with grpc.aio.insecure_channel(self._address) as channel:
                call = EventListenerStub(channel).Attach(_drain(self._outgoing), metadata=self._metadata)
                async for message in call:
                    await self._take(message)
                    if not attached.done():
                        attached.set_result(None)
        except grpc.aio.AioRpcError as error:
            self.refusal = error.details() or error.code().name
        finally:
            if not attached.done():
                attached.set_result(None)

    async def _take(self, message: pb.ServerMessage) -> None:
        kind = message.WhichOneof("body")
        if kind == "welcome":
            self.refusal = message.welcome.reason
            self.known_graphs = list(message.welcome.known_graphs)
            if message.welcome.accepted:
                name, data = self.source.graph()
                if name not in self.known_graphs:
                    self._put_graph(name, data)
                self._put(pb.AgentMessage(report=convert.report_to_proto(self.source.last)))
        elif kind == "command":
            self.commands.append(message.command)
            await self.source.command(convert.command_from_proto(message.command))
        elif kind == "watchpoints":
            self._watchpoints.append(message.watchpoints)
            if message.watchpoints.finished:
                parts, self._watchpoints = self._watchpoints, []
                await self.source.watch(watchpoints_from_proto(parts))
        elif kind == "query":
            self.asked.append(str(message.query.WhichOneof("what")))
            if not self.silent:
                async for answer in self._answers(message.query):
                    answer.id = message.query.id
                    self._put(pb.AgentMessage(answer=answer))

    async def _answers(self, query: pb.Query) -> AsyncIterator[pb.Answer]:
        try:
            async for answer in answers(query, self.source):
                yield answer
        except StepscopeError as error:
            yield pb.Answer(failure=convert.failure_to_proto(error))

    def _put(self, message: pb.AgentMessage) -> None:
        self._outgoing.put_nowait(message)

    def _put_hits(self, batch: HitBatch) -> None:
        for part in hits_to_proto(batch):
            self._put(pb.AgentMessage(hits=part))

    def _put_graph(self, name: str, data: bytes) -> None:
        for start in range(0, max(len(data), 1), CHUNK):
            end = start + CHUNK
            chunk = pb.Chunk(graph_name=name, buffer=data[start:end], finished=end >= len(data))
            self._put(pb.AgentMessage(graph=chunk))

    def _farewell(self, farewell: Farewell) -> None:
        self._put(pb.AgentMessage(farewell=convert.farewell_to_proto(farewell)))
        self._outgoing.put_nowait(None)

    async def _break(self) -> None:
        if self._stream is not None:
            self._stream.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._stream

    async def _close(self) -> None:
        await self._break()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _end(self) -> None:
        if self._stream is not None:
            await self._stream

    def _call(self, function: Any, *arguments: Any) -> None:
        self._loop.call_soon_threadsafe(function, *arguments)

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)


async def _drain(queue: asyncio.Queue[pb.AgentMessage | None]) -> AsyncIterator[pb.AgentMessage]:
    while (message := await queue.get()) is not None:
        yield message
