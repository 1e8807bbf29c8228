"""Watchpoints from the Python client, on a training that is checked for real: created, hit, changed, kept."""

from __future__ import annotations

from dataclasses import replace

import httpx
import numpy as np
import pytest
from trainings import until

import stepscope
from stepscope.client import Watchpoint
from stepscope.core.ports import Farewell, TensorKey
from stepscope.testing.agent import FakeAgent
from stepscope.testing.network import BACKWARD, FORWARD, Network
from stepscope.testing.server import ServerThread
from stepscope.testing.source import INFO, FakeSource

RELU = f"{FORWARD}/relu-ReLU/ReLU-op0"
MATMUL = f"{FORWARD}/hidden-Dense/MatMul-op0"
ALWAYS = {"max_gt": -1e30}


def run(job, steps: int = 1) -> None:
    job.run(steps)
    assert job.wait(30) == "paused"


def places(hits) -> list[tuple[str, int]]:
    return [(hit.node, hit.watchpoint) for hit in hits]


@pytest.fixture
def truth():
    """The same training, run here."""
    return Network()


def test_a_hit_stops_the_training_and_says_what_it_found(job, truth):
    wp = job.watch("tensor_too_large", [RELU, MATMUL], max_gt=-1e30, name="any")
    run(job, 5)
    truth.run_step()
    assert (job.step, job.reason) == (1, "watchpoint")
    hits = job.hits()
    assert places(hits) == [(MATMUL, 1), (RELU, 1)]
    found = truth.tensor(TensorKey("graph_0", RELU)).array
    hit = hits[1]
    assert (hit.step, hit.graph, hit.slot, hit.rank, hit.error) == (1, "graph_0", 0, 0, frozenset())
    assert (hit.watchpoint_name, hit.condition) == ("any", "tensor_too_large")
    (check,) = hit.params
    assert (check.name, check.value, check.hit) == ("max_gt", -1e30, True)
    assert check.actual == pytest.approx(float(found.max()))
    assert hits[0].position < hit.position
    assert (wp.hits, job.watchpoints()[0].hits) == (0, 2)  # as it was when it was made; as it is


def test_no_hit_no_stop(job):
    job.watch("tensor_too_large", max_gt=1e30)
    run(job, 3)
    assert (job.step, job.reason, job.hits()) == (3, "step", [])


def test_what_it_covers_without_a_choice(job):
    assert job.watch("weight_too_large", max_gt=1).watched == 3
    assert job.watch("activation_range", max_min_gt=0).watched == 1
    assert job.watch("gradient_exploding").watched == 5
    assert job.watch("tensor_overflow").watched == 21


def test_choices(job):
    node = job.node(RELU)
    assert job.watch("tensor_overflow", RELU).watched == 1
    assert job.watch("tensor_overflow", node).watched == 1
    assert job.watch("tensor_overflow", job.nodes(category="weight")).watched == 3
    assert job.watch("tensor_overflow", scope=BACKWARD).watched == 5
    assert job.watch("tensor_overflow", "x", scope=[BACKWARD, f"{FORWARD}/relu-ReLU"]).watched == 7
    assert job.watch("tensor_overflow", RELU, graph="graph_0").watched == 1


def test_nodes_of_two_graphs_are_told_apart(agent, job):
    agent.send_graph("graph_1", agent.source.graph()[1])
    until(lambda: job.graphs == ["graph_0", "graph_1"])
    assert job.watch("tensor_overflow", RELU).watched == 2
    (of_second,) = job.nodes("relu-op", category="activation", graph="graph_1")
    assert job.watch("tensor_overflow", of_second).watched == 1
    assert job.watch("tensor_overflow", RELU, graph="graph_1").watched == 1
    assert job.watch("tensor_overflow").watched == 42


