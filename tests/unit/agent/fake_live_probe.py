"""The training process' end of the agent's pipe where the training can stand still within a step.

The pipe and its messages are the real ones; what trains is the fake source's small network.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import sys
from collections.abc import Coroutine
from dataclasses import asdict
from pathlib import Path
from typing import Any

from stepscope import graph_file
from stepscope import live_messages as live
from stepscope.agent import main as module
from stepscope.agent.training import Training
from stepscope.core.ports import Command, Farewell
from stepscope.core.watch.records import WatchpointSet
from stepscope.pipe import Message
from stepscope.protocol.graphs import records
from stepscope.testing.live_source import FakeLiveSource


class LiveProbe:
    """`agent` is what it talks to; `sent` counts the messages of each kind that came from there."""

    def __init__(self, folder: Path, address: str, source: FakeLiveSource | None = None) -> None:
        self.folder = folder
        folder.mkdir()
        self.source = source or FakeLiveSource(step_seconds=0.001)
        self.graph_name = "step"
        self.mute = False  # leaves queries without an answer
        self.asked = asyncio.Event()
        self.sent: list[str] = []
        self.process = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
        ours, theirs = socket.socketpair()
        self._sockets = ours, theirs
        self._pipe = Training(theirs, self.process.pid)  # an end of a pipe is an end of a pipe
        self._address = address
        self._outgoing: asyncio.Queue[tuple[str, Message]] = asyncio.Queue()
        self._arrays = live.ArrayFiles(folder)
        self.agent = asyncio.ensure_future(module._run(Training(ours, self.process.pid)))
        self._tasks = [asyncio.ensure_future(work) for work in (self._tell(), self._listen())]

    def say(self, kind: str, /, **fields: Any) -> None:
        self._outgoing.put_nowait((kind, fields))

    def tell_graph(self) -> None:
        _, data = self.source.graph()
        path = self.folder / "graph.json"
        graph_file.dump(records(data), path)
        self.say("graph", name="graph_0", path=str(path))

    def end(self) -> None:
        self.say("bye", step=self.source.network.step, error="")
        self.process.stdin.close()

    def hang_up(self) -> None:
        self._sockets[1].shutdown(socket.SHUT_RDWR)

    async def close(self) -> None:
        with self.process:
            self.process.kill()
        for task in (*self._tasks, self.agent):
            task.cancel()
        await asyncio.gather(*self._tasks, self.agent, return_exceptions=True)
        for one in self._sockets:
            one.close()

    async def _tell(self) -> None:
        host, _, port = self._address.rpartition(":")
        info = {**asdict(self.source.info), "command_line": list(self.source.info.command_line)}
        self.say("hello", host=host, port=int(port), token="", connect_wait=20, lost_wait=20,
                 folder=str(self.folder), info=info)  # fmt: skip
        self.source.on_report = lambda report: self.say("report", **live.fields(report))
        self.source.on_hits = lambda batch: self.say("hits", **live.fields(batch))
        self.source.on_farewell = self._farewell
        while True:
            kind, fields = await self._outgoing.get()
            await self._pipe.send(kind, **fields)
            if kind == "bye":
                self.hang_up()

    def _farewell(self, farewell: Farewell) -> None:
        self.end()

    async def _listen(self) -> None:
        async for message in self._pipe.messages():
            kind = message["is"]
            self.sent.append(kind)
            if kind == "connected":
                self.tell_graph()
                self.source.on_report(self.source.last)
            elif kind == "command":
                await self.source.command(live.read(Command, message))
            elif kind == "watch":
                await self.source.watch(live.read(WatchpointSet, message))
            elif kind == "query":
                self.asked.set()
                if not self.mute:
                    self.say("answer", **live.answer_fields(message, _AtOnce(self.source), self._arrays))


class _AtOnce:
    """The source's queries as plain functions: the fake has nothing to wait for."""

    def __init__(self, source: FakeLiveSource) -> None:
        self._source = source

    def __getattr__(self, what: str) -> Any:
        return lambda **arguments: _result(getattr(self._source, what)(**arguments))


def _result(work: Coroutine[Any, Any, Any]) -> Any:
    with contextlib.closing(work):
        try:
            work.send(None)
        except StopIteration as done:
            return done.value
    raise AssertionError("it waits")
