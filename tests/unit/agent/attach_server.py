"""The server's end of agents' streams, over real gRPC: the test says what comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc

from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.protocol.gen.stepscope_pb2_grpc import EventListenerServicer, add_EventListenerServicer_to_server

PATIENCE = 20.0  # seconds, where a fault would mean for ever


async def soon(event: asyncio.Event) -> None:
    await asyncio.wait_for(event.wait(), PATIENCE)


class Attachment:
    """One stream: what the agent says comes out of `next`; `welcome`, `send` and `end` are ours."""

    def __init__(self, metadata: Any) -> None:
        self.metadata = dict(metadata)
        self.ended = asyncio.Event()  # the agent has closed its half
        self.reading = asyncio.Event()  # cleared: nothing more is taken in
        self.reading.set()
        self._heard: asyncio.Queue[pb.AgentMessage] = asyncio.Queue()
        self._outgoing: asyncio.Queue[pb.ServerMessage | None] = asyncio.Queue()

    async def next(self, kind: str) -> Any:
        """The next message, which is of that kind."""
        message = await asyncio.wait_for(self._heard.get(), PATIENCE)
        found = message.WhichOneof("body")
        assert found == kind, f"{found} came in place of {kind}"
        return getattr(message, kind)

    @property
    def silent(self) -> bool:
        return self._heard.empty()

    async def welcome(self, **fields: Any) -> pb.Hello:
        """Takes the hello and answers it."""
        hello = await self.next("hello")
        self.send(pb.ServerMessage(welcome=pb.Welcome(**{"accepted": True, **fields})))
        return hello

    def send(self, message: pb.ServerMessage) -> None:
        self._outgoing.put_nowait(message)

    def end(self) -> None:
        self._outgoing.put_nowait(None)

    async def serve(self, requests: AsyncIterator[pb.AgentMessage]) -> AsyncIterator[pb.ServerMessage]:
        reader = asyncio.ensure_future(self._read(requests))
        try:
            while (message := await self._outgoing.get()) is not None:
                yield message
        finally:
            reader.cancel()

    async def _read(self, requests: AsyncIterator[pb.AgentMessage]) -> None:
        async for message in requests:
            await self.reading.wait()
            self._heard.put_nowait(message)
        self.ended.set()


class AttachServer(EventListenerServicer):
    """Use it in an `async with` block; `abort` is a status with which every stream is refused."""

    def __init__(self, port: int = 0) -> None:
        self.port = port
        self.abort: tuple[grpc.StatusCode, str] | None = None
        self.streams = 0
        self._attached: asyncio.Queue[Attachment] = asyncio.Queue()

    async def attached(self) -> Attachment:
        """The next stream that an agent opens."""
        return await asyncio.wait_for(self._attached.get(), PATIENCE)

    async def Attach(self, request_iterator: Any, context: Any) -> AsyncIterator[pb.ServerMessage]:
        self.streams += 1
        if self.abort is not None:
            await context.abort(*self.abort)
        one = Attachment(context.invocation_metadata())
        self._attached.put_nowait(one)
        async for message in one.serve(request_iterator):
            yield message

    async def __aenter__(self) -> AttachServer:
        self._server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
        add_EventListenerServicer_to_server(self, self._server)
        self.port = self._server.add_insecure_port(f"127.0.0.1:{self.port}")
        await self._server.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._server.stop(None)