def test_change_disable_duplicate_delete(job):
    wp = job.watch("tensor_too_large", RELU, **ALWAYS)
    run(job)
    assert len(job.hits()) == 1
    wp.update(max_gt=1e30, name="high")
    assert (wp.parameters, wp.name) == ({"max_gt": 1e30}, "high")
    run(job)
    assert (job.reason, job.hits()) == ("step", [])
    wp.update(min_gt=-1e30)  # either of them hits
    assert wp.parameters == {"max_gt": 1e30, "min_gt": -1e30}
    run(job)
    (hit,) = job.hits()
    assert [(check.name, check.hit) for check in hit.params] == [("max_gt", False), ("min_gt", True)]
    other = wp.duplicate()
    assert (other.id, other.name, other.parameters, other.watched) == (2, "high (2)", wp.parameters, 1)
    wp.disable()
    assert not wp.enabled
    run(job)
    assert places(job.hits()) == [(RELU, 2)]
    other.delete()
    run(job)
    assert job.reason == "step"
    wp.enable()
    wp.update(max_gt=None)
    assert wp.parameters == {"min_gt": -1e30}
    run(job)
    assert places(job.hits()) == [(RELU, 1)]
    wp.update("tensor_overflow")
    assert (wp.condition, wp.parameters) == ("tensor_overflow", {})
    with pytest.raises(stepscope.NotAvailable, match="no watchpoint 2"):
        other.update(name="gone")
    assert "tensor_overflow on 1 nodes" in repr(wp)


def test_ticks(job):
    wp = job.watch("tensor_too_large", RELU, **ALWAYS)
    wp.tick([MATMUL])
    wp.untick(RELU)
    run(job)
    assert places(job.hits()) == [(MATMUL, 1)]
    wp.tick(scope=BACKWARD)
    wp.untick(MATMUL)
    assert wp.watched == 5
    wp.tick(scope=f"{BACKWARD}/hidden-Dense", on=False)
    assert wp.watched == 3
    run(job)
    assert {hit.node.rpartition("/")[0] for hit in job.hits()} == {
        f"{BACKWARD}/out-Dense",
        f"{BACKWARD}/relu-ReLU",
    }


def test_recheck(server, job):
    wp = job.watch("tensor_too_large", RELU, max_gt=1e30)
    run(job, 2)
    assert job.hits() == []
    wp.update(max_gt=-1e30)

    def outdated() -> bool:
        return httpx.get(f"{server.url}/api/jobs/fake-1/hits").json()["outdated"]

    assert outdated()
    assert places(job.recheck()) == [(RELU, 1)]
    assert (job.state, job.step, outdated()) == ("paused", 2, False)
    wp.update(name="another")
    assert not outdated()
    wp.delete()
    assert outdated()
    assert job.recheck() == []
    run(job)
    assert (job.step, job.state) == (3, "paused")


def test_before_the_first_step_only_initial_weights_are_checked(job):
    job.watch("tensor_too_large", **ALWAYS)
    job.watch("weight_initialization", zero_percentage_ge=0)
    assert {(hit.watchpoint, hit.step, hit.position) for hit in job.recheck()} == {(2, 0, 0)}
    assert {hit.node for hit in job.hits()} == {"hidden.weight", "hidden.bias", "out.weight"}
    assert (job.state, job.step) == ("paused", 0)
    run(job)
    run(job)
    assert {hit.watchpoint for hit in job.hits()} == {1}


def test_what_can_not_be_evaluated_is_told_apart(server, debugger):
    with FakeAgent(server.debugger_address, FakeSource(nan_at=2)):
        job = debugger.wait_for_job(60)
        job.watch("tensor_too_large", MATMUL, max_gt=1e30)
        job.watch("weight_change_too_large", RELU, abs_mean_update_ratio_gt=1e30)
        job.watch("tensor_overflow", MATMUL)
        run(job)
        assert job.reason == "step"  # only a previous value is missing
        assert [(hit.watchpoint, hit.error) for hit in job.hits()] == [(2, {"no_previous"})]
        run(job)
        assert (job.step, job.reason) == (2, "watchpoint")
        assert {hit.watchpoint: hit.error for hit in job.hits(kind="error")} == {1: {"nan"}, 2: {"nan"}}
        assert places(job.hits(kind="hit")) == [(MATMUL, 3)]
        (error,) = job.hits(watchpoint=1)
        assert [check.actual for check in error.params] == [None]
        assert places(job.hits(node=MATMUL)) == [(MATMUL, 1), (MATMUL, 3)]
        assert [hit.watchpoint for hit in job.hits(step=1)] == [2]


