"""The Attach stream: one training process for as long as it is connected; and the calls of MindSpore's own clients.

Messages are taken one after the other, so that a job has its graphs before the report that came after them. Whatever a
peer sends, the worst that it can do is end its own stream.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import re
from collections.abc import Awaitable
from typing import Any

import grpc

from stepscope.core.errors import BadRequest, StepscopeError
from stepscope.core.ports import SourceInfo
from stepscope.protocol import convert
from stepscope.protocol.errors import DecodeError
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.protocol.gen.stepscope_pb2_grpc import EventListenerServicer
from stepscope.protocol.watchpoints import hits_from_proto
from stepscope.server.errors import Refused
from stepscope.server.jobs import Registry
from stepscope.server.live import LiveSource
from stepscope.server.mindspore import ClientCalls
from stepscope.server.mindspore.peers import readable
from stepscope.server.settings import HELLO_SECONDS, MAX_GRAPH, MAX_HIT_PARTS, MAX_NAME

log = logging.getLogger(__name__)

BROKEN = "the connection to the training process broke"

_JOB_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
_MAX_COMMAND_LINE = 64 * 1024  # characters

Context = Any  # grpc.aio.ServicerContext; grpc brings no types


class Malformed(Exception):
    """A peer that doesn't keep to the protocol; the message says in what."""


