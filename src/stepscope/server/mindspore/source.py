"""One training process with MindSpore's own debugger client, as a `Source`.

The client asks "what now?" (WaitCMD) and does one thing: take a watchpoint, send tensors, check again, run one step or
one node, end. While it asks it stands still. `stepping` says what it is told; `values`, what is read of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from stepscope.core.errors import Conflict, NotAvailable
from stepscope.core.graph import Graph
from stepscope.core.looks import Question
from stepscope.core.ports import (
    IMPOSSIBLE,
    Command,
    Comparison,
    EventSink,
    ExecutionOrder,
    Farewell,
    NodeAttributes,
    SourceInfo,
    StackFrame,
    Tensor,
    TensorKey,
    TensorStats,
)
from stepscope.core.watch.records import WatchpointSet
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.server.mindspore.client import Client
from stepscope.server.mindspore.stepping import Stepping
from stepscope.server.mindspore.values import A, Values


class ClientSource:
    """`sink` hears what happens, in order. The methods of the first half are for the calls of the client."""

    def __init__(self, info: SourceInfo, version: tuple[int, ...], sink: EventSink) -> None:
        self._client = Client(info, version)
        self._stepping = Stepping(self._client, self, sink)
        self._values = Values(self._client, self._stepping.wake)

    # ------------------------------------------------------------ the client's calls

    @property
    def gone(self) -> str:
        """Why it can't be reached; "" if it can."""
        return self._client.gone

    @property
    def has_graph(self) -> bool:
        return bool(self._client.graphs)

    @property
    def ending(self) -> bool:
        """Whether it is told to end."""
        return self._stepping.ending

    @property
    def farewell(self) -> Farewell:
        """Of a client that said that the training is done."""
        return Farewell("terminated" if self.ending else "finished")

    def is_of(self, host: str, device: str) -> bool:
        return (self.info.host, self.info.device) == (host, device)

    def may_be_in(self, step: int) -> bool:
        """Whether the client may count so many steps by now."""
        return self._stepping.counted <= step <= self._stepping.counted + 1

    async def wait(self, metadata: pb.Metadata) -> pb.EventReply:
        """The client stands still and asks what to do. An answer without a command makes it ask again."""
        return await self._stepping.wait(metadata)

    def hits(self, messages: Iterable[pb.WatchpointHit]) -> None:
        """Something was hit; told of when the client asks next."""
        self._stepping.hits(messages)

    def add_graph(self, name: str, graph: Graph) -> None:
        self._client.graphs[name] = graph

    def tensor_came(self, tensor: pb.TensorProto, content: bytes) -> None:
        self._client.tensors.came(tensor, content, self._client.last.step, self._client.within)

    def tensors_end(self) -> None:
        self._client.tensors.answered()

    def stats_came(self, summaries: list[pb.TensorSummary]) -> None:
        self._client.tensors.stats_came(summaries, self._client.last.step)

    def begins_anew(self, graphs: int) -> None:
        """The client has connected, or stands before other graphs, so many a step."""
        self._stepping.begins_anew(graphs)

    def comes_back(self) -> None:
        """Over a new connection, with all that it knew: where it stands is told anew."""
        self._client.gone = ""
        self._stepping.comes_back()

    def close(self, why: str) -> None:
        self._client.gone = why
        self._client.tensors.moved_on(why)
        self._stepping.wake()

    # ------------------------------------------------------------ what users ask for

    @property
    def info(self) -> SourceInfo:
        return self._client.info

    async def command(self, command: Command) -> None:
        if self.gone:
            raise Conflict(self.gone)
        if command.kind == "pause":
            self._stepping.pause(command.sequence)
        elif command.kind == "terminate":
            self._stepping.end()
        else:
            if why := IMPOSSIBLE[self.info.stepping].get(command.kind):
                raise Conflict(why)
            await self._stepping.begin(command)

    async def watch(self, watchpoints: WatchpointSet) -> None:
        self._client.watchpoints.want(watchpoints)

    async def tensor(self, key: TensorKey, index: str | None = None) -> Tensor:
        return await self._values.tensor(key, index)

    async def stats(self, key: TensorKey) -> TensorStats:
        return await self._values.stats(key)

    async def compare(self, key: TensorKey) -> Comparison:
        return await self._values.compare(key)

    async def look(self, key: TensorKey, question: Question[A]) -> A:
        return await self._values.look(key, question)

    async def execution(self, offset: int = 0, limit: int = 1000) -> ExecutionOrder:
        if self._client.last.step == 0:
            return ExecutionOrder(0)
        raise NotAvailable("MindSpore's own debugger client does not tell in which order the nodes ran")

    async def frames(self) -> tuple[StackFrame, ...]:
        raise NotAvailable("MindSpore's own debugger client does not tell where in the script the training stands")

    async def attributes(self, graph: str, node: str) -> NodeAttributes:
        raise NotAvailable("the attributes of this training are constants of its graph")