def test_the_recommended_set_finds_the_first_node(server, debugger):
    with FakeAgent(server.debugger_address, FakeSource(nan_at=3)):
        job = debugger.wait_for_job(60)
        offered = job.use_recommended()
        conditions = [wp.condition for wp in offered]
        assert {"tensor_overflow", "weight_not_changed", "weight_initialization", "gradient_vanishing"} <= set(
            conditions
        )
        assert all(wp.recommended and wp.watched for wp in offered)
        offered[0].delete()
        assert [wp.id for wp in job.use_recommended()] == [*range(2, len(offered) + 1), len(offered) + 1]
        while job.state == "paused" and not any(hit.condition == "tensor_overflow" for hit in job.hits(kind="hit")):
            run(job)
        assert job.step == 3
        first = next(hit for hit in job.hits(kind="hit") if hit.condition == "tensor_overflow")
        assert (first.node, first.position) == ("x", 0)


def test_declining_adds_nothing(server, job):
    assert job.use_recommended(False) == []
    found = httpx.get(f"{server.url}/api/jobs/fake-1/watchpoints").json()
    assert (found["recommended"], found["watchpoints"]) == ("declined", [])
    assert job.use_recommended()
    assert httpx.get(f"{server.url}/api/jobs/fake-1/watchpoints").json()["recommended"] == "accepted"


def test_recommended_after_the_first_step(job):
    run(job)
    assert "weight_initialization" not in [wp.condition for wp in job.use_recommended()]


def test_before_there_is_a_graph(server, debugger):
    with FakeAgent(server.debugger_address, attach=False) as agent:
        agent.source.graph = lambda: ("broken", b"\xff")
        agent.attach()
        job = debugger.wait_for_job(60)
        with pytest.raises(stepscope.Conflict, match="no graph"):
            job.use_recommended()
        wp = job.watch("weight_too_large", max_gt=1)
        assert (wp.watched, wp.warnings) == (0, [])
        agent.send_graph(*FakeSource().graph())
        until(lambda: job.graphs)
        assert job.watchpoints()[0].watched == 3


def test_an_earlier_run_of_the_script_offers_its_watchpoints(server, debugger):
    def offered(job):
        return httpx.get(f"{server.url}/api/jobs/{job.id}/watchpoints").json()["earlier"]

    for name, info in (
        ("first", {}),
        ("none", {}),
        ("elsewhere", {"working_directory": "/home/you", "command_line": ("python", "train.py")}),
        ("other", {"command_line": ("python", "other.py")}),
    ):
        with FakeAgent(server.debugger_address, FakeSource(replace(INFO, job_id=name, **info))) as agent:
            job = debugger.wait_for_job(60)
            if name != "none":
                job.watch("tensor_too_large", RELU, max_gt=2, name=name)
                job.watch("tensor_overflow", enabled=False)
            agent.finish(Farewell("finished", exit_status=0))
            job.wait(60)
    again = replace(INFO, job_id="again", command_line=("python3", "train.py", "--epochs", "9"))
    with FakeAgent(server.debugger_address, FakeSource(again)):
        job = debugger.wait_for_job(60)
        found = offered(job)
        assert {name: found[name] for name in ("job_id", "title", "count")} == {
            "job_id": "first",
            "title": "train.py",
            "count": 2,
        }
        assert found["ended_at"] == debugger.job("first").info["ended_at"]
        assert job.watchpoints() == []
        taken = job.use_earlier()
        assert [(wp.id, wp.name, wp.condition, wp.watched, wp.enabled) for wp in taken] == [
            (1, "first", "tensor_too_large", 1, True),
            (2, "", "tensor_overflow", 21, False),
        ]
        assert offered(job) is None
        with pytest.raises(stepscope.NotAvailable, match="earlier run"):
            job.use_earlier()
        run(job)
    assert len(debugger.job("first").watchpoints()) == 2


def content(watchpoints: list[Watchpoint]):
    return [(wp.id, wp.name, wp.condition, wp.parameters, wp.enabled, wp.watched, wp.hits) for wp in watchpoints]


