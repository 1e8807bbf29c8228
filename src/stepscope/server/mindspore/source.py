"""One training process with MindSpore's own debugger client, as a `Source`.

The client asks "what now?" (WaitCMD) and does one thing: take a watchpoint, send tensors, check again, run one step or
one node, end. While it asks it stands still. What is left of a longer command is counted here:

    run N, resume   one step at a time, until they are done, something is hit, or a pause is asked for
    run to          node by node, until the client stands at the node; past the next step it was not reached
    watchpoints     told before the next run or check; before the first step a check comes between
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from stepscope.core.errors import Conflict, NotAvailable, Timeout, UnknownNode
from stepscope.core.graph import Graph
from stepscope.core.looks import Of, Question
from stepscope.core.ports import (
    IMPOSSIBLE,
    Command,
    Comparison,
    Cursor,
    EventSink,
    ExecutionOrder,
    Farewell,
    Report,
    SourceInfo,
    StackFrame,
    State,
    Tensor,
    TensorKey,
    TensorStats,
    When,
)
from stepscope.core.tensors import apply_index, compare, look, stats
from stepscope.core.watch.records import Hit, HitBatch, WatchpointSet
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.server.mindspore.names import Names
from stepscope.server.mindspore.tensors import MOST_BYTES, ClientTensors, Wanted, declared_bytes
from stepscope.server.mindspore.watching import ClientWatchpoints
from stepscope.server.settings import ANSWER_SECONDS

POLL_SECONDS = 15.0  # after which a client that stands still is answered with nothing, and asks again
FETCHED = 1 << 30  # bytes of a tensor from which on only its figures are asked for
_RUNS = "the training runs; its values can be read when it pauses"
_STEP, _NODE, _RECHECK = "step", "node", "recheck"

A = TypeVar("A")


@dataclass
class _Work:
    """A command that takes several answers. `left`: steps to go, None without end."""

    command: Command
    left: int | None = None
    target: tuple[str, str] | None = None  # of run_to
    began: int = 0  # the step in which it was given
    checks: bool = False  # the state before the first step is looked at before anything runs


@dataclass
class _Found:
    """What was hit since the client last asked."""

    hits: list[Hit] = field(default_factory=list)
    seen: set[tuple[str, str, int, int]] = field(default_factory=set)


class ClientSource:
    """`sink` hears what happens, in order. The methods of the first half are for the calls of the client."""

    def __init__(self, info: SourceInfo, version: tuple[int, ...], sink: EventSink) -> None:
        self._info = info
        self._version = version
        self._sink = sink
        self.graphs: dict[str, Graph] = {}
        self.watchpoints = ClientWatchpoints(version)
        self._tensors = ClientTensors()
        self._names = Names(self.graphs)
        self._last = Report(State.RUNNING)
        self._work: _Work | None = None
        self._replies: deque[pb.EventReply] = deque()  # for the client, before anything else
        self._found = _Found()
        self._news = asyncio.Event()
        self._paused = False  # the client waits for what a user wants
        self._pausing = False
        self._ending = False
        self._rechecking = False
        self._ran_at = 0.0  # when the last run began
        self.gone = ""

    # ------------------------------------------------------------ the client's calls

    @property
    def is_gpu(self) -> bool:
        return self._info.device.startswith("GPU")

    @property
    def ending(self) -> bool:
        """Whether it was told to end."""
        return self._ending

    def is_of(self, host: str, device: str) -> bool:
        return (self._info.host, self._info.device) == (host, device)

    async def wait(self, metadata: pb.Metadata) -> pb.EventReply:
        """The client stands still and asks what to do. An answer without a command makes it ask again."""
        await self._arrived(metadata)
        deadline = time.monotonic() + POLL_SECONDS
        while True:
            news = self._news
            reply = await self._next()
            if reply is not None:
                return reply
            left = deadline - time.monotonic()
            if left <= 0:
                return pb.EventReply(status=pb.EventReply.OK)
            try:
                await asyncio.wait_for(news.wait(), left)
            except asyncio.TimeoutError:
                continue

    def hits(self, messages: Sequence[pb.WatchpointHit]) -> None:
        """Something was hit; told of when the client asks next."""
        for message in messages:
            hit = self.watchpoints.hit(message, 0, self._names)
            if hit is None:
                continue
            key = (hit.graph, hit.node, hit.slot, hit.watchpoint)
            if key not in self._found.seen:
                self._found.seen.add(key)
                self._found.hits.append(hit)

    def tensor_came(self, tensor: pb.TensorProto, content: bytes) -> None:
        self._tensors.came(tensor, content, self._last.step, within=self._last.cursor is not None)

    def tensors_end(self) -> None:
        self._tensors.answered()

    def stats_came(self, summaries: list[pb.TensorSummary]) -> None:
        self._tensors.stats_came(summaries, self._last.step)

    def begins_anew(self) -> None:
        """The client has connected again, or compiled another graph: it knows of no watchpoint."""
        self.watchpoints.forget()

    def comes_back(self) -> None:
        """Over a new connection, with all that it knew: where it stands is told anew."""
        self.gone = ""
        self._paused = False

    def close(self, why: str) -> None:
        self.gone = why
        self._tensors.moved_on(why)
        self._wake()

    async def _arrived(self, metadata: pb.Metadata) -> None:
        step, moved = metadata.cur_step, self._ran_at > 0
        seconds = time.monotonic() - self._ran_at if moved else None
        was = self._last.step
        self._ran_at = 0.0
        cursor = self._cursor(metadata.cur_node) if self._work and self._work.command.kind != "run" else None
        self._last = replace(self._last, step=step, recorded_steps=(step,), step_seconds=seconds if moved else None)
        found, self._found = self._found, _Found()
        hits = tuple(replace(hit, step=step) for hit in found.hits)
        was_check, self._rechecking = self._rechecking, False
        batch = HitBatch(step, self.watchpoints.revision, hits, self.watchpoints.warning(self._info.device))
        if self._paused and not moved and not was_check:
            if hits:  # a late one
                await self._sink.hits(self, batch)
            return
        reason = self._reason_to_pause(batch, step, was, cursor, moved, was_check)
        if hits or ((reason or was_check) and self.watchpoints.active):
            await self._sink.hits(self, batch)
        if reason:
            await self._pause(reason, cursor)
        elif moved:
            await self._sink.report(self, replace(self._last, state=State.RUNNING, reason="", cursor=None))

    def _reason_to_pause(
        self, batch: HitBatch, step: int, was: int, cursor: Cursor | None, moved: bool, was_check: bool
    ) -> str:
        """ "" where the work goes on."""
        work = self._work
        if batch.stops:
            return "watchpoint"
        if work is None:
            return self._last.reason or "start"
        if work.command.kind == "recheck":
            return self._last.reason if was_check else ""
        if not moved:
            return ""  # the check before the first step is over
        if self._pausing:
            return "pause"
        if work.target is not None:
            if cursor is not None and (cursor.graph, cursor.node) == work.target:
                return "node"
            return "not_reached" if step > work.began + 1 else ""
        if work.command.kind == "next_node":
            return "node"
        if work.left is not None:
            work.left -= max(1, step - was)
        return "step" if work.left is not None and work.left <= 0 else ""

    async def _pause(self, reason: str, cursor: Cursor | None) -> None:
        self._paused, self._pausing, self._work = True, False, None
        self._last = replace(self._last, state=State.PAUSED, reason=reason, cursor=cursor)
        await self._sink.report(self, self._last)

    def _cursor(self, node: str) -> Cursor | None:
        found = self._names.find(node) if node and self.is_gpu else None
        if found is None:
            return None
        position, count = self._names.position(*found)
        return Cursor(*found, max(position, 1), count)

    async def _next(self) -> pb.EventReply | None:
        """What the client is to do now; None: nothing yet."""
        if self.gone:
            return pb.EventReply(status=pb.EventReply.FAILED)
        if self._ending:
            return pb.EventReply(status=pb.EventReply.OK, exit=True)
        if self._replies:
            return self._replies.popleft()
        if self._work is None:
            view = self._tensors.next_view()
            return None if view is None else pb.EventReply(status=pb.EventReply.OK, view_cmd=view)
        if self._pausing and self._work.command.kind in ("run", "resume"):
            await self._pause("pause", None)
            return None
        changes = await asyncio.to_thread(self.watchpoints.changes, dict(self.graphs))
        if changes:
            self._work.checks = self._work.checks or self._last.step == 0
            self._replies.extend(pb.EventReply(status=pb.EventReply.OK, set_cmd=change) for change in changes)
            return self._replies.popleft()
        return self._run()

    def _run(self) -> pb.EventReply:
        work = self._work
        assert work is not None
        if work.command.kind == "recheck" or work.checks:
            work.checks = False
            self._rechecking = True
            return _run_command(_RECHECK)
        self._tensors.moved_on(_RUNS)
        self._ran_at = time.monotonic()
        return _run_command(_NODE if work.command.kind in ("next_node", "run_to") else _STEP)

    # ------------------------------------------------------------ what users ask for

    @property
    def info(self) -> SourceInfo:
        return self._info

    async def command(self, command: Command) -> None:
        if self.gone:
            raise Conflict(self.gone)
        if command.kind == "pause":
            self._last = replace(self._last, command_sequence=command.sequence)
            self._pausing = self._work is not None
        elif command.kind == "terminate":
            self._ending = True
        else:
            if why := IMPOSSIBLE[self._info.stepping].get(command.kind):
                raise Conflict(why)
            self._begin(command)
            if command.kind != "recheck":
                await self._sink.report(self, replace(self._last, state=State.RUNNING, reason="", cursor=None))
        self._wake()

    def _begin(self, command: Command) -> None:
        left = command.steps if command.kind == "run" else None
        target = (command.graph, command.node) if command.kind == "run_to" else None
        self._work = _Work(command, left, target, self._last.step)
        self._paused = self._pausing = False
        self._last = replace(self._last, command_sequence=command.sequence, warning="")

    async def watch(self, watchpoints: WatchpointSet) -> None:
        self.watchpoints.want(watchpoints)

    async def tensor(self, key: TensorKey, index: str | None = None) -> Tensor:
        tensor = await self._whole(key)
        return replace(tensor, array=apply_index(tensor.array, index))

    async def stats(self, key: TensorKey) -> TensorStats:
        wanted = self._wanted(key)
        if isinstance(wanted, Wanted) and self._knows_figures and self._declared(key) > FETCHED:
            return await self._patiently(self._tensors.get_stats(wanted))
        tensor = await self._whole(key)
        return await asyncio.to_thread(stats, tensor.array, tensor.dtype, tensor.step)

    async def compare(self, key: TensorKey) -> Comparison:
        now, before = await asyncio.gather(*(self._whole(replace(key, when=when)) for when in ("current", "previous")))
        return await asyncio.to_thread(compare, now.array, before.array, now.dtype, now.step, before.step)

    async def look(self, key: TensorKey, question: Question[A]) -> A:
        of: Of = getattr(question, "of", "difference")
        whens: tuple[When, ...] = ("current", "previous") if of == "difference" else (of,)
        tensors = await asyncio.gather(*(self._whole(replace(key, when=when)) for when in whens))
        values = dict(zip(whens, tensors, strict=True))
        return await asyncio.to_thread(look, question, lambda when: values[when])

    async def execution(self, offset: int = 0, limit: int = 1000) -> ExecutionOrder:
        if self._last.step == 0:
            return ExecutionOrder(0)
        raise NotAvailable("MindSpore's own debugger client does not tell in which order the nodes ran")

    async def frames(self) -> tuple[StackFrame, ...]:
        raise NotAvailable("MindSpore's own debugger client does not tell where in the script the training stands")

    # ------------------------------------------------------------

    @property
    def _knows_figures(self) -> bool:
        return self._version >= (1, 5)

    async def _whole(self, key: TensorKey) -> Tensor:
        wanted = self._wanted(key)
        if isinstance(wanted, Tensor):
            return wanted
        if self._declared(key) > MOST_BYTES:
            raise NotAvailable(f"the tensor has more than {MOST_BYTES >> 30} GiB: it is not fetched")
        return await self._patiently(self._tensors.get(wanted))

    def _wanted(self, key: TensorKey) -> Wanted | Tensor:
        """How to ask for a tensor; itself, where the graph has it. Raises what `Source` says."""
        graph = self.graphs.get(key.graph)
        if graph is None:
            raise UnknownNode(f"the job has no graph {key.graph!r}", list(self.graphs)[:5])
        name, slot = key.node, key.slot
        if key.input is not None:
            ports = [port for port in graph.node(name).inputs if port.index == key.input and not port.control]
            if len(ports) != 1 or not ports[0].node:
                raise NotAvailable(f"input {key.input} of {name} has no value of its own")
            name, slot = ports[0].node, ports[0].slot
        home = graph.resolve(name, slot)
        if home.kind == "constant":
            return self._constant(graph, home.name)
        if not self._paused:
            raise NotAvailable(_RUNS)
        wire = self._names.of(key.graph, home.name)
        previous = key.when == "previous"
        if previous and not wire.is_parameter:
            raise NotAvailable("MindSpore's own debugger client keeps the previous value of parameters only")
        if previous and (self._last.step == 0 or key.input is not None):
            raise NotAvailable("there is no step before this one that is known")
        if wire.is_parameter and key.input is not None and self._last.step > 0 and self._last.cursor is None:
            previous = True  # what the node has read: the optimizer has written over it since
        if self._last.step == 0 and not wire.is_parameter and self._last.cursor is None:
            raise NotAvailable(f"{key.node} has not run yet")
        return Wanted(wire.name, home.slot, previous, wire.is_parameter)

    def _constant(self, graph: Graph, name: str) -> Tensor:
        value = graph.node(name).value
        array = np.asarray(value)
        if value is None or array.dtype.kind not in "biufc":
            raise NotAvailable(f"the value of the constant {name} is no tensor, or was not sent")
        return Tensor(array, str(array.dtype), array.shape, self._last.step)

    def _declared(self, key: TensorKey) -> int:
        types = self.graphs[key.graph].output_types(key.node) if key.input is None else ()
        return declared_bytes(types[key.slot].shape, types[key.slot].dtype) if key.slot < len(types) else 0

    async def _patiently(self, answer: asyncio.Future[A]) -> A:
        self._wake()  # now that it is known what is wanted
        try:
            return await asyncio.wait_for(asyncio.shield(answer), ANSWER_SECONDS)
        except asyncio.TimeoutError:
            raise Timeout(f"no answer from the training process for {ANSWER_SECONDS:.0f} s") from None

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


def _run_command(level: str) -> pb.EventReply:
    """One step, one node, or one check: the client knows nothing longer."""
    run = pb.RunCMD(run_level=level)
    if level == _NODE:
        run.node_name = ""
    else:
        run.run_steps = 1
    return pb.EventReply(status=pb.EventReply.OK, run_cmd=run)


def farewell_of(source: ClientSource) -> Farewell:
    """Of a client that said that the training is done."""
    return Farewell("terminated" if source.ending else "finished")
