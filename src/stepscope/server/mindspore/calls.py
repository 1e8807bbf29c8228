"""The calls of MindSpore's own debugger client, and which of them belong to which training.

A client makes all its calls over one connection, which tells trainings apart: a second one is a second job. One that
had to connect again is known by its machine and device, as long as nobody else has taken its place.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import secrets
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from stepscope.core.errors import StepscopeError
from stepscope.core.ports import Farewell, SourceInfo
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.server.errors import Refused
from stepscope.server.graphs import build
from stepscope.server.jobs import Registry
from stepscope.server.mindspore.source import ClientSource, farewell_of
from stepscope.server.settings import MAX_GRAPH, MAX_HIT_PARTS, MAX_NAME

log = logging.getLogger(__name__)

Context = Any  # grpc.aio.ServicerContext; grpc brings no types

OVERDUE = 5.0  # seconds in which a client that stands still asks again, unless it is gone
_MOST_AWAY = 20
_MISSED = 3  # signs of life that may be missing
_MOST_TENSOR = 5 << 30  # bytes of one tensor
_BROKEN = "the connection to the training process broke"
_SILENT = "the training process gives no sign of life any more"
_OK, _FAILED = pb.EventReply.OK, pb.EventReply.FAILED


class _Client:
    """A training at the other end of a connection."""

    def __init__(self, source: ClientSource, peer: str) -> None:
        self.source = source
        self.peer = peer
        self.order = asyncio.Lock()  # what it tells is taken in the order in which it came
        self.last_sign = time.monotonic()
        self.period = 0.0  # seconds between two signs of life, where it gives any
        self.watch: asyncio.TimerHandle | None = None  # for its next call


class ClientCalls:
    """The part of the gRPC service that these clients call."""

    def __init__(self, registry: Registry, refusal: Callable[[Context], str]) -> None:
        """refusal: why a caller is not let in; "" if it is."""
        self._clients: dict[str, _Client] = {}  # by connection
        self._away: list[_Client] = []  # whose connection broke
        self._registry = registry
        self._refusal = refusal

    # ------------------------------------------------------------ calls

    async def metadata(self, request: pb.Metadata, context: Context) -> pb.EventReply:
        if why := self._refusal(context):
            log.warning("a training of MindSpore %s at %s is turned away: %s", request.ms_version, context.peer(), why)
            return pb.EventReply(status=_FAILED)
        client = self._find(context)
        if request.training_done:
            if client is not None:
                await self._end(client, farewell_of(client.source))
            return pb.EventReply(status=_OK, version_matched=True)
        if client is None:
            client = await self._begin(request, context)
            if client is None:
                return pb.EventReply(status=_FAILED)
        client.source.begins_anew()
        self._seen(client)
        return pb.EventReply(status=_OK, version_matched=True)

    async def graph(self, chunks: AsyncIterator[pb.Chunk], context: Context) -> pb.EventReply:
        """One graph; its chunks are put together whether or not the last one says so."""
        client = self._find(context)
        buffers = [chunk.buffer async for chunk in _limited(chunks, MAX_GRAPH, lambda chunk: len(chunk.buffer))]
        if client is None or not await self._add_graph(client, buffers, 0):
            return pb.EventReply(status=_FAILED)
        return pb.EventReply(status=_OK)

    async def graphs(self, chunks: AsyncIterator[pb.Chunk], context: Context) -> pb.EventReply:
        """Several graphs, each ended by `finished`."""
        client = self._find(context)
        buffers: list[bytes] = []
        number, all_well = 0, client is not None
        async for chunk in _limited(chunks, MAX_GRAPH, lambda chunk: len(chunk.buffer)):
            buffers.append(chunk.buffer)
            if chunk.finished and client is not None:
                all_well = await self._add_graph(client, buffers, number) and all_well
                buffers, number = [], number + 1
        if client is not None and any(buffers):
            all_well = await self._add_graph(client, buffers, number) and all_well
        return pb.EventReply(status=_OK if all_well else _FAILED)

    async def wait(self, request: pb.Metadata, context: Context) -> pb.EventReply:
        client = self._find(context) or await self._back(request, context)
        if client is None or not client.source.graphs:
            return pb.EventReply(status=_FAILED)
        self._seen(client)
        try:
            async with client.order:
                reply = await client.source.wait(request)
        except asyncio.CancelledError:  # the connection broke while the client stood still
            if not client.source.gone:
                _spawn(self._lose(client, _BROKEN))
            raise
        self._expect_next_call(client, reply)
        if reply.exit:
            asyncio.get_running_loop().call_later(OVERDUE, self._check_gone, client, time.monotonic())
        return reply

    async def tensors(self, parts: AsyncIterator[pb.TensorProto], context: Context) -> pb.EventReply:
        client = self._find(context)
        if client is None:
            return pb.EventReply(status=_FAILED)
        self._seen(client)
        content: list[bytes] = []
        async for part in _limited(parts, _MOST_TENSOR, lambda part: len(part.tensor_content)):
            content.append(part.tensor_content)
            if part.finished:
                client.source.tensor_came(part, await _joined(content))
                content = []
        client.source.tensors_end()
        self._expect_next_call(client)
        return pb.EventReply(status=_OK)

    async def stats(self, summaries: AsyncIterator[pb.TensorSummary], context: Context) -> pb.EventReply:
        client = self._find(context)
        if client is None:
            return pb.EventReply(status=_FAILED)
        self._seen(client)
        client.source.stats_came([one async for one in _limited(summaries, 1 << 20, lambda one: 1)])
        self._expect_next_call(client)
        return pb.EventReply(status=_OK)

    async def bases(self, messages: AsyncIterator[pb.TensorBase], context: Context) -> pb.EventReply:
        """Types and shapes without values: nothing here asks for them, but they do no harm."""
        if (client := self._find(context)) is None:
            return pb.EventReply(status=_FAILED)
        self._seen(client)
        async for _ in _limited(messages, 1 << 20, lambda one: 1):
            pass
        self._expect_next_call(client)
        return pb.EventReply(status=_OK)

    async def hits(self, messages: AsyncIterator[pb.WatchpointHit], context: Context) -> pb.EventReply:
        client = self._find(context)
        if client is None:
            return pb.EventReply(status=_FAILED)
        self._seen(client)
        client.source.hits([hit async for hit in _limited(messages, 2000 * MAX_HIT_PARTS, lambda hit: 1)])
        return pb.EventReply(status=_OK)

    async def heartbeat(self, request: pb.Heartbeat, context: Context) -> pb.EventReply:
        client = self._find(context)
        if client is None:
            return pb.EventReply(status=_FAILED)
        client.period = min(max(float(request.period), 1.0), 3600.0)
        self._seen(client)
        self._later(client, client.period * _MISSED, time.monotonic())
        return pb.EventReply(status=_OK)

    def close(self, why: str) -> None:
        for client in self._clients.values():
            client.source.close(why)

    # ------------------------------------------------------------ coming and going

    async def _begin(self, request: pb.Metadata, context: Context) -> _Client | None:
        version = version_of(request.ms_version)
        info = SourceInfo(
            job_id=secrets.token_hex(8),
            framework="mindspore",
            framework_version=request.ms_version[:MAX_NAME],
            device=_device(request),
            host=_host(context.peer()),
            stepping="forward" if request.backend == "GPU" else "steps",
            started_at=time.time(),
        )
        source = ClientSource(info, version, self._registry)
        try:
            await self._registry.attach(source, _address(context.peer()))
        except Refused as refusal:
            log.warning("%s: %s", context.peer(), refusal)
            return None
        client = self._clients[context.peer()] = _Client(source, context.peer())
        return client

    async def _add_graph(self, client: _Client, buffers: list[bytes], number: int) -> bool:
        """Whether the graph could be read. One client sends the last piece of a large graph twice."""
        if len(buffers) > 1 and buffers[-1] == buffers[-2]:
            buffers = buffers[:-1]
        data = await _joined(buffers)
        try:
            name, graph = await asyncio.to_thread(_read, data, number)
        except Exception as error:  # whatever is wrong with it is the sender's
            log.warning("%s sent a graph that can't be read: %s", client.peer, error or type(error).__name__)
            return False
        async with client.order:
            client.source.graphs[name] = graph
            await self._registry.graph(client.source, name, data)
        self._seen(client)
        return True

    def _find(self, context: Context) -> _Client | None:
        return self._clients.get(context.peer())

    async def _back(self, request: pb.Metadata, context: Context) -> _Client | None:
        """A training that had to connect again, and asks on; None where it can't be told which one that is."""
        peer = context.peer()
        alike = [one for one in self._away if one.source.is_of(_host(peer), _device(request))]
        if len(alike) != 1 or self._refusal(context):
            return None
        client = alike[0]
        try:
            client.source.comes_back()
            await self._registry.attach(client.source, _address(peer))
        except Refused:  # its job was deleted, or has ended
            return None
        finally:
            self._away.remove(client)
        client.peer = peer
        self._clients[peer] = client
        return client

    async def _end(self, client: _Client, farewell: Farewell) -> None:
        if self._clients.get(client.peer) is client:
            del self._clients[client.peer]
        if client.watch is not None:
            client.watch.cancel()
        client.source.close("the training has ended")
        with contextlib.suppress(StepscopeError):
            await self._registry.farewell(client.source, farewell)

    async def _lose(self, client: _Client, why: str) -> None:
        if client.source.ending:
            await self._end(client, Farewell("terminated"))
            return
        if self._clients.get(client.peer) is client:
            del self._clients[client.peer]
        client.source.close(why)
        self._away = [*self._away[1 - _MOST_AWAY :], client]
        await self._registry.detach(client.source, why)

    # ------------------------------------------------------------ signs of life

    def _seen(self, client: _Client) -> None:
        client.last_sign = time.monotonic()
        if client.watch is not None:
            client.watch.cancel()
            client.watch = None

    def _expect_next_call(self, client: _Client, reply: pb.EventReply | None = None) -> None:
        """A client that was not told to run asks again at once."""
        runs = reply is not None and reply.WhichOneof("cmd") == "run_cmd" and reply.run_cmd.run_level != "recheck"
        if not runs:
            self._later(client, OVERDUE, time.monotonic())

    def _later(self, client: _Client, seconds: float, since: float) -> None:
        if client.watch is not None:
            client.watch.cancel()
        client.watch = asyncio.get_running_loop().call_later(seconds, self._check_gone, client, since)

    def _check_gone(self, client: _Client, since: float) -> None:
        if client.last_sign <= since and self._clients.get(client.peer) is client:
            _spawn(self._lose(client, _SILENT))


