"""What a client is told, one thing at a time, and where it stands when it asks again.

It knows one step, one node (on GPU) and one check. What is left of a longer command is counted here:

    run N, resume   one step at a time, until they are done, something is hit, or a pause is asked for
    run to          node by node, until the client stands at the node; past the next step it was not reached
    watchpoints     told before the next run or check; before the first step a check comes between

How many steps are complete is counted here, too: on GPU, the client's own count goes up when a step begins, when it
ends, or after that, by release.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

from stepscope.core.ports import Command, Cursor, EventSink, Source, State
from stepscope.core.watch.records import Hit, HitBatch
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.server.mindspore.client import RUNS, Client
from stepscope.server.mindspore.stops import Stop, Told, stop

POLL_SECONDS = 15.0  # after which a client that stands still is answered with nothing, and asks again
_STEP, _NODE, _RECHECK = "step", "node", "recheck"
_BY_NODE = ("next_node", "run_to")


@dataclass
class _Work:
    """A command that takes several answers. `until`: so many steps are complete, None without end."""

    command: Command
    until: int | None = None
    target: tuple[str, str] | None = None  # of run_to
    began: int = 0  # the step in which it was given
    checks: bool = False  # the state before the first step is looked at before anything runs


@dataclass(frozen=True)
class _Stand:
    """Where the client was found. `at` is the node it names, also at the end of a step."""

    step: int
    cursor: Cursor | None
    at: tuple[str, str] | None
    anew: bool  # before a graph that it has just sent
    moved: bool = False  # it was told to run since it was last here
    is_news: bool = True  # and something ran
    checked: bool = False  # it has made the check that it was told to make
    seconds: float | None = None  # that a whole step took


class Stepping:
    """`sink` hears of `source` what happens, in order."""

    def __init__(self, client: Client, source: Source, sink: EventSink) -> None:
        self._client = client
        self._source = source
        self._sink = sink
        self._work: _Work | None = None
        self._replies: deque[pb.EventReply] = deque()  # for the client, before anything else
        self._found: dict[tuple[str, str, int, int], Hit] = {}  # since it last asked, in the order in which they came
        self._news = asyncio.Event()
        self._preparing = asyncio.Lock()
        self._pausing = False
        self._rechecking = False
        self._anew = False
        self._ran_at = 0.0  # when the last run began
        self._told: pb.EventReply | None = None  # the last answer
        self._asked_at: tuple[int, str] = (0, "")  # step and node, in the client's words, when it was given
        self._said = Told(0, None, False)  # the same, as far as we know the node, since it last ran
        self._is_back = False
        self.ending = False  # it is told to end

    # ------------------------------------------------------------ the client's calls

    async def wait(self, metadata: pb.Metadata) -> pb.EventReply:
        """The client stands still and asks what to do. An answer without a command makes it ask again."""
        await self._arrived(metadata)
        self._asked_at = (metadata.cur_step, metadata.cur_node)
        deadline = time.monotonic() + POLL_SECONDS
        while True:
            news = self._news
            reply = await self._next()
            left = deadline - time.monotonic()
            if reply is not None or left <= 0:
                self._told = reply
                return reply or pb.EventReply(status=pb.EventReply.OK)
            try:
                await asyncio.wait_for(news.wait(), left)
            except asyncio.TimeoutError:
                continue

    def hits(self, messages: Iterable[pb.WatchpointHit]) -> None:
        """Something was hit; told of when the client asks next."""
        for message in messages:
            hit = self._client.watchpoints.hit(message, 0, self._client.names)
            if hit is not None:
                self._found.setdefault((hit.graph, hit.node, hit.slot, hit.watchpoint), hit)

    def begins_anew(self, graphs: int) -> None:
        """The client has connected, or stands before other graphs, so many a step: it may have no watchpoint now."""
        self._client.graphs_of_a_step = max(graphs, 1)
        self._client.watchpoints.forget()
        self._anew = bool(self._client.graphs)

    def comes_back(self) -> None:
        """Over a new connection, with all that it knew: where it stands is told anew."""
        self._client.paused = False
        self._is_back = True

    @property
    def counted(self) -> int:
        """How many steps the client counted when it last asked."""
        return self._asked_at[0]

    def wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    # ------------------------------------------------------------ where it stands

    async def _arrived(self, metadata: pb.Metadata) -> None:
        client = self._client
        client.tensors.answered()  # who asks again has sent all that there was
        if self._told_in_vain(metadata):
            return
        hits = tuple(self._found.values())
        stand = self._stand(metadata, hits)
        self._found, self._ran_at, self._rechecking, self._anew = {}, 0.0, False, False
        client.last = replace(
            client.last,
            step=stand.step,
            cursor=stand.cursor,
            recorded_steps=(stand.step,),
            step_seconds=stand.seconds,
        )
        hits = tuple(replace(hit, step=stand.step) for hit in hits)
        batch = HitBatch(stand.step, client.watchpoints.revision, hits, client.watchpoints.warning(client.info.device))
        if client.paused and not stand.moved and not stand.checked:
            if hits:  # late ones
                await self._sink.hits(self._source, batch)
            return
        reason = self._reason_to_pause(batch, stand)
        if hits or ((reason or stand.checked) and client.watchpoints.active):
            await self._sink.hits(self._source, batch)
        if reason:
            await self._pause(reason)
        elif stand.moved:
            await self._tell_running()

    def _told_in_vain(self, metadata: pb.Metadata) -> bool:
        """Whether the connection broke with the last answer on its way. Told twice does no harm, run twice would."""
        told, self._told = self._told, None
        was_back, self._is_back = self._is_back, False
        if not was_back or told is None or self._anew:
            return False
        stands_there = self._asked_at == (metadata.cur_step, metadata.cur_node) and not self._found
        if self._ran_at > 0 and not stands_there:
            return False
        self._replies.appendleft(told)
        return True

    def _stand(self, metadata: pb.Metadata, hits: tuple[Hit, ...]) -> _Stand:
        client, was = self._client, self._client.last
        hint = self._work.target[0] if self._work and self._work.target else ""
        at = client.names.find(metadata.cur_node, hint) if metadata.cur_node and client.is_gpu else None
        if not self._ran_at:
            self._said = replace(self._said, count=metadata.cur_step, at=at)
            step = was.step if was.reason else metadata.cur_step  # of the first time it is here
            return _Stand(step, None if self._anew else was.cursor, at, self._anew, checked=self._rechecking)
        is_hit = bool(hits) and all((hit.graph, hit.node) == at for hit in hits)
        before, self._said = self._said, Told(metadata.cur_step, at, is_hit)
        found = Stop(was.step, None) if self._anew else stop(client, self._said, before, self._goes_by_node)
        cursor = Cursor(*found.within, *client.names.position(*found.within)) if found.within else None
        is_whole = not (self._goes_by_node or cursor or was.cursor)
        seconds = time.monotonic() - self._ran_at if is_whole else None
        return _Stand(found.step, cursor, at, self._anew, moved=True, is_news=found.is_news, seconds=seconds)

    @property
    def _goes_by_node(self) -> bool:
        return self._work is not None and self._work.command.kind in _BY_NODE

    def _reason_to_pause(self, batch: HitBatch, stand: _Stand) -> str:
        """ "" where the work goes on."""
        work, last = self._work, self._client.last.reason
        if batch.stops:
            return "watchpoint"
        if work is None:
            return last or "start"
        if work.command.kind == "recheck":
            return last if stand.checked else ""
        if not stand.moved:
            return ""  # the check before the first step is over
        if self._pausing:
            return "pause"
        if stand.anew or not stand.is_news:
            return ""
        if work.target is not None:
            if stand.at == work.target:
                return "node"
            return "not_reached" if stand.step > work.began + 1 else ""
        if work.command.kind == "next_node":
            return "node" if stand.cursor else "step"
        return "step" if work.until is not None and stand.step >= work.until else ""

    async def _pause(self, reason: str) -> None:
        client = self._client
        client.paused, self._pausing, self._work = True, False, None
        client.last = replace(client.last, state=State.PAUSED, reason=reason)
        await self._sink.report(self._source, client.last)

    async def _tell_running(self) -> None:
        running = replace(self._client.last, state=State.RUNNING, reason="", cursor=None)
        await self._sink.report(self._source, running)

    # ------------------------------------------------------------ what it is told

    async def _next(self) -> pb.EventReply | None:
        """What the client is to do now; None: nothing yet."""
        if self._client.gone:
            return pb.EventReply(status=pb.EventReply.FAILED)
        if self.ending:
            return pb.EventReply(status=pb.EventReply.OK, exit=True)
        if self._replies:
            return self._replies.popleft()
        if self._work is None:
            view = self._client.tensors.next_view()
            return None if view is None else pb.EventReply(status=pb.EventReply.OK, view_cmd=view)
        if self._pausing and self._work.command.kind in ("run", "resume"):
            await self._pause("pause")
            return None
        # Goes on where this call is cancelled, so that what it finds is not lost.
        await asyncio.shield(asyncio.ensure_future(self._prepare()))
        if self._replies:
            self._work.checks = self._work.checks or self._client.last.step == 0
            return self._replies.popleft()
        return self._run(self._work)

    async def _prepare(self) -> None:
        async with self._preparing:
            changes = await asyncio.to_thread(self._client.watchpoints.changes, dict(self._client.graphs))
            self._replies.extend(pb.EventReply(status=pb.EventReply.OK, set_cmd=change) for change in changes)

    def _run(self, work: _Work) -> pb.EventReply:
        if work.command.kind == "recheck" or work.checks:
            work.checks = False
            self._rechecking = True
            return _run_command(_RECHECK)
        self._client.tensors.moved_on(RUNS)
        self._ran_at = time.monotonic()
        return _run_command(_NODE if self._goes_by_node else _STEP)

    # ------------------------------------------------------------ what users ask for

    def pause(self, sequence: int) -> None:
        self._client.last = replace(self._client.last, command_sequence=sequence)
        self._pausing = self._work is not None
        self.wake()

    def end(self) -> None:
        self.ending = True
        self.wake()

    async def begin(self, command: Command) -> None:
        """Any other command, which the client can follow."""
        client = self._client
        until = client.last.step + command.steps if command.kind == "run" else None
        target = (command.graph, command.node) if command.kind == "run_to" else None
        self._work = _Work(command, until, target, client.last.step)
        client.paused = self._pausing = False
        client.last = replace(client.last, command_sequence=command.sequence, warning="")
        if command.kind != "recheck":
            await self._tell_running()
        self.wake()


def _run_command(level: str) -> pb.EventReply:
    """One step, one node, or one check: the client knows nothing longer."""
    run = pb.RunCMD(run_level=level, node_name="") if level == _NODE else pb.RunCMD(run_level=level, run_steps=1)
    return pb.EventReply(status=pb.EventReply.OK, run_cmd=run)
