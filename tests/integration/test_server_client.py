"""The Python client, as the contract describes it, against a training whose values are known."""

from __future__ import annotations

import socket
import threading

import numpy as np
import pytest

import stepscope
from stepscope.core.looks import HeatmapQuestion, HistogramQuestion
from stepscope.core.ports import TensorKey
from stepscope.core.tensors import compare, look, stats
from stepscope.testing.agent import FakeAgent
from stepscope.testing.network import BACKWARD, FOLDED, FORWARD, NODES, OPTIMIZER, Network
from stepscope.testing.server import ServerThread
from stepscope.testing.source import FakeSource

LOSS = f"{FORWARD}/loss/SquaredError-op0"
RELU = f"{FORWARD}/relu-ReLU/ReLU-op0"
MATMUL = f"{FORWARD}/hidden-Dense/MatMul-op0"


@pytest.fixture
def truth():
    """The same training, run here."""
    return Network()


def step(job, count: int = 1) -> None:
    job.run(count)
    assert job.wait(30) == "paused"


def test_a_job_tells_what_it_is(job):
    assert (job.state, job.step, job.reason, job.cursor) == ("paused", 0, "start", None)
    assert (job.framework, job.version, job.device, job.rank) == ("mindspore", "2.10.0", "CPU", 0)
    assert (job.graphs, job.title, job.id) == (["graph_0"], "train.py", "fake-1")
    assert job.info["command_line"] == ["python", "/home/me/train.py", "--epochs", "3"]


def test_steps(job, truth):
    step(job)
    assert (job.step, job.reason) == (1, "step")
    step(job, 4)
    assert job.step == 5
    for _ in range(5):
        truth.run_step()
    assert job.info["loss"] == pytest.approx(truth.loss)


def test_every_tensor_is_the_true_one(job, truth):
    step(job, 3)
    for _ in range(3):
        truth.run_step()
    for name in job.nodes(pattern=None) + list(FOLDED):
        for slot in range(len(job.node(name).outputs)):
            expected = truth.tensor(TensorKey("graph_0", name, slot))
            found = job.tensor(name, slot)
            assert np.array_equal(found, expected.array), name
            assert found.dtype == expected.array.dtype
    weight = truth.tensor(TensorKey("graph_0", "hidden.weight", when="previous"))
    assert np.array_equal(job.tensor("hidden.weight", when="previous"), weight.array)
    # What the op read is what the weight was before the optimizer changed it.
    assert np.array_equal(job.tensor(MATMUL, input=1), weight.array)


def test_a_part_of_a_tensor(job):
    step(job)
    whole = job.tensor(MATMUL)
    assert np.array_equal(job.tensor(MATMUL, index="2:6:2, -1"), whole[2:6:2, -1])
    assert job.tensor(MATMUL, index="0, 0").shape == ()
    assert job.tensor(MATMUL, index="3:3").shape == (0, 3)
    with pytest.raises(ValueError, match="dimension 0"):
        job.tensor(MATMUL, index="99, 0")
    whole[0, 0] = 1  # the array is the caller's own


def test_figures(job, truth):
    step(job, 2)
    for _ in range(2):
        truth.run_step()
    now = truth.tensor(TensorKey("graph_0", "out.weight"))
    before = truth.tensor(TensorKey("graph_0", "out.weight", when="previous"))
    assert job.stats("out.weight") == stats(now.array, step=2)
    assert job.stats("out.weight", when="previous") == stats(before.array, step=1)
    assert job.compare("out.weight") == compare(now.array, before.array, step=2, previous_step=1)


def test_not_a_number_gets_through(server, debugger):
    with FakeAgent(server.debugger_address, FakeSource(nan_at=1)):
        job = debugger.wait_for_job(60)
        step(job)
        figures = job.stats(MATMUL)
        assert figures.nan_count == 3
        whole = job.stats(f"{BACKWARD}/hidden-Dense/BiasAddGrad-op0")
        assert job.info["loss"] == "nan"
        assert whole.nan_count == whole.count
        assert np.isnan([whole.min, whole.max, whole.mean, whole.abs_mean, whole.std]).all()
        assert np.isnan(job.tensor(LOSS))