_tasks: set[asyncio.Task[None]] = set()


def _spawn(work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.ensure_future(work)
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


def version_of(text: str) -> tuple[int, ...]:
    """(1, 2) of "1.2.0-rc1"; (1, 1) where there is none: clients that old don't tell."""
    found = re.match(r"(\d{1,4})\.(\d{1,4})", text)
    return tuple(map(int, found.groups())) if found else (1, 1)


async def _limited(messages: AsyncIterator[Any], most: int, size: Callable[[Any], int]) -> AsyncIterator[Any]:
    total = 0
    async for message in messages:
        total += size(message)
        if total > most:
            raise ValueError(f"more than {most} at once")
        yield message


async def _joined(parts: list[bytes]) -> bytes:
    return parts[0] if len(parts) == 1 else await asyncio.to_thread(b"".join, parts)


def _read(data: bytes, number: int) -> tuple[str, Any]:
    """Name and index of a serialised graph."""
    name = pb.GraphProto.FromString(data).name or f"graph_{number}"
    return name, build(name, data)


def _device(request: pb.Metadata) -> str:
    """ "GPU 0"; of "0:0", the name that the client gives its device, the part in front counts."""
    return f"{request.backend or 'Ascend'} {request.device_name.partition(':')[0]}".strip()[:MAX_NAME]


def _host(peer: str) -> str:
    return _address(peer).rpartition(":")[0].strip("[]")


def _address(peer: str) -> str:
    """The peer as host:port, out of gRPC's "ipv4:127.0.0.1:1234"."""
    return peer.partition(":")[2].replace("%5B", "[").replace("%5D", "]")
