"""Jobs over their whole life: connections that break, servers that are killed, several trainings at once."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace

import httpx
import pytest
from trainings import until

import stepscope
from stepscope.core.ports import Farewell, Report, State
from stepscope.protocol.convert import PROTOCOL_VERSION
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.server.workspace import read_running
from stepscope.testing.agent import FakeAgent
from stepscope.testing.server import ServerThread
from stepscope.testing.source import INFO, FakeSource


def ports_of(server):
    return {"port": int(server.url.rpartition(":")[2]), "debugger_port": server.address.debugger_port}


def other(job_id: str, **info) -> FakeSource:
    return FakeSource(replace(INFO, job_id=job_id, **info))


def test_several_jobs_at_once(server, debugger):
    with (
        FakeAgent(server.debugger_address, other("one")),
        FakeAgent(server.debugger_address, other("two", command_line=("python", "second.py"))),
    ):
        one, two = debugger.jobs()
        assert (one.id, two.id, two.title) == ("one", "two", "second.py")
        assert (one.wait(60), two.wait(10)) == ("paused", "paused")
        one.run(2)
        assert one.wait(60) == "paused"
        assert (one.step, two.step) == (2, 0)
        assert debugger.wait_for_job(1).id == "two"


def test_a_broken_connection_is_noticed_at_once(agent, job):
    job.run()
    assert job.wait(60) == "paused"
    agent.die()
    until(lambda: job.state == "lost")
    assert job.info["exit"] == {"outcome": "lost", "detail": "the connection to the training process broke"} | {
        "exit_status": None
    }
    assert job.info["connected"] is False
    with pytest.raises(stepscope.Conflict, match="the job is lost"):
        job.run()
    assert (job.step, job.graphs, len(job.nodes())) == (1, ["graph_0"], 24)


def test_a_wait_ends_when_the_training_dies(agent, job):
    agent.source.step_seconds = 60
    job.resume()
    states = []
    waiting = threading.Thread(target=lambda: states.append(job.wait(30)))
    waiting.start()
    agent.die()
    waiting.join(10)
    assert states == ["lost"]


def test_a_question_ends_when_the_training_dies(agent, job):
    agent.silent = True
    errors = []

    def ask():
        try:
            job.stats("hidden.weight")
        except stepscope.StepscopeError as error:
            errors.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    until(lambda: agent.asked)
    agent.die()
    asking.join(10)
    assert isinstance(errors[0], stepscope.NotAvailable)
    assert "the connection to the training process broke" in str(errors[0])


def test_a_job_that_reconnects_goes_on(agent, job):
    job.run(2)
    assert job.wait(60) == "paused"
    agent.die()
    until(lambda: job.state == "lost")
    agent.attach()
    assert agent.known_graphs == ["graph_0"]
    assert job.wait(60) == "paused"
    assert (job.step, job.info["exit"], job.info["ended_at"]) == (2, None, None)
    job.run()
    assert job.wait(60) == "paused"
    assert job.step == 3


def test_a_new_connection_takes_the_place_of_a_half_dead_one(server, agent, job):
    again = FakeAgent(server.debugger_address, agent.source)
    with again:
        until(lambda: job.wait(60) == "paused")
        agent.report(Report(State.PAUSED, step=99, command_sequence=99))  # of the old one: too late
        until(lambda: agent._stream.done())  # the server has ended it
        job.run()
        assert job.wait(60) == "paused"
        assert job.step == 1
        assert again.commands


def test_another_process_with_the_same_id_is_refused(server, agent, job):
    with FakeAgent(server.debugger_address, other("fake-1", pid=1)) as stranger:
        assert stranger.refusal == "job fake-1 is in use by process 4242 on fakehost"
    assert job.state == "paused"


def test_a_finished_job_is_not_reopened(server, agent, job):
    agent.finish(Farewell("finished", exit_status=0))
    assert job.wait(60) == "finished"
    agent.attach()
    assert "has ended: finished, exit status 0" in agent.refusal


@pytest.mark.parametrize(
    ("farewell", "state"),
    [
        (Farewell("finished", exit_status=0), "finished"),
        (Farewell("lost", "killed by signal 9", -9), "lost"),
        (Farewell("terminated", "as you asked", 143), "finished"),
    ],
)
def test_how_it_ended_is_kept(tmp_path, farewell, state):
    with ServerThread(tmp_path) as server, FakeAgent(server.debugger_address) as agent:
        agent.finish(farewell)
        until(lambda: httpx.get(f"{server.url}/api/jobs/fake-1").json()["exit"])
    with ServerThread(tmp_path) as server, stepscope.connect(server.url) as debugger:
        (job,) = debugger.jobs()
        assert job.state == state
        assert job.info["exit"] == vars(farewell)


def test_an_old_report_does_not_end_a_wait(agent, job):
    agent.source.step_seconds = 60
    job.run()
    until(lambda: agent.source.last.state is State.RUNNING)
    old = Report(State.PAUSED, step=0, reason="start", command_sequence=0)
    agent.report(old)
    agent.report(replace(old, warning="seen"))
    until(lambda: job.info["warning"] == "seen")
    assert job.state == "running"
    agent.report(Report(State.PAUSED, step=1, reason="step", command_sequence=agent.commands[-1].sequence))
    assert job.wait(60) == "paused"


def test_a_job_survives_a_restart_of_the_server(tmp_path):
    source = FakeSource()
    with ServerThread(tmp_path) as server, stepscope.connect(server.url) as debugger:
        ports = ports_of(server)
        agent = FakeAgent(server.debugger_address, source)
        job = debugger.wait_for_job(60)
        for _ in range(3):
            job.run()
            job.wait(60)
        sequence = agent.commands[-1].sequence
        events_before = httpx.get(f"{server.url}/api/jobs/fake-1/steps").json()
    agent.die()
    with (
        ServerThread(tmp_path, **ports) as server,
        stepscope.connect(server.url) as debugger,
    ):
        (job,) = debugger.jobs()
        info = job.info
        assert (info["state"], info["connected"], info["step"]) == ("lost", False, 3)
        assert job.nodes(category="weight") == ["hidden.weight", "hidden.bias", "out.weight"]
        steps = httpx.get(f"{server.url}/api/jobs/fake-1/steps").json()
        assert steps == events_before
        assert [step["step"] for step in steps["steps"]] == [1, 2, 3]
        agent.attach()
        assert agent.known_graphs == ["graph_0"]
        assert job.wait(60) == "paused"
        job.run()
        assert job.wait(60) == "paused"
        assert (job.step, job.stats("hidden.weight").step) == (4, 4)
        assert agent.commands[-1].sequence > sequence
    agent.close()


SERVER_PROGRAM = """
import sys, pathlib
from stepscope.server.app import serve
from stepscope.server.settings import Settings
port, debugger_port, workspace = int(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3])
serve(Settings(port=port, debugger_port=debugger_port, workspace=workspace))
"""


def start_server(workspace, port=0, debugger_port=0):
    arguments = [sys.executable, "-c", SERVER_PROGRAM, str(port), str(debugger_port), str(workspace)]
    process = subprocess.Popen(arguments)
    try:
        return process, until(lambda: read_running(workspace))
    except BaseException:
        process.kill()
        process.wait()
        raise


def test_killing_the_server_and_starting_it_again_gets_a_live_job_back(tmp_path):
    process, found = start_server(tmp_path)
    agent = FakeAgent(f"127.0.0.1:{found.debugger_port}")
    try:
        with stepscope.connect(found.url) as debugger:
            job = debugger.wait_for_job(60)
            job.run(2)
            assert job.wait(60) == "paused"
        time.sleep(0.5)  # longer than changes wait to be written
        process.kill()
        process.wait()
        port = int(found.url.rpartition(":")[2])
        process, found = start_server(tmp_path, port, found.debugger_port)
        with stepscope.connect(found.url) as debugger:
            (job,) = debugger.jobs()
            assert (job.state, job.info["connected"], job.step) == ("lost", False, 2)
            agent.attach()
            assert job.wait(60) == "paused"
            job.run()
            assert job.wait(60) == "paused"
            assert job.step == 3
    finally:
        agent.close()
        process.kill()
        process.wait()


def test_a_host_that_vanishes_is_noticed(tmp_path):
    """A network that swallows everything: no end of the connection is ever seen."""
    with ServerThread(tmp_path, keepalive_seconds=0.3) as server:
        _, port = server.debugger_address.split(":")
        with (
            BlackHole(int(port)) as road,
            FakeAgent(f"127.0.0.1:{road.port}"),
            stepscope.connect(server.url) as debugger,
        ):
            job = debugger.wait_for_job(60)
            road.swallow()
            assert job.state == "paused"
            until(lambda: job.state == "lost")


class BlackHole:
    """A road to a port that can stop carrying anything."""

    def __init__(self, to_port: int):
        self._to_port = to_port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._swallowing = False
        self._server = self._do(asyncio.start_server(self._carry, "127.0.0.1", 0))
        self.port = self._server.sockets[0].getsockname()[1]

    def swallow(self) -> None:
        self._swallowing = True

    async def _carry(self, reader, writer) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._to_port)
        await asyncio.gather(self._pump(reader, far_writer), self._pump(far_reader, writer))

    async def _pump(self, reader, writer) -> None:
        while data := await reader.read(1 << 16):
            if not self._swallowing:
                writer.write(data)
        if not self._swallowing:
            writer.close()

    def _do(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._loop.call_soon_threadsafe(self._server.close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()


def test_deleting(server, agent, job):
    headers = {"X-Stepscope": "1"}
    url = f"{server.url}/api/jobs/fake-1"
    answer = httpx.delete(url, headers=headers)
    assert (answer.status_code, answer.json()["kind"]) == (409, "conflict")
    assert "only one that has ended can be deleted" in answer.json()["detail"]
    agent.finish()
    assert job.wait(60) == "finished"
    assert httpx.delete(url, headers=headers).status_code == 204
    assert httpx.get(f"{server.url}/api/jobs").json() == {"jobs": []}
    assert httpx.delete(url, headers=headers).status_code == 404


def test_step_history(server, agent, job):
    job.run(2)
    assert job.wait(60) == "paused"
    job.run()
    assert job.wait(60) == "paused"
    history = httpx.get(f"{server.url}/api/jobs/fake-1/steps").json()
    assert history["total"] == 2
    assert [(step["step"], step["reason"]) for step in history["steps"]] == [(2, "step"), (3, "step")]
    assert history["steps"][-1]["loss"] == job.info["loss"]
    page = httpx.get(f"{server.url}/api/jobs/fake-1/steps", params={"offset": 1, "limit": 5}).json()
    assert [step["step"] for step in page["steps"]] == [3]


def test_graphs_that_can_not_be_read_are_a_warning(server, agent, job):
    agent.send_graph("broken", b"\xff\xff not a graph")
    until(lambda: "graph 'broken' can't be read" in job.info["warning"])
    assert job.graphs == ["graph_0"]
    job.run()
    assert job.wait(60) == "paused"


def test_one_name_in_two_graphs(server, agent, job):
    agent.send_graph("graph_1", agent.source.graph()[1])
    until(lambda: job.graphs == ["graph_0", "graph_1"])
    assert len(job.nodes(category="weight")) == 6
    with pytest.raises(stepscope.BadRequest, match="in more than one graph, name one: graph_0, graph_1"):
        job.tensor("hidden.weight")
    assert job.tensor("hidden.weight", graph="graph_0").shape == (3, 4)
    first = job.nodes(category="weight")[0]
    assert (first.graph, job.tensor(first).shape) == ("graph_0", (3, 4))
    with pytest.raises(stepscope.BadRequest, match="which graph is meant"):
        job.scope()
    with pytest.raises(stepscope.BadRequest, match="more than one graph"):
        job.run_to("Default/network/relu-ReLU/ReLU-op0")
    job.run_to("Default/network/relu-ReLU/ReLU-op0", graph="graph_0")
    assert job.wait(60) == "paused"


@pytest.mark.parametrize(
    ("messages", "detail"),
    [
        ([pb.AgentMessage(report=pb.Report())], "does not know the state number 0"),
        ([pb.AgentMessage(hello=pb.Hello(job_id="fake-1"))], "a message of kind hello is not expected here"),
        ([pb.AgentMessage(graph=pb.Chunk(buffer=b"x"))], "a graph needs a name"),
        ([pb.AgentMessage()], "a message of kind None"),
        ([pb.AgentMessage(farewell=pb.Farewell())], "outcome number 0"),
    ],
)
def test_a_peer_that_breaks_the_protocol_loses_its_stream_only(server, agent, job, messages, detail):
    with FakeAgent(server.debugger_address, other("good")):
        for message in messages:
            agent.send(message)
        until(lambda: job.state == "lost")
        assert detail in job.info["exit"]["detail"]
        with stepscope.connect(server.url) as debugger:
            good = debugger.job("good")
            good.run()
            assert good.wait(60) == "paused"


@pytest.mark.parametrize(
    ("info", "refusal"),
    [
        ({"job_id": "../up"}, "the job's id has to be"),
        ({"job_id": ""}, "the job's id has to be"),
        ({"framework": "x" * 5000}, "the hello is too long"),
        ({"command_line": ("x" * 70_000,)}, "the hello is too long"),
        ({"stepping": "sideways"}, "stepping has to be"),
    ],
)
def test_a_hello_that_can_not_be_is_refused(server, info, refusal):
    with FakeAgent(server.debugger_address, FakeSource(replace(INFO, **info))) as agent:
        assert refusal in agent.refusal
    assert httpx.get(f"{server.url}/api/jobs").json() == {"jobs": []}


def test_a_stream_has_to_begin_with_a_hello_of_this_version(server):
    with FakeAgent(server.debugger_address, attach=False) as agent:
        agent.first.hello.protocol_version = 99
        agent.attach()
        assert f"version 99 of the protocol, this server version {PROTOCOL_VERSION}" in agent.refusal
        agent.first = pb.AgentMessage(report=pb.Report(state=pb.Report.PAUSED))
        agent.attach()
        assert agent.refusal == "the first message of a stream has to be the hello"


def test_what_is_no_grpc_harms_nothing(server, agent, job):
    host, port = server.debugger_address.split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n" * 100)
        connection.recv(100)
    job.run()
    assert job.wait(60) == "paused"


def test_the_grpc_port_wants_the_token_too(tmp_path):
    with ServerThread(tmp_path, token="secret") as server:
        for token in (None, "wrong"):
            with FakeAgent(server.debugger_address, token=token) as agent:
                assert agent.refusal == "a token is needed: set STEPSCOPE_TOKEN"
        with FakeAgent(server.debugger_address, token="secret") as agent:
            assert agent.refusal == ""
