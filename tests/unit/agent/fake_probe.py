"""The training process' end of the agent's pipe, played by the test, with a dump and a process that stands for it."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from attach_server import PATIENCE

from stepscope.agent import main as module
from stepscope.agent.training import Training
from stepscope.core.ports import Command
from stepscope.pipe import Message, Pipe
from stepscope.protocol import convert
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.testing.dumps import DumpFolder, GraphFile

GRAPH, ADD, MUL = "graph_0", "Default/Add-op0", "Default/Mul-op0"
WEIGHT = np.arange(4, dtype=np.float32)


class Probe:
    """The training process' end: a dump, the pipe, and a process that stands for it."""

    def __init__(self, folder: Path, port: int, code: str = "sys.stdin.read()") -> None:
        self.dump = DumpFolder(folder)
        folder.mkdir(exist_ok=True)
        self._port = port
        self.process = subprocess.Popen(
            [sys.executable, "-c", f"import signal, sys\n{code}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        ours, theirs = socket.socketpair()
        self.agent = asyncio.ensure_future(module._run(Training(ours, self.process.pid)))
        self._agents_socket, self._pipe = ours, Pipe(theirs)

    def hello(self, connect_wait: float = PATIENCE, lost_wait: float = PATIENCE) -> None:
        info = {"job_id": "job1", "framework": "mindspore", "command_line": ["python", "x.py"]}
        self.send("hello", host="127.0.0.1", port=self._port, token="", connect_wait=connect_wait,
                  lost_wait=lost_wait, folder=str(self.dump.path), info=info)  # fmt: skip

    def send(self, kind: str, /, **fields: Any) -> None:
        self._pipe.send(kind, **fields)

    async def next(self, kind: str) -> Message:
        message = await asyncio.to_thread(self._pipe.receive, PATIENCE)
        assert message is not None
        assert message["is"] == kind
        return message

    async def hears_nothing_for(self, seconds: float) -> bool:
        return await asyncio.to_thread(self._pipe.receive, seconds) is None

    def report(self, step: int, recorded: list[int], state: str = "paused", sequence: int = 0) -> None:
        self.send("report", state=state, step=step, reason="step", recorded=recorded, loss=None, step_seconds=0.5,
                  sequence=sequence, warning="")  # fmt: skip

    async def graph(self) -> Message:
        """A graph with two nodes and a parameter."""
        graph = GraphFile()
        graph.parameter("w", (4,))
        graph.op("Default/Mul", graph.op("Default/Add", "w", shape=(4,)), shape=(4,))
        self.send("graphs", files=[[0, str(self.dump.write_graph(0, graph))]], parameters={"w": True})
        return await self.next("graphs_read")

    def record(self, step: int) -> None:
        self.dump.run(step, "Add", ADD, {0: WEIGHT}, {0: WEIGHT + step})
        self.dump.run(step, "Mul", MUL, {0: WEIGHT}, {0: np.zeros(700_000, np.float32)})
        self.dump.parameter(step, "w", WEIGHT * step)

    def close(self) -> None:
        self._pipe.close()

    def end(self) -> None:
        """The process ends, well; nobody has asked it yet for its exit status."""
        self.process.stdin.close()


def command(kind: Any, sequence: int = 4, **more: Any) -> pb.ServerMessage:
    return pb.ServerMessage(command=convert.command_to_proto(Command(kind, sequence=sequence, **more)))
