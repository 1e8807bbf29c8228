"""MindSpore's own debugger clients at a whole server: as jobs beside others, and whatever they send."""

from __future__ import annotations

import contextlib
import logging
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import grpc
import numpy as np
import pytest
from trainings import until

import stepscope
from stepscope.core.errors import Conflict, NotAvailable
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.testing.network import FORWARD, graph_proto
from stepscope.testing.original_client import OriginalClient
from stepscope.testing.original_flavours import Flavour
from stepscope.testing.server import ServerThread

RELU = f"{FORWARD}/relu-ReLU/ReLU-op0"
GPU, ASCEND = Flavour("1.2.0", "GPU"), Flavour("2.0.0", "Ascend")
MUTATED = 10_000
SERVICE = "/debugger.EventListener/"
TRAINING = """
import os, sys, time
from stepscope.testing.original_client import OriginalClient
from stepscope.testing.original_flavours import Flavour
address, version, device, seconds, workers = sys.argv[1:]
client = OriginalClient(address, Flavour(version, device), step_seconds=float(seconds)).start()
if int(workers):
    time.sleep(1)  # until it is connected
    if not os.fork():
        time.sleep(60)
        os._exit(0)
client.join(60)
"""


@pytest.fixture
def client(server):
    with OriginalClient(server.debugger_address, GPU) as attached:
        yield attached


def test_it_is_a_job_like_others(client, debugger):
    job = debugger.wait_for_job(60)
    assert job.wait(60) == "paused"
    assert (job.framework, job.version, job.device, job.step) == ("mindspore", "1.2.0", "GPU 0", 0)
    assert RELU in job.nodes("*ReLU*")
    job.run_to(RELU)
    assert job.wait(60) == "paused"
    assert job.cursor.node == RELU
    job.run(2)
    assert job.wait(60) == "paused"
    assert job.step == 2
    weight = job.tensor("hidden.weight")
    assert np.array_equal(weight, client.network._parameters["hidden.weight"])
    assert job.compare("hidden.weight").changed_count == weight.size
    with pytest.raises(Conflict, match="forward only"):
        job.previous_node()
    job.terminate()
    assert job.wait(60) == "finished"
    client.join()
    assert client.exited


def test_watchpoints_hits_origin_and_guide(server, debugger):
    with OriginalClient(server.debugger_address, ASCEND, nan_at=3):
        job = debugger.wait_for_job(60)
        job.wait(60)
        job.watch("tensor_overflow")
        job.resume()
        assert job.wait(60) == "paused"
        assert job.step == 3
        first = job.hits()[0]
        assert first.node == f"{FORWARD}/hidden-Dense/MatMul-op0"
        assert not first.error
        found = job.origin(RELU)
        assert found.path[0].node == first.node  # what it has read before is not kept on the device


def test_a_second_training_is_a_second_job(client, server, debugger):
    first = debugger.wait_for_job(60)
    first.wait(60)
    with OriginalClient(server.debugger_address, ASCEND):
        while len(jobs := debugger.jobs()) < 2:
            time.sleep(0.01)
        second = jobs[-1]
        assert second.id != first.id
        second.wait(60)
        second.run(1)
        assert second.wait(60) == "paused"
        assert (first.state, first.step) == ("paused", 0)
        first.run(3)
        assert first.wait(60) == "paused"
        assert (first.step, second.step) == (3, 1)


@contextmanager
def process(address: str, flavour: Flavour, step_seconds: float, workers: int = 0) -> Iterator[subprocess.Popen[bytes]]:
    options = (address, flavour.version, flavour.backend, step_seconds, workers)
    command = [sys.executable, "-c", TRAINING, *map(str, options)]
    # A worker keeps what it inherits, as one of a program in C++ does.
    environment = {**os.environ, "GRPC_ENABLE_FORK_SUPPORT": "0"}
    with subprocess.Popen(command, env=environment, start_new_session=True) as training:
        try:
            yield training
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(training.pid, signal.SIGKILL)


# /proc/net/tcp is Linux's: elsewhere 1.1 and 1.2 give no sign at all.
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the system does not list connections")


