"""The calls of MindSpore's own debugger client."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from stepscope.core.graph import Graph
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.server.graphs import build
from stepscope.server.jobs import Registry
from stepscope.server.mindspore.peers import BROKEN, Peer, Peers
from stepscope.server.mindspore.signs import OVERDUE, SENDING
from stepscope.server.mindspore.source import ClientSource
from stepscope.server.settings import MAX_GRAPH, MAX_HIT_PARTS

log = logging.getLogger(__name__)

Context = Any  # grpc.aio.ServicerContext; grpc brings no types

_MOST_TENSOR = 5 << 30  # bytes of the tensors of one call
_MOST_FIGURES = 1 << 20  # tensors in one call
_MOST_EARLY = 16 << 20  # bytes of hits of one who is not known yet
_OK, _FAILED = pb.EventReply.OK, pb.EventReply.FAILED


class ClientCalls:
    """The part of the gRPC service that these clients call. A call of one that is not known is answered FAILED."""

    def __init__(self, registry: Registry, refusal: Callable[[Context], str]) -> None:
        """refusal: why a caller is not let in; "" if it is."""
        self._registry = registry
        self._refusal = refusal
        self._peers = Peers(registry)

    async def metadata(self, request: pb.Metadata, context: Context) -> pb.EventReply:
        """A training begins, stands before other graphs, or is done."""
        if why := self._refusal(context):
            log.warning("a training of MindSpore %s at %s is turned away: %s", request.ms_version, context.peer(), why)
            return pb.EventReply(status=_FAILED)
        peer = self._find(context)
        if request.training_done:
            if peer := peer or await self._peers.come_back(request, context.peer()):
                await self._peers.end(peer, peer.source.farewell)
            return pb.EventReply(status=_OK, version_matched=True)
        if peer is None and request.cur_step:  # of one that has run before, and had to connect again
            peer = await self._peers.come_back(request, context.peer())
        peer = peer or await self._peers.begin(request, context.peer())
        if peer is None:
            return pb.EventReply(status=_FAILED)
        with peer.signs:
            peer.source.begins_anew(request.graph_num)
        return pb.EventReply(status=_OK, version_matched=True)

    async def graph(self, chunks: AsyncIterator[pb.Chunk], context: Context) -> pb.EventReply:
        """One graph; its chunks are put together whether or not the last one says so."""
        return await self._graphs(chunks, context, is_one=True)

    async def graphs(self, chunks: AsyncIterator[pb.Chunk], context: Context) -> pb.EventReply:
        """Several graphs, each ended by `finished`."""
        return await self._graphs(chunks, context, is_one=False)

    async def wait(self, request: pb.Metadata, context: Context) -> pb.EventReply:
        peer = self._find(context)
        if peer is None and not self._refusal(context):
            peer = await self._peers.come_back(request, context.peer())
        if peer is None or not peer.source.has_graph:
            return pb.EventReply(status=_FAILED)
        try:
            with peer.signs:
                async with peer.order:
                    reply = await peer.source.wait(request)
        except asyncio.CancelledError:  # the connection broke while the client stood still
            if not peer.source.gone:
                self._peers.lose(peer, BROKEN)
            raise
        if not peer.source.gone and (seconds := _until_next_call(reply)):
            peer.signs.expect(seconds)
        return reply

    async def tensors(self, parts: AsyncIterator[pb.TensorProto], context: Context) -> pb.EventReply:
        async def take(source: ClientSource) -> None:
            content: list[bytes] = []
            async for part in _limited(parts, _MOST_TENSOR, lambda part: len(part.tensor_content)):
                content.append(part.tensor_content)
                if part.finished:
                    source.tensor_came(part, await _joined(content))
                    content = []
            source.tensors_end()

        return await self._asked_for(context, take)

    async def stats(self, summaries: AsyncIterator[pb.TensorSummary], context: Context) -> pb.EventReply:
        async def take(source: ClientSource) -> None:
            source.stats_came([one async for one in _limited(summaries, _MOST_FIGURES, lambda one: 1)])

        return await self._asked_for(context, take)

    async def bases(self, messages: AsyncIterator[pb.TensorBase], context: Context) -> pb.EventReply:
        """Types and shapes without values: nothing here asks for them, but they do no harm."""

        async def take(_: ClientSource) -> None:
            async for _ in _limited(messages, _MOST_FIGURES, lambda one: 1):
                pass

        return await self._asked_for(context, take)

    async def hits(self, messages: AsyncIterator[pb.WatchpointHit], context: Context) -> pb.EventReply:
        peer = self._find(context)
        if peer is not None:
            with peer.signs:
                peer.source.hits([hit async for hit in _limited(messages, 2000 * MAX_HIT_PARTS, lambda hit: 1)])
        elif self._refusal(context):
            return pb.EventReply(status=_FAILED)
        else:
            hits = [hit async for hit in _limited(messages, _MOST_EARLY, lambda hit: hit.ByteSize())]
            self._peers.keep(hits, context.peer())
        return pb.EventReply(status=_OK)

    async def heartbeat(self, request: pb.Heartbeat, context: Context) -> pb.EventReply:
        """One who had to connect again gives them before it asks, and none any more once they were refused."""
        if peer := self._find(context):
            peer.signs.beat(float(request.period))
        return pb.EventReply(status=_FAILED if peer is None and self._refusal(context) else _OK)

    def close(self, why: str) -> None:
        self._peers.close(why)

    # ------------------------------------------------------------

    async def _asked_for(self, context: Context, take: Callable[[ClientSource], Awaitable[None]]) -> pb.EventReply:
        """What a client sends because it was asked for; then it asks again."""
        peer = self._find(context)
        if peer is None:
            return pb.EventReply(status=_FAILED)
        with peer.signs:
            await take(peer.source)
        peer.signs.expect(OVERDUE)
        return pb.EventReply(status=_OK)

    def _find(self, context: Context) -> Peer | None:
        return self._peers.get(context.peer())

    async def _graphs(self, chunks: AsyncIterator[pb.Chunk], context: Context, is_one: bool) -> pb.EventReply:
        """What can't be read waits for more: one client calls a graph finished after its first piece of several."""
        peer = self._find(context)
        buffers: list[bytes] = []  # of the graph that is coming
        begun = 0  # how many of them have been taken for a graph, and were none
        number = 0
        async for chunk in _limited(chunks, MAX_GRAPH, lambda chunk: len(chunk.buffer)):
            buffers.append(chunk.buffer)
            if chunk.finished and not is_one and peer is not None:
                if await self._add(peer, buffers, number) or (begun and await self._add(peer, buffers[begun:], number)):
                    buffers, begun, number = [], 0, number + 1
                else:
                    begun = len(buffers)
        if peer is None:
            return pb.EventReply(status=_FAILED)
        if (is_one or any(buffers)) and not await self._add(peer, buffers, number):
            log.warning("%s sent a graph that can't be read", peer.address)
            return pb.EventReply(status=_FAILED)
        return pb.EventReply(status=_OK)

    async def _add(self, peer: Peer, buffers: list[bytes], number: int) -> bool:
        """Whether the graph could be read. One client sends the last piece of a large graph twice."""
        if len(buffers) > 1 and buffers[-1] == buffers[-2]:
            buffers = buffers[:-1]
        data = await _joined(buffers)
        try:
            name, graph = await asyncio.to_thread(_read, data, number)
        except Exception as error:  # whatever is wrong with it is the sender's
            log.info("%s sent what is no graph: %s", peer.address, error or type(error).__name__)
            return False
        with peer.signs:
            async with peer.order:
                peer.source.add_graph(name, graph)
                await self._registry.graph(peer.source, name, data)
        return True


def _until_next_call(reply: pb.EventReply) -> float:
    """In how many seconds a client that got this answer calls again; 0 where that can't be told."""
    kind = reply.WhichOneof("cmd")
    if kind == "run_cmd":
        return 0.0
    return SENDING if kind == "view_cmd" else OVERDUE


async def _limited(messages: AsyncIterator[Any], most: int, size: Callable[[Any], int]) -> AsyncIterator[Any]:
    total = 0
    async for message in messages:
        total += size(message)
        if total > most:
            raise ValueError(f"more than {most} at once")
        yield message


async def _joined(parts: list[bytes]) -> bytes:
    return parts[0] if len(parts) == 1 else await asyncio.to_thread(b"".join, parts)


def _read(data: bytes, number: int) -> tuple[str, Graph]:
    """Name and index of a serialised graph."""
    name = pb.GraphProto.FromString(data).name or f"graph_{number}"
    return name, build(name, data)
