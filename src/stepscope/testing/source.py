"""A `Source` without a process behind it: the small network, trained and walked in the event loop.

It behaves as a MindSpore training does: whole steps are run, and within the last one a cursor moves over its nodes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Protocol, TypeVar

from stepscope.core.errors import NotAvailable
from stepscope.core.graph import Graph
from stepscope.core.looks import Question
from stepscope.core.ports import (
    Command,
    Comparison,
    Cursor,
    ExecutedNode,
    ExecutionOrder,
    Farewell,
    NodeAttributes,
    Report,
    SourceInfo,
    StackFrame,
    State,
    Tensor,
    TensorKey,
    TensorStats,
)
from stepscope.core.tensors import apply_index, compare, look, stats
from stepscope.core.watch.records import HitBatch, WatchpointSet
from stepscope.core.watch.step_check import StepCheck
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.server.graphs import build
from stepscope.testing.network import Network

A = TypeVar("A")

PROGRESS_SECONDS = 0.25  # between two reports of a training that runs free

INFO = SourceInfo(
    job_id="fake-1",
    framework="mindspore",
    framework_version="2.10.0",
    device="CPU",
    host="fakehost",
    pid=4242,
    command_line=("python", "/home/me/train.py", "--epochs", "3"),
    working_directory="/home/me",
    started_at=1_700_000_000.0,
)


class Training(Protocol):
    """What a `FakeSource` trains. The graph is that of the class."""

    graph_name: str
    step: int
    loss: float | None

    @staticmethod
    def graph_proto() -> pb.GraphProto: ...

    @property
    def recorded_steps(self) -> tuple[int, ...]: ...

    def run_step(self) -> None: ...

    def tensor(self, key: TensorKey) -> Tensor: ...

    def execution(self) -> list[ExecutedNode]: ...


class FakeSource:
    """`steps` is how long it trains; `on_report`, `on_hits` and `on_farewell` hear of every change.

    `network` is what is trained, the small network unless given; `nan_at` is for that one.
    """

    def __init__(
        self,
        info: SourceInfo = INFO,
        steps: int = 1000,
        step_seconds: float = 0.0,
        nan_at: int | None = None,
        network: Training | None = None,
    ):
        self.network: Training = network or Network(nan_at)
        self.on_report: Callable[[Report], None] = lambda report: None
        self.on_farewell: Callable[[Farewell], None] = lambda farewell: None
        self.last = Report(State.PAUSED, reason="start", recorded_steps=(0,))
        self._info = info
        self._steps = steps
        self.step_seconds = step_seconds
        self.on_hits: Callable[[HitBatch], None] = lambda batch: None
        self.watchpoints = WatchpointSet()
        self._check = StepCheck()
        self._running: asyncio.Task[None] | None = None
        self._told = 0.0  # when the last report was sent

    @property
    def info(self) -> SourceInfo:
        return self._info

    def graph(self) -> tuple[str, bytes]:
        """Its one graph: name and serialised GraphProto."""
        return self.network.graph_name, self.network.graph_proto().SerializeToString()

    # ------------------------------------------------------------ commands

    async def command(self, command: Command) -> None:
        self.last = replace(self.last, command_sequence=command.sequence)
        due = command.kind == "recheck" or self._check.is_due_before(command, self.network.step)
        batch = self._found() if due else HitBatch(0, 0)
        if command.kind == "recheck" or batch.stops:
            self.on_hits(batch)
            self._tell(replace(self.last, reason="watchpoint" if batch.stops else self.last.reason))
        elif command.kind in ("run", "resume"):
            self._start(command.steps if command.kind == "run" else None)
        elif command.kind == "pause":
            if self._stop():
                self._pause("pause")
        elif command.kind == "terminate":
            self._stop()
            self.on_farewell(Farewell("terminated", exit_status=0))
        else:
            self._walk(command)

    async def watch(self, watchpoints: WatchpointSet) -> None:
        self.watchpoints = watchpoints
        self._check.watch(watchpoints)

    def _found(self) -> HitBatch:
        """What the watchpoints say of the present step."""
        return self._check.check(_Step(self.network), self.network.step)

    def _start(self, steps: int | None, then: Callable[[], None] | None = None) -> None:
        self._running = asyncio.ensure_future(self._train(steps, then or (lambda: self._pause("step"))))

    def _stop(self) -> bool:
        running, self._running = self._running, None
        return bool(running and running.cancel())

    async def _train(self, steps: int | None, then: Callable[[], None]) -> None:
        self._tell(replace(self.last, state=State.RUNNING, reason="", cursor=None))
        while steps is None or steps > 0:
            await asyncio.sleep(self.step_seconds)
            self._step()
            steps = None if steps is None else steps - 1
            if self.network.step == self._steps:
                self._tell(self.last)
                self.on_farewell(Farewell("finished", exit_status=0))
                return
            if self._check.active and (batch := self._found()).stops:
                self._running = None
                self.on_hits(batch)
                self._pause("watchpoint")
                return
            if time.monotonic() - self._told >= PROGRESS_SECONDS:
                self._tell(self.last)
        self._running = None
        if self._check.active:
            self.on_hits(self._found())
        then()

    def _step(self) -> None:
        started = time.monotonic()
        self.network.run_step()
        self.last = replace(
            self.last,
            step=self.network.step,
            loss=self.network.loss,
            step_seconds=time.monotonic() - started,
            recorded_steps=self.network.recorded_steps,
        )

    def _walk(self, command: Command) -> None:
        """The cursor commands: within the step where that is possible, else the next step is run first."""
        order = self._order()
        at = self.last.cursor.position if self.last.cursor else len(order)
        if command.kind == "previous_node":
            self._place(order, max(at - 1, 1) if order else None)
        elif command.kind == "next_node":
            self._place(order, at + 1) if at < len(order) else self._start(1, lambda: self._place(self._order(), 1))
        else:
            target = ExecutedNode(command.graph, command.node)
            if (place := _find(order, target, at)) is not None:
                self._place(order, place)
            else:
                self._start(1, lambda: self._place(self._order(), _find(self._order(), target, 0)))

    def _order(self) -> list[ExecutedNode]:
        return self.network.execution()

    def _place(self, order: list[ExecutedNode], position: int | None) -> None:
        if position is None:
            self._pause("not_reached")
        else:
            node = order[position - 1]
            self._pause("node", Cursor(node.graph, node.node, position, len(order)))

    def _pause(self, reason: str, cursor: Cursor | None = None) -> None:
        self._tell(replace(self.last, state=State.PAUSED, reason=reason, cursor=cursor))

    def _tell(self, report: Report) -> None:
        self.last = report
        self._told = time.monotonic()
        self.on_report(report)

    # ------------------------------------------------------------ queries

    async def tensor(self, key: TensorKey, index: str | None = None) -> Tensor:
        tensor = self._value(key)
        return replace(tensor, array=apply_index(tensor.array, index))

    async def stats(self, key: TensorKey) -> TensorStats:
        tensor = self._value(key)
        return stats(tensor.array, tensor.dtype, tensor.step)

    async def compare(self, key: TensorKey) -> Comparison:
        now = self._value(replace(key, when="current"))
        before = self._value(replace(key, when="previous"))
        return compare(now.array, before.array, now.dtype, now.step, before.step)

    async def look(self, key: TensorKey, question: Question[A]) -> A:
        return look(question, lambda when: self._value(replace(key, when=when)))

    async def execution(self, offset: int = 0, limit: int = 1000) -> ExecutionOrder:
        order = self._order()
        return ExecutionOrder(len(order), tuple(order[offset : offset + limit]))

    async def frames(self) -> tuple[StackFrame, ...]:
        raise NotAvailable("the steps of this training are recorded")

    async def attributes(self, graph: str, node: str) -> NodeAttributes:
        raise NotAvailable("the attributes of this training are constants of its graph")

    def _value(self, key: TensorKey) -> Tensor:
        return self.network.tensor(key)


class _Step:
    """The network's present step for `StepCheck`."""

    def __init__(self, network: Training) -> None:
        self._network = network
        self.graphs = {network.graph_name: _indexed(type(network))}
        self.tensor = network.tensor

    def attributes(self, graph: str, node: str) -> NodeAttributes:
        return NodeAttributes(self._network.step, self.graphs[graph].node(node).attributes)

    def execution(self, offset: int = 0, limit: int = 1000) -> ExecutionOrder:
        order = self._network.execution()
        return ExecutionOrder(len(order), order[offset : offset + limit])


@cache  # a check of a small step takes less time than this
def _indexed(kind: type[Training]) -> Graph:
    return build(kind.graph_name, kind.graph_proto().SerializeToString())


def _find(order: list[ExecutedNode], target: ExecutedNode, after: int) -> int | None:
    """The 1-based position of the first node after position `after` that is the target."""
    return next((at for at in range(after + 1, len(order) + 1) if order[at - 1] == target), None)