@on_linux
@pytest.mark.parametrize("version", ["1.2.0", "2.0.0"])
@pytest.mark.parametrize("device", ["GPU", "Ascend"])
@pytest.mark.parametrize("state", ["running", "paused"])
def test_one_that_is_killed_is_noticed(server, debugger, version, device, state):
    with process(server.debugger_address, Flavour(version, device), step_seconds=30) as training:
        job = debugger.wait_for_job(60)
        assert job.wait(60) == "paused"
        if state == "running":
            job.run(1)
            time.sleep(0.5)  # until it has been told, and no call is open
        assert job.state == state
        training.kill()
        until(lambda: job.state == "lost", 20)  # not when the step would have ended


@on_linux
def test_one_that_is_killed_is_noticed_though_a_worker_of_it_lives_on(tmp_path):
    """It holds the connection, but nobody answers over it any more."""
    with (
        ServerThread(tmp_path, keepalive_seconds=0.6) as server,
        stepscope.connect(server.url) as debugger,
        process(server.debugger_address, ASCEND, step_seconds=30, workers=1) as training,
    ):
        job = debugger.wait_for_job(60)
        assert job.wait(60) == "paused"
        time.sleep(1.5)  # until the worker is there
        job.run(1)
        time.sleep(0.5)
        training.kill()
        assert job.wait(60) == "lost"


@on_linux
def test_one_that_is_killed_is_not_mixed_up_with_another(server, debugger):
    """The one that lives is in the same step, on the same machine and device."""
    with process(server.debugger_address, GPU, 30) as dies, process(server.debugger_address, GPU, 3):
        while len(jobs := debugger.jobs()) < 2:
            time.sleep(0.01)
        for job in jobs:
            assert job.wait(60) == "paused"
            job.run(2)
        time.sleep(0.5)
        dies.kill()
        assert sorted(job.wait(60) for job in jobs) == ["lost", "paused"]
        assert sorted(job.step for job in jobs) == [0, 2]


@on_linux
@pytest.mark.parametrize("version", ["1.2.0", "2.0.0"])
def test_one_that_was_given_up_while_it_lived_is_back(tmp_path, version):
    """Stopped by a signal it gives no answer to gRPC, which closes the connection: it goes on over a new one."""
    with (
        ServerThread(tmp_path, keepalive_seconds=0.3) as server,
        stepscope.connect(server.url) as debugger,
        process(server.debugger_address, Flavour(version, "Ascend"), step_seconds=1) as training,
    ):
        job = debugger.wait_for_job(60)
        assert job.wait(60) == "paused"
        job.run(3)
        time.sleep(0.5)
        training.send_signal(signal.SIGSTOP)
        assert job.wait(60) == "lost"
        training.send_signal(signal.SIGCONT)
        until(lambda: job.state == "paused")
        assert (job.step, len(debugger.jobs())) == (3, 1)
        job.run(1)
        assert job.wait(60) == "paused"
        assert job.step == 4


def test_what_it_can_not_do_is_said(server, debugger):
    with OriginalClient(server.debugger_address, ASCEND):
        job = debugger.wait_for_job(60)
        job.wait(60)
        job.run(1)
        job.wait(60)
        with pytest.raises(Conflict, match="whole steps only"):
            job.next_node()
        assert job.state == "paused"  # a refused command leaves the job as it was
        with pytest.raises(NotAvailable, match="parameters only"):
            job.compare(RELU)


@pytest.mark.parametrize("let_in", [False, True])
def test_where_a_token_is_needed_it_has_to_be_let_in(tmp_path, let_in):
    with (
        ServerThread(tmp_path, token="secret", original_clients=let_in) as server,
        stepscope.connect(server.url, token="secret") as debugger,
        OriginalClient(server.debugger_address, GPU) as client,
    ):
        if let_in:
            assert debugger.wait_for_job(60).wait(10) == "paused"
        else:
            client.join()
            assert client.error
            assert not debugger.jobs()


