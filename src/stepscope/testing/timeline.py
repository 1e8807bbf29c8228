"""What a source told, in order, for tests that ask "and then?": the server's `Registry` without a server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TypeVar

from stepscope.core.graph.graph import Graph
from stepscope.core.ports import Command, CommandKind, Farewell, Report, Source, State
from stepscope.core.watch.records import HitBatch, Watchpoint, WatchpointSet
from stepscope.server.graphs import build
from stepscope.server.grpc.listener import Listener

T = TypeVar("T")


class Timeline:
    """Knows one source. The waiting methods raise asyncio.TimeoutError after `patience` seconds."""

    def __init__(self, patience: float = 10.0):
        self.patience = patience
        self.source: Source | None = None
        self.graphs: dict[str, Graph] = {}
        self.reports: list[Report] = []
        self.hits_told: list[HitBatch] = []
        self.ending: Farewell | None = None
        self.detached: str | None = None
        self._news = asyncio.Event()
        self._sequence = 0
        self._revision = 0

    # ------------------------------------------------------------ for the test

    async def attached(self) -> Source:
        """The source, once it has reported for the first time."""
        return await self.until(lambda: self.source if self.reports else None)

    async def do(
        self, kind: CommandKind, steps: int = 1, graph: str = "", node: str = "", before: bool = False
    ) -> Report:
        """Give a command; returns the report of the pause that it leads to."""
        await self.send(kind, steps, graph, node, before)
        return await self.pause_after(self._sequence)

    async def send(
        self, kind: CommandKind, steps: int = 1, graph: str = "", node: str = "", before: bool = False
    ) -> int:
        """Give a command; returns its number."""
        source = await self.attached()
        self._sequence += 1
        await source.command(Command(kind, steps, graph, node, sequence=self._sequence, before=before))
        return self._sequence

    async def pause_after(self, sequence: int) -> Report:
        def found() -> Report | None:
            last = self.reports[-1]
            return last if last.state is State.PAUSED and last.command_sequence >= sequence else None

        return await self.until(found)

    async def watch(self, *watchpoints: Watchpoint) -> None:
        """Set watchpoints in place of those before; the ids are their places, from 1."""
        self._revision += 1
        numbered = tuple(replace(each, id=number) for number, each in enumerate(watchpoints, 1))
        await (await self.attached()).watch(WatchpointSet(self._revision, numbered))

    async def running(self) -> Report:
        """A report that it runs, with the number of the last command."""

        def found() -> Report | None:
            wanted = (each for each in self.reports if each.command_sequence >= self._sequence)
            return next((each for each in wanted if each.state is State.RUNNING), None)

        return await self.until(found)

    async def farewell_came(self) -> Farewell:
        return await self.until(lambda: self.ending)

    async def until(self, found: Callable[[], T | None]) -> T:
        """What `found` gives, as soon as it gives something."""

        async def wait() -> T:
            while True:
                news = self._news
                if (value := found()) is not None:
                    return value
                await news.wait()

        return await asyncio.wait_for(wait(), self.patience)

    # ------------------------------------------------------------ for the source (`server.jobs.Registry`)

    async def attach(self, source: Source, address: str) -> list[str]:
        self.source = source
        self._tell()
        return list(self.graphs)

    async def detach(self, source: Source, detail: str) -> None:
        self.detached = detail
        self._tell()

    async def graph(self, source: Source, name: str, data: bytes) -> None:
        self.graphs[name] = build(name, data)
        self._tell()

    async def report(self, source: Source, report: Report) -> None:
        self.reports.append(report)
        self._tell()

    async def hits(self, source: Source, batch: HitBatch) -> None:
        self.hits_told.append(batch)
        self._tell()

    async def farewell(self, source: Source, farewell: Farewell) -> None:
        self.ending = farewell
        self._tell()

    def _tell(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


@asynccontextmanager
async def listening(patience: float = 10.0) -> AsyncIterator[tuple[Timeline, str]]:
    """A timeline that an agent can attach to, and the host:port for it."""
    timeline = Timeline(patience)
    listener = Listener(timeline)
    await listener.start("127.0.0.1", 0)
    try:
        yield timeline, f"127.0.0.1:{listener.port}"
    finally:
        await listener.stop()
