"""The debuggee that stands still within a step: PyTorch, JAX.

The probe itself stops before or after a node and answers for the tensors: they are in its memory, and nowhere else. So
commands, watchpoints and queries pass through here as they are, and what comes back is turned into the protocol's
messages. Queries are for a training that stands still; one that runs looks at its pipe between steps only.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from stepscope import graph_file
from stepscope import live_messages as live
from stepscope.agent.debuggee import steps_counted
from stepscope.agent.link import Link
from stepscope.agent.training import Training
from stepscope.core.errors import NotAvailable
from stepscope.core.looks import Question
from stepscope.core.ports import (
    Command,
    CommandKind,
    Comparison,
    ExecutionOrder,
    NodeAttributes,
    Report,
    StackFrame,
    State,
    Tensor,
    TensorKey,
    TensorStats,
)
from stepscope.core.watch.records import HitBatch, WatchpointSet
from stepscope.pipe import Message
from stepscope.protocol.graphs import to_proto

A = TypeVar("A")

_RUNS: tuple[CommandKind, ...] = ("run", "resume", "next_node", "run_to", "terminate")


class LiveTraining:
    """A `Debuggee`."""

    def __init__(self, training: Training, link: Link, folder: Path) -> None:
        self._training = training
        self._link = link
        self._folder = folder
        self._arrays = live.ArrayFiles(folder)
        self._numbers = itertools.count(1)
        self._asked: dict[int, asyncio.Future[Message]] = {}
        self._last = Report(State.RUNNING)
        self._awaited = 0  # the last command that lets it run: reports from before it are out of date
        self._warning = ""  # for the next report
        self._over = False

    @property
    def paused(self) -> bool:
        return self._last.state is State.PAUSED and self._last.command_sequence >= self._awaited

    def last_words(self, goodbye: Message | None) -> Report:
        self._over = True
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(_no_tensors(True))
        step = max(goodbye["step"] if goodbye else 0, steps_counted(self._folder), self._completed())
        return replace(self._last, state=State.RUNNING, step=step, recorded_steps=(), cursor=None, reason="")

    def _completed(self) -> int:
        return self._last.step - (self._last.cursor is not None)

    # ------------------------------------------------------------ from the server

    async def watch(self, watchpoints: WatchpointSet) -> None:
        await self._training.send("watch", **live.fields(watchpoints))

    async def command(self, command: Command) -> None:
        if command.kind in _RUNS:
            self._awaited = command.sequence
        await self._training.send("command", **live.fields(command))

    # ------------------------------------------------------------ from the training

    async def told(self, message: Message) -> None:
        kind = message["is"]
        if kind == "report":
            report, warning, self._warning = live.read(Report, message), self._warning, ""
            self._last = replace(report, warning=report.warning or warning)
            self._link.send_report(self._last)
        elif kind == "hits":
            self._link.send_hits(live.read(HitBatch, message))
        elif kind == "graph":
            await self._take_graph(message["name"], Path(message["path"]))
        elif kind == "answer" and (answer := self._asked.get(message["id"])) and not answer.done():
            answer.set_result(message)

    async def _take_graph(self, name: str, path: Path) -> None:
        try:
            self._link.send_graph(name, await asyncio.to_thread(_read_graph, name, path))
        except Exception as error:  # a graph that can't be shown is no reason to let the training go
            self._warning = f"the graph {name!r} could not be read: {type(error).__name__}: {error}"

    # ------------------------------------------------------------ queries

    async def tensor(self, key: TensorKey, index: str | None) -> Tensor:
        tensor: Tensor = await self._ask("tensor", key=key, index=index)
        return tensor

    async def stats(self, key: TensorKey) -> TensorStats:
        stats: TensorStats = await self._ask("stats", key=key)
        return stats

    async def compare(self, key: TensorKey) -> Comparison:
        comparison: Comparison = await self._ask("compare", key=key)
        return comparison

    async def look(self, key: TensorKey, question: Question[A]) -> A:
        answer: A = await self._ask("look", key=key, question=question)
        return answer

    async def execution(self, offset: int, limit: int) -> ExecutionOrder:
        order: ExecutionOrder = await self._ask("execution", offset=offset, limit=limit)
        return order

    async def frames(self) -> tuple[StackFrame, ...]:
        frames: tuple[StackFrame, ...] = await self._ask("frames")
        return frames

    async def attributes(self, graph: str, node: str) -> NodeAttributes:
        attributes: NodeAttributes = await self._ask("attributes", graph=graph, node=node)
        return attributes

    async def _ask(self, what: live.Asked, **arguments: Any) -> Any:
        if not self.paused or self._over:
            raise _no_tensors(self._over)
        number = next(self._numbers)
        answer = self._asked[number] = asyncio.get_running_loop().create_future()
        try:
            await self._training.send("query", **live.query_fields(number, what, **arguments))
            message = await answer
        finally:
            del self._asked[number]
        return await asyncio.to_thread(live.answer_of, message, what, self._arrays, arguments.get("question"))


def _read_graph(name: str, path: Path) -> bytes:
    """The graph in a file as a serialised GraphProto; the file is removed."""
    data: bytes = to_proto(name, graph_file.load(path)).SerializeToString()
    with contextlib.suppress(OSError):
        path.unlink()
    return data


def _no_tensors(is_over: bool) -> NotAvailable:
    if is_over:
        return NotAvailable("the tensors are gone: the training has ended", code="gone")
    return NotAvailable("the training runs: pause it to see its tensors", code="running")