class EventListener(EventListenerServicer):
    def __init__(self, registry: Registry, token: str | None, web: str = "", original_clients: bool = True):
        self._registry = registry
        self._token = token
        self._web = web
        self._original_clients = original_clients
        self._sources: dict[str, LiveSource] = {}  # by job
        self._calls = ClientCalls(registry, self._refusal)

    async def Attach(self, request_iterator: object, context: Context) -> None:
        try:
            # Read before the token is looked at: an agent that is refused while it writes sees another error.
            first = await self._first(context)
            if not self._admitted(context):
                await context.abort(grpc.StatusCode.UNAUTHENTICATED, "a token is needed: set STEPSCOPE_TOKEN")
            outgoing: asyncio.Queue[pb.ServerMessage] = asyncio.Queue()
            try:
                source = LiveSource(_hello(first), outgoing.put_nowait)
                known = await self._registry.attach(source, readable(context.peer()))
            except Refused as refusal:
                await context.write(pb.ServerMessage(welcome=pb.Welcome(accepted=False, reason=str(refusal))))
                return
            welcome = pb.Welcome(accepted=True, known_graphs=known, address=self._web)
            outgoing.put_nowait(pb.ServerMessage(welcome=welcome))
            await self._serve(source, outgoing, context)
        except (Malformed, BadRequest, DecodeError) as error:
            log.warning("%s: %s", readable(context.peer()), error)
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))

    def _admitted(self, context: Context) -> bool:
        if self._token is None:
            return True
        given = dict(context.invocation_metadata() or ()).get("authorization", "")
        return hmac.compare_digest(str(given).encode(), f"Bearer {self._token}".encode())

    async def _first(self, context: Context) -> pb.AgentMessage:
        try:
            message = await asyncio.wait_for(context.read(), HELLO_SECONDS)
        except asyncio.TimeoutError:
            raise Malformed(f"no hello within {HELLO_SECONDS:.0f} s") from None
        return pb.AgentMessage() if message is grpc.aio.EOF else message

    async def _serve(self, source: LiveSource, outgoing: asyncio.Queue[pb.ServerMessage], context: Context) -> None:
        """Until the end of the stream, however that comes."""
        detail = BROKEN
        if old := self._sources.get(source.info.job_id):
            old.close("the training process has connected anew")
        self._sources[source.info.job_id] = source
        writing = asyncio.create_task(_write(outgoing, context))
        reading = asyncio.create_task(self._read(source, context))
        closing = asyncio.create_task(source.closed.wait())
        try:
            await asyncio.wait((reading, closing), return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                reading.result()
            else:
                detail = source.gone
        except (Malformed, BadRequest, DecodeError) as error:
            detail = f"the training process sent what is no proper message: {error}"
            raise
        finally:
            for task in (writing, reading, closing):
                task.cancel()
            source.close(detail)
            if self._sources.get(source.info.job_id) is source:
                del self._sources[source.info.job_id]
            await self._registry.detach(source, detail)

    def close(self, why: str) -> None:
        """End all streams."""
        for source in list(self._sources.values()):
            source.close(why)
        self._calls.close(why)

    # ------------------------------------------------------------ MindSpore's own clients

    async def SendMetadata(self, request: pb.Metadata, context: Context) -> pb.EventReply:
        return await _answered(self._calls.metadata(request, context), context)

    async def SendGraph(self, request_iterator: Any, context: Context) -> pb.EventReply:
        return await _answered(self._calls.graph(request_iterator, context), context)

    async def SendMultiGraphs(self, request_iterator: Any, context: Context) -> pb.EventReply:
        return await _answered(self._calls.graphs(request_iterator, context), context)

    async def WaitCMD(self, request: pb.Metadata, context: Context) -> pb.EventReply:
        return await _answered(self._calls.wait(request, context), context)

    async def SendTensors(self, request_iterator: Any, context: Context) -> pb.EventReply:
        return await _answered(self._calls.tensors(request_iterator, context), context)

    async def SendTensorBase(self, request_iterator: Any, context: Context) -> pb.EventReply:
        return await _answered(self._calls.bases(request_iterator, context), context)

    async def SendTensorStats(self, request_iterator: Any, context: Context) -> pb.EventReply:
        return await _answered(self._calls.stats(request_iterator, context), context)

    async def SendWatchpointHits(self, request_iterator: Any, context: Context) -> pb.EventReply:
        return await _answered(self._calls.hits(request_iterator, context), context)

    async def SendHeartbeat(self, request: pb.Heartbeat, context: Context) -> pb.EventReply:
        return await _answered(self._calls.heartbeat(request, context), context)

    def _refusal(self, context: Context) -> str:
        if self._token is None or self._original_clients:
            return ""
        return (
            "it can't send the token that this server asks for; start with --enable-original-clients True to let it in"
        )

    async def _read(self, source: LiveSource, context: Context) -> None:
        graphs: dict[str, list[bytes]] = {}
        hits: list[pb.Hits] = []
        size = 0
        while (message := await context.read()) is not grpc.aio.EOF:
            kind = message.WhichOneof("body")
            if kind == "answer":
                await source.answer(message.answer)
            elif kind == "report":
                await self._registry.report(source, convert.report_from_proto(message.report))
            elif kind == "hits":
                hits.append(message.hits)
                if len(hits) > MAX_HIT_PARTS:
                    raise Malformed("more hits than a step can have")
                if message.hits.finished:
                    await self._registry.hits(source, await asyncio.to_thread(hits_from_proto, hits))
                    hits = []
            elif kind == "graph":
                chunk = message.graph
                if not 0 < len(chunk.graph_name) <= MAX_NAME:
                    raise Malformed(f"a graph needs a name of 1 to {MAX_NAME} characters")
                size += len(chunk.buffer)
                if size > MAX_GRAPH:
                    raise Malformed(f"graph {chunk.graph_name!r} is larger than {MAX_GRAPH >> 20} MiB")
                graphs.setdefault(chunk.graph_name, []).append(chunk.buffer)
                if chunk.finished:
                    data = await asyncio.to_thread(b"".join, graphs.pop(chunk.graph_name))
                    size -= len(data)
                    await self._registry.graph(source, chunk.graph_name, data)
            elif kind == "farewell":
                await self._registry.farewell(source, convert.farewell_from_proto(message.farewell))
                return
            else:
                raise Malformed(f"a message of kind {kind} is not expected here")


def _hello(first: pb.AgentMessage) -> SourceInfo:
    """Raises Refused for one that will not get better by trying again."""
    if first.WhichOneof("body") != "hello":
        raise Malformed("the first message of a stream has to be the hello")
    hello = first.hello
    if hello.protocol_version != convert.PROTOCOL_VERSION:
        raise Refused(
            f"the training process speaks version {hello.protocol_version} of the protocol, this server version "
            f"{convert.PROTOCOL_VERSION}: use the same release of stepscope on both sides"
        )
    # A text that is not UTF-8 comes as bytes.
    if not isinstance(hello.job_id, str) or not _JOB_ID.fullmatch(hello.job_id):
        raise Refused("the job's id has to be 1 to 128 letters, digits and ._-")
    texts = (hello.framework, hello.framework_version, hello.device, hello.host, hello.working_directory)
    if any(len(text) > MAX_NAME for text in texts) or sum(map(len, hello.command_line)) > _MAX_COMMAND_LINE:
        raise Refused("the hello is too long")
    try:
        return convert.info_from_proto(hello)
    except BadRequest as error:
        raise Refused(str(error)) from None


async def _answered(work: Awaitable[pb.EventReply], context: Context) -> pb.EventReply:
    """Whatever is wrong with what a client sent is refused in one line, and harms no other."""
    try:
        return await work
    except (ValueError, StepscopeError, ArithmeticError, LookupError, TypeError, DecodeError) as error:
        log.warning("%s: %s", readable(context.peer()), error or type(error).__name__)
        return pb.EventReply(status=pb.EventReply.FAILED)


async def _write(outgoing: asyncio.Queue[pb.ServerMessage], context: Context) -> None:
    with contextlib.suppress(grpc.aio.AioRpcError, grpc.aio.UsageError, grpc.aio.InternalError):
        while True:
            await context.write(await outgoing.get())
