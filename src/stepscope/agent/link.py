"""The agent's connection to the server: one gRPC stream that is opened again whenever it breaks.

What the server must know after a new connection is sent anew: who we are, the graphs that it has not kept, the last
hits and the last report. Answers to queries of a broken connection are dropped; whoever asked has been told by the
server.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc

from stepscope.core.ports import Farewell, Report, SourceInfo
from stepscope.core.watch.records import HitBatch
from stepscope.protocol import convert
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.protocol.gen.stepscope_pb2_grpc import EventListenerStub
from stepscope.protocol.watchpoints import hits_to_proto

RETRY = 0.5  # seconds between two attempts to connect
CHUNK = 2 << 20
QUEUED_ANSWERS = 8
_OPTIONS = [
    ("grpc.max_receive_message_length", 16 << 20),
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.http2.ping_timeout_ms", 5_000),  # what newer releases of grpc go by
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.enable_http_proxy", 0),  # a proxy of the user's environment is not for this
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 1000),
]

_END = None  # closes our half of a stream


class Refused(Exception):
    """The server does not take this training (a wrong token, another protocol); the message says why."""


class Link:
    """`on_message` gets commands and queries; it must not block."""

    def __init__(
        self,
        address: tuple[str, int],
        token: str,
        info: SourceInfo,
        on_message: Callable[[pb.ServerMessage], Awaitable[None]],
    ) -> None:
        self._address = address
        self._metadata = [("authorization", f"Bearer {token}")] if token else []
        self._info = info
        self._on_message = on_message
        self._graphs: dict[str, bytes] = {}
        self._report: Report | None = None
        self._hits: HitBatch | None = None
        self._outgoing: Any = None  # the queue of the present connection
        self._connected = asyncio.Event()
        self._lost = asyncio.Event()
        self._lost.set()
        self.problem = "no answer"  # why the last attempt failed
        self.server = ""  # where people find it

    @property
    def connected(self) -> asyncio.Event:
        return self._connected

    @property
    def lost(self) -> asyncio.Event:
        return self._lost

    async def run(self) -> None:
        """Connects, and connects again, until cancelled; Refused if the server does not want us."""
        while True:
            try:
                await self._connect()
            except Refused:
                raise
            except grpc.aio.AioRpcError as error:
                self.problem = _problem(error)
                if error.code() in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED):
                    raise Refused(f"the server at {self._where} wants a token: set STEPSCOPE_TOKEN") from None
                if error.code() is grpc.StatusCode.UNIMPLEMENTED:
                    raise Refused(f"what listens at {self._where} is no stepscope server") from None
            except OSError as error:
                self.problem = f"{error.strerror or error}"
            except Exception as error:  # a message that we can't handle; the next connection may do better
                self.problem = f"{type(error).__name__}: {error}"
            finally:
                self._outgoing = None
                self._connected.clear()
                self._lost.set()
            await asyncio.sleep(RETRY)

    def send_graph(self, name: str, data: bytes) -> None:
        self._graphs[name] = data
        if self._outgoing is not None:
            self._put_graph(name)

    def send_hits(self, batch: HitBatch) -> None:
        self._hits = batch
        self._put_hits(batch)

    def send_report(self, report: Report) -> None:
        self._report = report
        self._put(pb.AgentMessage(report=convert.report_to_proto(report)))

    @property
    def connection(self) -> Any:
        """The present connection; None without one."""
        return self._outgoing

    async def send_answer(self, answer: pb.Answer, connection: Any) -> None:
        """Over the connection that the query came on, if that still stands: the next one counts its own queries.

        Waits while much is on its way, so that a large tensor does not pile up here.
        """
        while connection is self._outgoing and connection is not None and connection.qsize() >= QUEUED_ANSWERS:
            await asyncio.sleep(0.001)
        if connection is self._outgoing:
            self._put(pb.AgentMessage(answer=answer))

    async def send_farewell(self, farewell: Farewell, timeout: float) -> None:
        """The last message; waits until the server has closed the stream."""
        if self._outgoing is None:
            return
        self._put(pb.AgentMessage(farewell=convert.farewell_to_proto(farewell)))
        self._outgoing.put_nowait(_END)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._lost.wait(), timeout)

    # ------------------------------------------------------------ one connection

    async def _connect(self) -> None:
        host, port = self._address
        # gRPC's own word for a name it can't resolve is no help to anyone.
        await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        async with grpc.aio.insecure_channel(target, options=_OPTIONS) as channel:
            queue: Any = asyncio.Queue()
            queue.put_nowait(pb.AgentMessage(hello=convert.info_to_proto(self._info)))
            call = EventListenerStub(channel).Attach(_drain(queue), metadata=self._metadata)
            async for message in call:
                if message.HasField("welcome"):
                    self._welcomed(message.welcome, queue)
                else:
                    await self._on_message(message)

    def _welcomed(self, welcome: pb.Welcome, queue: Any) -> None:
        if not welcome.accepted:
            raise Refused(welcome.reason)
        self._outgoing = queue
        self.server = welcome.address
        for name in self._graphs:
            if name not in welcome.known_graphs:
                self._put_graph(name)
        if self._hits is not None:
            self._put_hits(self._hits)
        if self._report is not None:
            self._put(pb.AgentMessage(report=convert.report_to_proto(self._report)))
        self._lost.clear()
        self._connected.set()

    def _put(self, message: pb.AgentMessage) -> None:
        if self._outgoing is not None:
            self._outgoing.put_nowait(message)

    def _put_hits(self, batch: HitBatch) -> None:
        if self._outgoing is not None:
            for part in hits_to_proto(batch):
                self._put(pb.AgentMessage(hits=part))

    def _put_graph(self, name: str) -> None:
        data = self._graphs[name]
        for start in range(0, max(len(data), 1), CHUNK):
            chunk = pb.Chunk(buffer=data[start : start + CHUNK], graph_name=name, finished=start + CHUNK >= len(data))
            self._put(pb.AgentMessage(graph=chunk))

    @property
    def _where(self) -> str:
        return f"{self._address[0]}:{self._address[1]}"


async def _drain(queue: Any) -> AsyncIterator[pb.AgentMessage]:
    while True:
        message = await queue.get()
        if message is _END:
            return
        yield message


def _problem(error: grpc.aio.AioRpcError) -> str:
    if error.code() is grpc.StatusCode.UNAVAILABLE:
        return "nothing answers there"
    return error.details() or error.code().name
