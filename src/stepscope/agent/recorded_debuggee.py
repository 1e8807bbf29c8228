"""The debuggee whose steps are recorded: the training runs whole steps, the cursor and the queries are dealt with here.

While a step is checked the training waits for the verdict.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from stepscope.agent.link import Link
from stepscope.agent.recorded import RecordedTraining
from stepscope.agent.training import Training
from stepscope.core.errors import NotAvailable
from stepscope.core.looks import Question
from stepscope.core.ports import (
    Command,
    Comparison,
    ExecutionOrder,
    NodeAttributes,
    Report,
    StackFrame,
    Tensor,
    TensorKey,
    TensorStats,
)
from stepscope.core.watch.records import HitBatch, WatchpointSet
from stepscope.pipe import Message

A = TypeVar("A")


class RecordedDebuggee:
    """A `Debuggee`. `spawn` starts work that nobody waits for."""

    def __init__(self, training: Training, link: Link, folder: Path, spawn: Callable[[Any], Any]) -> None:
        self._training = training
        self._link = link
        self._spawn = spawn
        self._recorded = RecordedTraining(folder)
        self._paused = False
        self._untold: HitBatch | None = None  # of the last check

    @property
    def paused(self) -> bool:
        return self._paused

    def last_words(self, goodbye: Message | None) -> Report:
        return self._recorded.last_words(goodbye)

    # ------------------------------------------------------------ from the server

    async def watch(self, watchpoints: WatchpointSet) -> None:
        await self._training.send("watch", on=self._recorded.watch(watchpoints))

    async def command(self, command: Command) -> None:
        if command.kind == "recheck" or self._recorded.is_to_check_initial_state(command):
            stops = await self._check()
            if stops or command.kind == "recheck":
                self._tell_hits()
                self._link.send_report(self._recorded.stay(command, stops))
                return
        if self._recorded.moves_cursor(command):
            report = await asyncio.to_thread(self._recorded.move_cursor, command)
            if report is not None:
                self._link.send_report(report)
                return
            command = replace(command, kind="run", steps=1)
        await self._training.send("command", kind=command.kind, steps=command.steps, sequence=command.sequence)

    # ------------------------------------------------------------ from the training

    async def told(self, message: Message) -> None:
        kind = message["is"]
        if kind == "graphs":
            await self._take_graphs(message)
        elif kind == "report":
            self._paused = message["state"] == "paused"
            if self._paused:
                self._tell_hits()
            self._link.send_report(await asyncio.to_thread(self._recorded.reported, message))
        elif kind == "step":
            self._recorded.step_ended(message)
            await self._training.send("verdict", stop=await self._check())
            self._spawn(asyncio.to_thread(self._recorded.tidy))

    async def _check(self) -> bool:
        """Checks the watchpoints on the present step; whether the training is to stand still.

        That nothing was hit is told when it pauses: a training that runs free has a step every few milliseconds.
        """
        batch = await asyncio.to_thread(self._recorded.check)
        self._untold = batch
        if batch.hits or not batch.step:
            self._tell_hits()
        return batch.stops

    def _tell_hits(self) -> None:
        batch, self._untold = self._untold, None
        if batch is not None:
            self._link.send_hits(batch)

    async def _take_graphs(self, message: Message) -> None:
        for number, path in message["files"]:
            graph = await asyncio.to_thread(
                self._recorded.recording.add_graph, number, Path(path), message["parameters"]
            )
            self._link.send_graph(graph.name, graph.SerializeToString())
        await self._training.send("graphs_read", bytes=self._recorded.recording.step_bytes())

    # ------------------------------------------------------------ queries

    async def tensor(self, key: TensorKey, index: str | None) -> Tensor:
        return await asyncio.to_thread(self._recorded.tensor, key, index)

    async def stats(self, key: TensorKey) -> TensorStats:
        return await asyncio.to_thread(self._recorded.stats, key)

    async def compare(self, key: TensorKey) -> Comparison:
        return await asyncio.to_thread(self._recorded.compare, key)

    async def look(self, key: TensorKey, question: Question[A]) -> A:
        return await asyncio.to_thread(self._recorded.look, key, question)

    async def execution(self, offset: int, limit: int) -> ExecutionOrder:
        return await asyncio.to_thread(self._recorded.execution, offset, limit)

    async def frames(self) -> tuple[StackFrame, ...]:
        raise NotAvailable("the steps of this training are recorded: it stands in no Python code that could be shown")

    async def attributes(self, graph: str, node: str) -> NodeAttributes:
        raise NotAvailable("the attributes of this training are constants of its graph")
