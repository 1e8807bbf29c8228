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
from dataclasses import replace
from pathlib import Path
from typing import Any

from stepscope.agent.link import Link, Refused
from stepscope.agent.recorded import RecordedTraining
from stepscope.agent.training import Training
from stepscope.core.errors import StepscopeError
from stepscope.core.ports import Command, Farewell, SourceInfo
from stepscope.core.watch.records import HitBatch
from stepscope.pipe import Message
from stepscope.protocol import convert, looks
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
        self._recorded = RecordedTraining(Path(hello["folder"]))
        self._tasks: set[asyncio.Task[Any]] = set()
        self._goodbye: Message | None = None
        self._terminated = False
        self._paused = False
        self._released = ""
        self._watchpoints: list[pb.Chunk] = []  # parts that have come so far
        self._untold: HitBatch | None = None  # of the last check

    async def serve(self, messages: Any) -> None:
        link = self._spawn(self._keep_link())
        watch = self._spawn(self._watch_server())
        async for message in messages:
            await self._on_training(message)
        watch.cancel()
        self._link.send_report(self._recorded.last_words(self._goodbye))
        if self._released:
            farewell = Farewell("lost", self._released)
        else:
            farewell = await self._training.farewell(self._goodbye, self._terminated)
        await self._link.send_farewell(farewell, _FAREWELL_WAIT)
        link.cancel()
        for task in list(self._tasks):
            task.cancel()

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
                if self._paused:  # one that runs free is left to run
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
            active = self._recorded.watch(await asyncio.to_thread(watchpoints_from_proto, parts))
            await self._training.send("watch", on=active)

    async def _command(self, command: Command) -> None:
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
        if command.kind == "terminate":
            self._terminated = True
            self._spawn(self._make_sure_it_ends())
        await self._training.send("command", kind=command.kind, steps=command.steps, sequence=command.sequence)

    async def _make_sure_it_ends(self) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            if await self._training.ended(_TERMINATE_WAIT):
                return
            self._training.kill(number)

    # ------------------------------------------------------------ the training

    async def _on_training(self, message: Message) -> None:
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
        elif kind == "bye":
            self._goodbye = message
        elif kind == "released":
            self._released = str(message["reason"])

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

    async def _answer(self, query: pb.Query, connection: Any) -> None:
        try:
            async for answer in self._look_up(query):
                answer.id = query.id
                await self._link.send_answer(answer, connection)
        except StepscopeError as error:
            await self._fail(query, connection, error)
        except Exception as error:
            await self._fail(query, connection, StepscopeError(f"{type(error).__name__}: {error}"))

    async def _look_up(self, query: pb.Query) -> Any:
        recorded = self._recorded
        what = query.WhichOneof("what")
        if what == "tensor":
            key = convert.key_from_proto(query.tensor.key)
            index = query.tensor.index if query.tensor.HasField("index") else None
            tensor = await asyncio.to_thread(recorded.tensor, key, index)
            for part in convert.tensor_to_proto(tensor):
                yield pb.Answer(tensor=part)
        elif what == "statistics":
            stats = await asyncio.to_thread(recorded.stats, convert.key_from_proto(query.statistics))
            yield pb.Answer(statistics=convert.stats_to_proto(stats))
        elif what == "comparison":
            comparison = await asyncio.to_thread(recorded.compare, convert.key_from_proto(query.comparison))
            yield pb.Answer(comparison=convert.comparison_to_proto(comparison))
        elif what == "execution":
            wanted = query.execution
            order = await asyncio.to_thread(recorded.execution, wanted.offset, wanted.limit)
            yield pb.Answer(execution=convert.execution_to_proto(order))
        elif what == "look":
            key, question = looks.query_from_proto(query.look)
            yield pb.Answer(look=looks.answer_to_proto(await asyncio.to_thread(recorded.look, key, question)))

    async def _fail(self, query: pb.Query, connection: Any, error: StepscopeError) -> None:
        with contextlib.suppress(Exception):
            answer = pb.Answer(id=query.id, failure=convert.failure_to_proto(error))
            await self._link.send_answer(answer, connection)
