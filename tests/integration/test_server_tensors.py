"""Tensors on the wire: large ones in parts, with slow readers, broken off, asked for twice."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time

import httpx
import numpy as np
import pytest

import stepscope
from stepscope.core.ports import Tensor, TensorKey
from stepscope.protocol import convert
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.testing.agent import FakeAgent
from stepscope.testing.source import FakeSource

WEIGHT = "hidden.weight"
URL = f"/api/jobs/fake-1/tensor?node={WEIGHT}"


class OneTensor(FakeSource):
    """Whatever is asked for, it is this array; `parts` may be what goes over the wire instead of it."""

    def __init__(self, array: np.ndarray, dtype: str | None = None):
        super().__init__()
        self.array = array
        self.dtype = dtype or array.dtype.name

    async def tensor(self, key: TensorKey, index: str | None = None) -> Tensor:
        return Tensor(self.array, self.dtype, self.array.shape, 5)


@pytest.fixture
def attached(server, debugger):
    """Attaches a training with one tensor; returns the agent and the job."""
    agents = []

    def attach(array: np.ndarray, dtype: str | None = None):
        agents.append(FakeAgent(server.debugger_address, OneTensor(array, dtype)))
        return agents[0], debugger.wait_for_job(60)

    yield attach
    for agent in agents:
        agent.close()


@pytest.mark.parametrize(
    "array",
    [
        np.array(True),
        np.arange(6, dtype=np.uint8).reshape(2, 3),
        np.arange(6, dtype=">i4").reshape(2, 3).astype("<i4"),
        np.array([np.nan, np.inf, -np.inf, -0.0]),
        np.array([1, 2], np.float16),
        np.zeros((0, 7), np.int64),
        np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        np.arange(20.0)[::-3],
        np.array([1 + 2j], np.complex64),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_arrays_of_all_kinds(attached, array):
    _, job = attached(array)
    found = job.tensor(WEIGHT)
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert np.array_equal(found, array, equal_nan=array.dtype.kind in "fc")


def test_the_header_says_what_the_bytes_are(server, attached):
    attached(np.ones((2, 3), np.float32), "bfloat16")
    answer = httpx.get(server.url + URL)
    assert json.loads(answer.headers["x-stepscope-tensor"]) == {
        "dtype": "bfloat16",
        "storage_dtype": "float32",
        "shape": [2, 3],
        "full_shape": [2, 3],
        "step": 5,
    }
    assert answer.headers["content-length"] == "24"
    assert answer.content == np.ones(6, "<f4").tobytes()


def test_a_large_tensor_comes_through_while_others_are_served(server, attached):
    array = np.arange(24 << 20, dtype=np.int32)  # 96 MiB
    _, job = attached(array)
    found = []
    reading = threading.Thread(target=lambda: found.append(job.tensor(WEIGHT)))
    reading.start()
    longest = 0.0
    with httpx.Client(base_url=server.url) as client:
        while reading.is_alive():
            started = time.monotonic()
            assert client.get("/api/jobs/fake-1").status_code == 200
            longest = max(longest, time.monotonic() - started)
    reading.join()
    assert np.array_equal(found[0], array)


def test_a_reader_that_stops_reading_holds_up_nobody(server, attached):
    agent, job = attached(np.zeros(16 << 20, np.uint8))
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as lazy:
        lazy.sendall(f"GET {URL} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        assert lazy.recv(15) == b"HTTP/1.1 200 OK"
        agent.source.array = np.ones(3)
        assert job.tensor("out.weight").tolist() == [1, 1, 1]
        job.run()
        assert job.wait(60) == "paused"


def test_the_same_question_at_the_same_time_is_asked_once(server, attached):
    agent, _ = attached(np.arange(5.0))
    agent.silent = True
    answers = []
    asking = [
        threading.Thread(target=lambda: answers.append(httpx.get(server.url + URL, timeout=60))) for _ in range(5)
    ]
    for thread in asking:
        thread.start()
    source = next(iter(_sources(server)))
    _until(lambda: [len(each._readers) for each in source._waiting.values()] == [5])
    tensor = Tensor(np.arange(5.0), "float64", (5,), 1)
    for part in convert.tensor_to_proto(tensor):
        agent.send(pb.AgentMessage(answer=pb.Answer(id=1, tensor=part)))
    for thread in asking:
        thread.join(10)
    assert agent.asked == ["tensor"]
    assert {answer.content for answer in answers} == {np.arange(5.0).tobytes()}


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([pb.TensorPart(storage_dtype="object", shape=[1], finished=True)], "sent a tensor of 'object'"),
        ([pb.TensorPart(storage_dtype="no dtype", shape=[1], finished=True)], "sent a tensor of 'no dtype'"),
        ([pb.TensorPart(storage_dtype="int8", shape=[-1], finished=True)], "shape"),
    ],
)
def test_a_tensor_that_can_not_be_is_an_error(attached, parts, message):
    agent, job = attached(np.zeros(1))
    agent.silent = True
    with answered(agent, parts), pytest.raises(stepscope.StepscopeError, match=message):
        job.tensor(WEIGHT)


@pytest.mark.parametrize(
    "rest",
    [
        [pb.TensorPart(content=b"123", finished=True)],
        [pb.TensorPart(content=b"1" * 99, finished=True)],
        [None],
    ],
    ids=["short", "long", "broken off"],
)
def test_a_tensor_that_is_not_whole_is_never_taken_for_one(attached, rest):
    agent, job = attached(np.zeros(1))
    agent.silent = True
    parts = [pb.TensorPart(dtype="int8", storage_dtype="int8", shape=[10], content=b"12345"), *rest]
    with answered(agent, parts), pytest.raises(stepscope.ConnectionFailed):
        job.tensor(WEIGHT)


class answered:
    """Answers the next question with these parts; None is the agent's death."""

    def __init__(self, agent: FakeAgent, parts: list):
        self._thread = threading.Thread(target=self._answer, args=(agent, parts))

    def _answer(self, agent, parts) -> None:
        _until(lambda: agent.asked)
        for part in parts:
            if part is None:
                time.sleep(0.05)  # so that what was sent before it has arrived
                agent.die()
            else:
                agent.send(pb.AgentMessage(answer=pb.Answer(id=1, tensor=part)))

    def __enter__(self):
        self._thread.start()

    def __exit__(self, *error):
        self._thread.join()


def _sources(server):
    async def find():
        import gc

        from stepscope.server.live import LiveSource

        # By its type: isinstance asks a weak proxy for the class of what it stands for, which may be gone.
        return [each for each in gc.get_objects() if issubclass(type(each), LiveSource) and not each.gone]

    return asyncio.run_coroutine_threadsafe(find(), server.loop).result(10)


def _until(condition, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.005)