def test_nodes(job):
    assert job.nodes(category="weight") == ["hidden.weight", "hidden.bias", "out.weight"]
    assert job.nodes(category="activation") == [RELU]
    assert set(job.nodes(scope=OPTIMIZER, pattern="Momentum-op")) == {
        f"{OPTIMIZER}/ApplyMomentum-op{number}" for number in range(3)
    }
    assert job.nodes("*/MatMul-op[01]", graph="graph_0") == [MATMUL, f"{FORWARD}/out-Dense/MatMul-op1"]
    assert job.nodes(line="train.py:12") == [MATMUL]
    (found,) = job.nodes("relu-op", category="activation")
    assert (found.graph, found.op, found.kind, found.categories) == ("graph_0", "ReLU", "op", ("activation",))
    assert job.node(found).name == found
    with pytest.raises(ValueError, match="weight"):
        job.nodes(category="heavy")
    with pytest.raises(stepscope.UnknownNode, match="no graph 'other'"):
        job.nodes(graph="other")


def test_a_node(job):
    node = job.node(LOSS)
    assert (node.graph, node.op, node.kind, node.scope) == ("graph_0", "SquaredError", "op", f"{FORWARD}/loss")
    assert [(port.node, port.slot, port.type.shape) for port in node.inputs] == [
        (f"{FORWARD}/out-Dense/MatMul-op1", 0, (8, 2)),
        ("y", 0, (8, 2)),
    ]
    assert [output.type.shape for output in node.outputs] == [(), (8, 2)]
    assert (f"{BACKWARD}/out-Dense/MatMul-op2", 0) in node.outputs[1].consumers
    assert node.attributes == {"inputs": 2}
    assert (node.source[0].file, node.source[0].line, node.source[0].user) == ("/home/me/train.py", 17, True)


def test_graph_views(job):
    view = job.scope("Default/network")
    assert [child.name for child in view.children] == ["hidden-Dense", "relu-ReLU", "out-Dense", "loss"]
    assert job.search("relu").total == 2
    assert [node.name for node in job.search("relu", category="activation").nodes] == [RELU]
    lineage = job.lineage(RELU, hops=2)
    assert {node.name for node in lineage.nodes if node.distance == -2} == {MATMUL, "hidden.bias"}
    with pytest.raises(stepscope.UnknownNode) as error:
        job.scope("Default/netwrk")
    assert "Default/network" in error.value.nearest


def test_execution_and_the_cursor(job):
    step(job)
    order = job.execution(0, 4)
    assert order.total == len(NODES) - len(FOLDED)
    assert [node.node for node in order.nodes][:2] == [MATMUL, f"{FORWARD}/hidden-Dense/BiasAdd-op0"]
    assert [node.node for node in job.execution(order.total - 1, 10).nodes] == [f"{OPTIMIZER}/ApplyMomentum-op2"]
    job.next_node()
    assert (job.wait(60), job.step, job.reason, job.cursor.node) == ("paused", 2, "node", MATMUL)
    job.run_to(RELU)
    assert job.wait(60) == "paused"
    assert (job.step, job.cursor.node, job.cursor.position, job.cursor.count) == (2, RELU, 3, order.total)
    job.previous_node()
    assert job.wait(60) == "paused"
    assert job.cursor.node == f"{FORWARD}/hidden-Dense/BiasAdd-op0"
    job.run_to(job.node(MATMUL))  # it lies behind: the next step comes to it
    assert job.wait(60) == "paused"
    assert (job.step, job.cursor.node) == (3, MATMUL)


def test_resume_and_pause(job):
    job.resume()
    assert job.state == "running"
    job.pause()
    assert job.wait(60) == "paused"
    assert job.reason in ("pause", "step")
    job.pause()
    assert job.state == "paused"


def test_terminate(job):
    job.terminate()
    assert job.wait(60) == "finished"
    assert job.info["exit"] == {"outcome": "terminated", "detail": "", "exit_status": 0}
    with pytest.raises(stepscope.Conflict, match="run is not possible: the job is finished"):
        job.run()
    with pytest.raises(stepscope.NotAvailable, match="the tensors are gone"):
        job.tensor("hidden.weight")
    assert job.node(RELU).op == "ReLU"  # the graph stays for review