def valid() -> dict[str, list[list[bytes]]]:
    """By call, streams of messages as a client sends them."""
    meta = pb.Metadata(device_name="0:0", backend="GPU", cur_node=RELU, cur_step=1, graph_num=1, ms_version="1.2.0")
    graph = graph_proto().SerializeToString()
    chunks = [pb.Chunk(buffer=graph[:2000]), pb.Chunk(buffer=graph[2000:], finished=True)]
    tensor = pb.TensorProto(
        node_name=RELU, slot="0", tensor_content=bytes(96), dims=[8, 3], data_type=pb.DT_FLOAT32, finished=True
    )
    condition = pb.WatchCondition(condition=pb.WatchCondition.tensor_too_large)
    condition.params.add(name="max_gt", value=1.0, actual_value=2.0, hit=True)
    hit = pb.WatchpointHit(id=1, tensor=tensor, watch_condition=condition, error_code=0)
    summary = pb.TensorSummary(
        tensor_base=pb.TensorBase(data_type=pb.DT_FLOAT32, shape=[8, 3], data_size=96),
        statistics=pb.Statistics(count=24, max_value=1.0, min_value=-1.0),
    )
    attach = [pb.AgentMessage(hello=pb.Hello(job_id="x", protocol_version=2, stepping="live")), pb.AgentMessage()]
    streams = {
        "SendMetadata": [meta],
        "WaitCMD": [meta],
        "SendHeartbeat": [pb.Heartbeat(message="alive", period=5)],
        "SendGraph": chunks,
        "SendMultiGraphs": chunks,
        "SendTensors": [tensor, tensor],
        "SendTensorBase": [summary.tensor_base],
        "SendTensorStats": [summary],
        "SendWatchpointHits": [hit, hit],
        "Attach": attach,
    }
    return {name: [[message.SerializeToString() for message in stream]] for name, stream in streams.items()}


def mutated(data: bytes, dice: random.Random) -> bytes:
    """The bytes with something cut, turned, doubled or put in."""
    result = bytearray(data)
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(result) + 1)
        kind = dice.randrange(5)
        if kind == 0:
            del result[at : at + dice.randint(1, 20)]
        elif kind == 1 and at < len(result):
            result[at] ^= 1 << dice.randrange(8)
        elif kind == 2:
            result[at:at] = result[at : at + dice.randint(1, 50)]
        elif kind == 3:
            result[at:at] = dice.randbytes(dice.randint(1, 10))
        elif at + 8 < len(result):
            result[at : at + 8] = dice.choice((b"\xff" * 8, bytes(8)))
    return bytes(result)


def test_ten_thousand_mutated_messages_harm_nobody(server, debugger, monkeypatch, caplog):
    monkeypatch.setattr("stepscope.server.mindspore.stepping.POLL_SECONDS", 0.01)
    memory = peak_memory()
    dice = random.Random(11)
    corpus = valid()
    refusals: set[str] = set()
    with OriginalClient(server.debugger_address, ASCEND):
        job = debugger.wait_for_job(60)
        job.wait(60)
        stop = threading.Event()
        steps = threading.Thread(target=keep_stepping, args=(job, stop))
        steps.start()
        with grpc.insecure_channel(server.debugger_address, [("grpc.use_local_subchannel_pool", 1)]) as channel:
            calls = {name: channel.stream_stream(SERVICE + name, None, None) for name in corpus}
            sent = 0
            while sent < MUTATED:
                for name in ("SendMetadata", "SendGraph"):  # so that there is a training that the others meet
                    list(calls[name](iter(corpus[name][0]), timeout=60))
                for _ in range(100):
                    name = dice.choice(list(corpus))
                    messages = [mutated(one, dice) if dice.random() < 0.8 else one for one in corpus[name][0]]
                    sent += len(messages)
                    try:
                        list(calls[name](iter(messages), timeout=60))
                    except grpc.RpcError as error:
                        refusals.add(f"{name}: {error.code()} {error.details()}"[:100])
        stop.set()
        steps.join(30)
        assert not steps.is_alive()
        before = job.step
        job.run(1)
        assert job.wait(60) == "paused"
        assert job.step == before + 1 > 10
        assert np.isfinite(job.tensor("hidden.weight")).all()
    # Bytes that are no message at all are refused by gRPC itself, or in one line. Nothing else raised or hung.
    assert all("DecodeError" in refusal or "INVALID_ARGUMENT" in refusal for refusal in refusals), refusals
    errors = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert not [error for error in errors if "DecodeError" not in error]
    assert peak_memory() - memory < 256 << 20


def peak_memory() -> int:
    """Bytes that this process, with the server in it, has used at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def keep_stepping(job: stepscope.Job, stop: threading.Event) -> None:
    while not stop.is_set():
        job.run(1)
        if job.wait(30) != "paused":
            return
        time.sleep(0.05)
