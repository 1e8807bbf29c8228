"""A training with large recorded tensors, for the view of a tensor: the files, and the real agent that reads them.

The benchmark plays the training process: it writes what MindSpore would, and tells the agent, which is a process of its
own, that the step has ended.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np

from stepscope.pipe import Pipe, PipeClosed
from stepscope.probe.sidecar import launch
from stepscope.testing.dumps import DumpFolder, GraphFile

STEP = 2


class LargeTensors:
    """The files of two steps. `sides` are those of square weights of float32: "weight.4096" and so on."""

    def __init__(self, folder: Path, sides: tuple[int, ...]):
        self.folder = folder
        self.parameters = {name(side): True for side in sides}
        dump, graph = DumpFolder(folder), GraphFile()
        for side in sides:
            graph.op("Default/net/ReLU", graph.parameter(name(side), (side, side)), shape=(side, side))
        self.graph = dump.write_graph(0, graph)
        for step in (STEP - 1, STEP):
            for side in sides:
                dump.parameter(step, name(side), values(side, step))


class Attached:
    """The training, paused after its second step; a new agent each time, so that nothing is kept from the one before.

    Use it in a `with` block: leaving it ends the agent.
    """

    def __init__(self, tensors: LargeTensors, debugger_address: str, job_id: str):
        self._pipe = launch()
        host, port = debugger_address.rsplit(":", 1)
        info = {
            "job_id": job_id,
            "framework": "mindspore",
            "framework_version": "2.10.0",
            "device": "CPU",
            "command_line": ["python", "train.py"],
            "started_at": time.time(),
        }
        self._pipe.send(
            "hello", host=host, port=int(port), token="", folder=str(tensors.folder), info=info, connect_wait=60.0,
            lost_wait=60.0,
        )  # fmt: skip
        self._pipe.send("graphs", files=[[0, str(tensors.graph)]], parameters=tensors.parameters)
        self._pipe.send(
            "report", state="paused", step=STEP, reason="step", recorded=[STEP - 1, STEP], loss=0.5, step_seconds=0.1,
            sequence=0, warning="",
        )  # fmt: skip
        self._reading = threading.Thread(target=_read, args=(self._pipe,), daemon=True)
        self._reading.start()

    def __enter__(self) -> Attached:
        return self

    def __exit__(self, *error: object) -> None:
        self._pipe.send("bye", step=STEP, error="")
        self._pipe.close()


def name(side: int) -> str:
    return f"weight.{side}"


def values(side: int, step: int) -> np.ndarray:
    random = np.random.default_rng(side)
    array = random.standard_normal((side, side), np.float32)
    if step == STEP:
        array += np.float32(0.01) * random.standard_normal((side, 1), np.float32)
    return array


def _read(pipe: Pipe) -> None:
    """What the agent says is not looked at: there is no training to command."""
    try:
        while True:
            pipe.receive()
    except PipeClosed:
        return