def test_a_training_that_ends_by_itself(server, debugger):
    with FakeAgent(server.debugger_address, FakeSource(steps=3)):
        job = debugger.wait_for_job(60)
        job.resume()
        assert job.wait(60) == "finished"
        assert job.info["exit"]["outcome"] == "finished"


def test_errors_name_what_is_near(job):
    with pytest.raises(stepscope.UnknownNode) as error:
        job.tensor("hiden.weight")
    assert "hidden.weight" in error.value.nearest
    with pytest.raises(stepscope.UnknownNode, match="no node"):
        job.run_to("nothing like it")
    with pytest.raises(stepscope.BadRequest, match=r"needs a node that runs: .* is of kind parameter"):
        job.run_to("hidden.weight")
    with pytest.raises(stepscope.BadRequest, match="is folded away"):
        job.run_to(FOLDED[0])
    with pytest.raises(ValueError, match=r"no output slot 2; it has: 0, 1"):
        job.tensor(LOSS, slot=2)
    with pytest.raises(ValueError, match=r"no input 7; it has: 0, 1"):
        job.stats(LOSS, input=7)
    with pytest.raises(stepscope.NotAvailable, match="no value in step 0"):
        job.tensor(LOSS)
    with pytest.raises(ValueError, match="steps"):
        job.run(0)


def test_commands_need_a_pause(agent, job):
    agent.source.step_seconds = 60
    job.resume()
    for command in (job.run, job.resume, job.next_node, job.previous_node, lambda: job.run_to(RELU), job.recheck):
        with pytest.raises(stepscope.Conflict, match="while the job is paused only: it is running"):
            command()
    assert job.state == "running"


def test_waiting_has_a_timeout(server, debugger):
    with pytest.raises(stepscope.Timeout, match="no training connected within"):
        debugger.wait_for_job(0.05)
    with FakeAgent(server.debugger_address, FakeSource(step_seconds=60)):
        job = debugger.wait_for_job(60)
        job.run()
        with pytest.raises(stepscope.Timeout, match="the job still runs"):
            job.wait(0.05)


def test_wait_returns_as_soon_as_it_is_paused(job):
    job.resume()
    states = []
    waiting = threading.Thread(target=lambda: states.append(job.wait(30)))
    waiting.start()
    job.pause()
    waiting.join(10)
    assert states == ["paused"]


def test_jobs(server, debugger, job):
    assert [each.id for each in debugger.jobs()] == ["fake-1"]
    assert debugger.job("fake-1").title == "train.py"
    with pytest.raises(stepscope.UnknownJob, match="no job 'other'"):
        debugger.job("other")


def test_connecting_to_what_is_not_there():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(stepscope.ConnectionFailed, match=f"can't reach a stepscope server at http://127.0.0.1:{port}"):
        stepscope.connect(f"http://127.0.0.1:{port}")
    with pytest.raises(stepscope.ConnectionFailed, match="is not the address of a server"):
        stepscope.connect("ftp://x")


def test_connecting_needs_the_token(tmp_path):
    with ServerThread(tmp_path, token="secret") as server:
        with pytest.raises(stepscope.ConnectionFailed, match="does not let us in: a token is needed"):
            stepscope.connect(server.url)
        for url, token in ((server.url, "secret"), (server.address.url, None)):
            with stepscope.connect(url, token) as debugger:
                assert debugger.jobs() == []


def test_pictures_of_a_tensor(job, truth):
    step(job, 2)
    truth.run_step()
    truth.run_step()

    def value(when):
        return truth.tensor(TensorKey("graph_0", "hidden.weight", when=when))

    for of in ("current", "previous", "difference"):
        assert job.histogram("hidden.weight", of=of, index="1:", bins=4) == look(HistogramQuestion(of, "1:", 4), value)
        found = job.heatmap("hidden.weight", of=of, rows=2, columns=3, reduce="max")
        np.testing.assert_equal(vars(found), vars(look(HeatmapQuestion(2, 3, "max", of), value)))
    read = job.histogram(MATMUL, input=1, bins=3)
    assert sum(read.counts) == read.count == 12
    with pytest.raises(stepscope.BadRequest, match="dimension 0") as refused:
        job.heatmap("hidden.weight", index="9")
    assert refused.value.field == "index"
