"""The sidecar: stands between one training process and the server.

It holds the connection, so that the training spends no time on it; it outlives the training, so that it can tell how
that ended; and it cleans up after it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import socket
from pathlib import Path
from typing import Any

from stepscope.agent.answering import answers
from stepscope.agent.debuggee import Debuggee
from stepscope.agent.link import Link, Refused
from stepscope.agent.live import LiveTraining
from stepscope.agent.recorded_debuggee import RecordedDebuggee
from stepscope.agent.training import Training
from stepscope.core.errors import StepscopeError
from stepscope.core.ports import Command, Farewell, SourceInfo
from stepscope.pipe import Message
from stepscope.protocol import convert
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.protocol.watchpoints import watchpoints_from_proto

_TERMINATE_WAIT = 10.0  # seconds for a training to end by itself before it gets SIGTERM, and then SIGKILL
_FAREWELL_WAIT = 5.0


def main(descriptor: int, pid: int) -> None:
    """Serves the training process `pid` over the socket `descriptor`, until both it and the server need no more."""
    sock = socket.socket(fileno=descriptor)
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    asyncio.run(_run(Training(sock, pid)))


async def _run(training: Training) -> None:
    messages = training.messages()
    hello = await anext(messages, None)
    if hello is None or hello["is"] != "hello":
        return
    agent = Agent(training, hello)
    try:
        await agent.serve(messages)
    finally:
        # Only once the process is gone: while it lives, the folder is its own to remove.
        if await training.ended(_FAREWELL_WAIT):
            shutil.rmtree(hello["folder"], ignore_errors=True)


class Agent:
    def __init__(self, training: Training, hello: Message) -> None:
        info = {**hello["info"], "command_line": tuple(hello["info"]["command_line"])}
        self._training = training
        self._hello = hello
        self._link = Link((hello["host"], hello["port"]), hello["token"], SourceInfo(**info), self._on_server)
        self._debuggee = self._chosen(info.get("stepping", "recorded"), Path(hello["folder"]))
        self._tasks: set[asyncio.Task[Any]] = set()
        self._goodbye: Message | None = None
        self._terminated = False
        self._released = ""
        self._watchpoints: list[pb.Chunk] = []  # parts that have come so far

    def _chosen(self, stepping: str, folder: Path) -> Debuggee:
        if stepping == "live":
            return LiveTraining(self._training, self._link, folder)
        return RecordedDebuggee(self._training, self._link, folder, self._spawn)

    async def serve(self, messages: Any) -> None:
        link = self._spawn(self._keep_link())
        watch = self._spawn(self._watch_server())
        async for message in messages:
            await self._on_training(message)
        self._link.send_report(self._debuggee.last_words(self._goodbye))
        if self._released:
            farewell = Farewell("lost", self._released)
        else:
            farewell = await self._training.farewell(self._goodbye, self._terminated)
        await self._await_server(link, watch)
        watch.cancel()
        await self._link.send_farewell(farewell, _FAREWELL_WAIT)
        link.cancel()
        for task in list(self._tasks):
            task.cancel()

    async def _await_server(self, *given_up: asyncio.Task[Any]) -> None:
        """A training can be over before the server was reached; it is told of nevertheless."""
        connected = self._spawn(self._link.connected.wait())
        wait = self._hello["connect_wait"]
        await asyncio.wait([connected, *given_up], timeout=wait, return_when=asyncio.FIRST_COMPLETED)

    def _spawn(self, work: Any) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # ------------------------------------------------------------ the server: there, away, back

    async def _keep_link(self) -> None:
        try:
            await self._link.run()
        except Refused as reason:
            await self._training.send("refused", reason=str(reason))
            await self._training.send("gone", reason=str(reason))

    async def _watch_server(self) -> None:
        try:
            await asyncio.wait_for(self._link.connected.wait(), self._hello["connect_wait"])
        except asyncio.TimeoutError:
            wait = self._hello["connect_wait"]
            await self._training.send("unreachable", reason=f"{self._link.problem}, waited {wait:g} s")
            return
        await self._training.send("connected", server=self._link.server)
        while True:
            await self._link.lost.wait()
            try:
                await asyncio.wait_for(self._link.connected.wait(), self._hello["lost_wait"])
            except asyncio.TimeoutError:
                if self._debuggee.paused:  # one that runs free is left to run
                    await self._training.send("gone", reason="the debugger's server went away and did not come back")
                    return

    async def _on_server(self, message: pb.ServerMessage) -> None:
        if message.HasField("command"):
            await self._command(convert.command_from_proto(message.command))
        elif message.HasField("watchpoints"):
            await self._watch(message.watchpoints)
        elif message.HasField("query"):
            self._spawn(self._answer(message.query, self._link.connection))

    async def _watch(self, part: pb.Chunk) -> None:
        self._watchpoints.append(part)
        if part.finished:
            parts, self._watchpoints = self._watchpoints, []
            await self._debuggee.watch(await asyncio.to_thread(watchpoints_from_proto, parts))

    async def _command(self, command: Command) -> None:
        if command.kind == "terminate":
            self._terminated = True
            self._spawn(self._make_sure_it_ends())
        await self._debuggee.command(command)

    async def _make_sure_it_ends(self) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            if await self._training.ended(_TERMINATE_WAIT):
                return
            self._training.kill(number)

    async def _on_training(self, message: Message) -> None:
        kind = message["is"]
        if kind == "bye":
            self._goodbye = message
        elif kind == "released":
            self._released = str(message["reason"])
        else:
            await self._debuggee.told(message)

    # ------------------------------------------------------------ queries

    async def _answer(self, query: pb.Query, connection: Any) -> None:
        try:
            async for answer in answers(query, self._debuggee):
                answer.id = query.id
                await self._link.send_answer(answer, connection)
        except StepscopeError as error:
            await self._fail(query, connection, error)
        except Exception as error:
            await self._fail(query, connection, StepscopeError(f"{type(error).__name__}: {error}"))

    async def _fail(self, query: pb.Query, connection: Any, error: StepscopeError) -> None:
        with contextlib.suppress(Exception):
            answer = pb.Answer(id=query.id, failure=convert.failure_to_proto(error))
            await self._link.send_answer(answer, connection)
