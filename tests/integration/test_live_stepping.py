"""A training that stands still within a step, seen by the Python client and the web API."""

from __future__ import annotations

import httpx
import numpy as np
import pytest

import stepscope
from stepscope.core.errors import BadRequest, NotAvailable
from stepscope.core.ports import Cursor
from stepscope.server.web import nodes
from stepscope.testing.agent import FakeAgent
from stepscope.testing.live_source import COUNT, FakeLiveSource
from stepscope.testing.network import FORWARD, OPTIMIZER

LOSS = f"{FORWARD}/loss/SquaredError-op0"
UPDATE = f"{OPTIMIZER}/ApplyMomentum-op0"


@pytest.fixture
def live(server):
    with FakeAgent(server.debugger_address, FakeLiveSource()), stepscope.connect(server.url) as debugger:
        yield debugger.wait_for_job(60)


def done(job) -> None:
    assert job.wait(60) == "paused"


def test_before_and_after_a_node(live):
    live.run_to(UPDATE, before=True)
    done(live)
    cursor = live.cursor
    assert (cursor.node, cursor.moment, cursor.count, live.step) == (UPDATE, "before", COUNT, 1)
    old = live.tensor("hidden.weight")
    with pytest.raises(NotAvailable):
        live.tensor(UPDATE)
    live.next_node()
    done(live)
    assert live.cursor == Cursor("graph_0", UPDATE, cursor.position, COUNT, "after")
    assert not np.array_equal(live.tensor("hidden.weight"), old)
    live.next_node(before=True)
    done(live)
    assert (live.cursor.position, live.cursor.moment) == (cursor.position + 1, "before")


def test_the_stack_with_its_local_variables(live):
    live.run_to(LOSS)
    done(live)
    frames = live.frames()
    assert [frame.user for frame in frames] == [True, False, True]
    assert {one.name: (one.type, one.shape) for one in frames[0].locals} == {
        "self": ("Network", None),
        "x": ("Tensor", (8, 4)),
    }
    assert frames[2].locals[0].text == "1"


def test_the_step_that_attributes_are_of(live):
    live.run(2)
    done(live)
    node = live.node(UPDATE)
    assert (node.attributes_step, node.attributes["rate"]) == (2, 0.25)
    live.run_to(LOSS)
    done(live)
    assert (live.step, live.node(LOSS).attributes_step) == (3, 3)
    assert live.node(UPDATE).attributes_step == 2  # it has not run yet
    live.resume()
    node = live.node(UPDATE)
    assert (node.attributes_step, set(node.attributes)) == (None, {"inputs"})


def test_only_what_stands_still_and_may_have_other_attributes_is_asked_for_them(server, debugger):
    with FakeAgent(server.debugger_address, FakeLiveSource()) as agent:
        live = debugger.wait_for_job(60)
        assert live.node("hidden.weight").attributes_step is None
        assert agent.asked == []
        assert live.node(LOSS).attributes_step == 0
        assert agent.asked == ["attributes"]
        live.terminate()
        live.wait(60)
        assert live.node(LOSS).attributes_step is None


def test_of_a_recorded_job_they_are_constants(agent, job):
    assert (job.node(LOSS).attributes_step, job.node(LOSS).attributes) == (None, {"inputs": 2})
    assert agent.asked == []


def test_a_node_is_shown_where_the_training_does_not_answer(server, debugger, monkeypatch):
    monkeypatch.setattr(nodes, "ATTRIBUTES_SECONDS", 0.2)
    with FakeAgent(server.debugger_address, FakeLiveSource()) as agent:
        live = debugger.wait_for_job(60)
        agent.silent = True
        node = live.node(LOSS)
        assert agent.asked == ["attributes"]
        assert (node.attributes_step, node.attributes) == (None, {"inputs": 2})


def test_a_recorded_job_stands_in_no_stack_and_before_no_node(job):
    with pytest.raises(NotAvailable, match="recorded"):
        job.frames()
    for command in (lambda: job.run_to(LOSS, before=True), lambda: job.next_node(before=True)):
        with pytest.raises(BadRequest, match="after a node, not before"):
            command()
    assert job.state == "paused"


def test_the_web_api_says_which_moment_it_is(live, server):
    live.run_to(LOSS, before=True)
    done(live)
    view = httpx.get(f"{server.url}/api/jobs/{live.id}").json()
    assert (view["cursor"]["moment"], view["stepping"]) == ("before", "live")