def test_all_survives_a_restart_of_the_server(tmp_path):
    source = FakeSource()
    with ServerThread(tmp_path) as server, stepscope.connect(server.url) as debugger:
        ports = {"port": int(server.url.rpartition(":")[2]), "debugger_port": server.address.debugger_port}
        agent = FakeAgent(server.debugger_address, source)
        job = debugger.wait_for_job(60)
        job.watch("tensor_too_large", [RELU, MATMUL], **ALWAYS).untick(MATMUL)
        job.watch("weight_not_changed", name="frozen")
        job.watch("tensor_overflow").delete()
        job.use_recommended(False)
        run(job)
        before = httpx.get(f"{server.url}/api/jobs/fake-1/watchpoints").json()
        hits = httpx.get(f"{server.url}/api/jobs/fake-1/hits").json()
        assert hits["total"] == 1
    agent.die()
    with ServerThread(tmp_path, **ports) as server, stepscope.connect(server.url) as debugger:
        assert httpx.get(f"{server.url}/api/jobs/fake-1/watchpoints").json() == before
        assert httpx.get(f"{server.url}/api/jobs/fake-1/hits").json() == hits
        (job,) = debugger.jobs()
        assert (job.info["hits"], job.info["watchpoints"]) == (1, before["revision"])
        sent = source.watchpoints
        source.watchpoints = None
        agent.attach()
        assert until(lambda: source.watchpoints) == sent
        assert job.wait(60) == "paused"
        assert job.watch("tensor_overflow").id == 4
        run(job)
        assert (job.step, places(job.hits())) == (2, [(RELU, 1)])
    agent.close()


def test_a_training_that_reconnects_gets_what_changed_meanwhile(agent, job):
    wp = job.watch("tensor_too_large", RELU, max_gt=1e30)
    agent.die()
    until(lambda: job.state == "lost")
    wp.update(max_gt=-1e30)
    job.watch("tensor_overflow")
    agent.attach()
    until(lambda: len(agent.source.watchpoints.watchpoints) == 2)
    assert job.wait(60) == "paused"
    assert len(job.watchpoints()) == 2
    run(job)
    assert places(job.hits()) == [(RELU, 1)]


def test_a_server_that_knows_nothing_takes_the_watchpoints_back(tmp_path):
    source = FakeSource()
    with ServerThread(tmp_path / "one") as server, stepscope.connect(server.url) as debugger:
        debugger_port = server.address.debugger_port
        agent = FakeAgent(server.debugger_address, source)
        debugger.wait_for_job(60).watch("tensor_too_large", **ALWAYS)
        until(lambda: source.watchpoints.watchpoints)
    agent.die()
    with ServerThread(tmp_path / "two", debugger_port=debugger_port):
        agent.attach()
        until(lambda: not source.watchpoints.watchpoints)
    agent.close()


def test_bad_input_says_what_is_allowed(job):
    with pytest.raises(ValueError, match="there are operator_overflow, tensor_all_zero") as error:
        job.watch("tensor_heavy")
    assert isinstance(error.value, stepscope.BadRequest)
    assert (error.value.field, error.value.code) == ("condition", "unknown_condition")
    with pytest.raises(ValueError, match="takes abs_mean_gt, max_gt, min_gt, mean_gt") as error:
        job.watch("tensor_too_large", weight=1)
    assert (error.value.field, error.value.code) == ("weight", "unknown_parameter")
    with pytest.raises(ValueError, match="from 0 to 100 %"):
        job.watch("tensor_all_zero", zero_percentage_ge=120)
    with pytest.raises(ValueError, match="must be a number"):
        job.watch("tensor_too_large", max_gt=str(np.nan))
    with pytest.raises(ValueError, match="needs nodes"):
        job.watch("tensor_overflow", nodes=[])
    with pytest.raises(stepscope.UnknownNode) as error:
        job.watch("tensor_overflow", RELU[:-1])
    assert RELU in error.value.nearest
    wp = job.watch("tensor_too_large", max_gt=1)
    with pytest.raises(ValueError, match="no condition"):
        wp.update("tensor_heavy", name="bad")
    assert (wp.name, [each.condition for each in job.watchpoints()]) == ("", ["tensor_too_large"])
    (warned,) = job.watch("tensor_all_zero", zero_percentage_ge=0).warnings
    assert (warned.code, warned.field) == ("always_hits", "zero_percentage_ge")


def test_clearing(job):
    job.watch("tensor_overflow")
    job.watch("tensor_overflow")
    job.clear_watchpoints()
    assert job.watchpoints() == []


def test_conditions(debugger):
    conditions = {each["id"]: each for each in debugger.conditions()}
    assert len(conditions) == 17
    assert conditions["gradient_vanishing"]["abbreviation"] == "GV"
