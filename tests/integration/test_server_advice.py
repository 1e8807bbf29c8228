"""The tuning guide of a tensor and the origin of its fault, over the web API, against trainings that are known."""

from __future__ import annotations

import numpy as np
import pytest

import stepscope
from stepscope.core.errors import BadRequest, UnknownNode
from stepscope.testing.agent import FakeAgent
from stepscope.testing.network import BACKWARD, FORWARD, OPTIMIZER
from stepscope.testing.source import FakeSource
from stepscope.testing.zoo import CHAIN, CHAIN_END, LOG, NETWORK, PLANTED, Zoo

LOSS = f"{FORWARD}/loss/SquaredError-op0"


def connected(server, source: FakeSource):
    """The agent, and the job that it makes, after its second step."""
    agent = FakeAgent(server.debugger_address, source)
    job = stepscope.connect(server.url).wait_for_job(60)
    step(job, 2)
    return agent, job


def step(job, count: int = 1) -> None:
    job.run(count)
    assert job.wait(30) == "paused"


@pytest.fixture
def broken(server):
    """A training whose data have a NaN in step 3, after that step."""
    agent, job = connected(server, FakeSource(nan_at=3))
    with agent:
        job.watch("tensor_overflow")
        step(job)
        assert (job.step, job.reason) == (3, "watchpoint")
        yield job


@pytest.fixture
def zoo(server):
    agent, job = connected(server, FakeSource(network=Zoo()))
    with agent:
        yield job


def names(origin) -> list[str]:
    return [each.node.rpartition("/")[2] for each in origin.path]


def test_the_way_of_a_fault(broken):
    origin = broken.origin(LOSS)
    assert (origin.found, origin.reason) == (True, "")
    assert names(origin) == ["x", "MatMul-op0", "BiasAdd-op0", "ReLU-op0", "MatMul-op1", "SquaredError-op0"]
    assert {each.why for each in origin.path} == {"nan"}
    assert {each.watchpoints for each in origin.path} == {(1,)}
    assert {each.step for each in origin.path} == {3}
    last = origin.path[-1]
    assert (last.graph, last.slot, last.op) == ("graph_0", 0, "SquaredError")
    assert (last.source.file, last.source.line) == ("/home/me/train.py", 17)
    assert origin == broken.origin(broken.node(LOSS), watchpoint=1)


def test_the_way_leads_into_the_step_before(broken):
    """In step 4 all is bad, since the weights are; they became so in step 3, from its data."""
    step(broken)
    origin = broken.origin(LOSS)
    assert names(origin)[0] == "x"
    assert [each.step for each in origin.path] == sorted(each.step for each in origin.path)
    assert (origin.path[0].step, origin.path[-1].step) == (3, 4)
    assert "out.weight" in names(origin)
    step(broken)
    origin = broken.origin(LOSS)
    assert origin.found
    assert (origin.path[0].op, origin.path[0].step) == ("Parameter", 4), "the values of step 3 are gone"


def test_an_input_and_an_output_that_only_stands_for_a_parameter(broken):
    before = broken.origin(f"{FORWARD}/hidden-Dense/MatMul-op0", input=1)
    assert (before.found, before.reason) == (False, "no_fault"), "what was read before the update"
    after = broken.origin(f"{OPTIMIZER}/ApplyMomentum-op0")
    assert names(after)[0] == "x"
    assert names(after)[-2:] == ["MatMul-op4", "ApplyMomentum-op0"]


def test_what_is_wrong_in_a_request(broken):
    with pytest.raises(UnknownNode):
        broken.origin("nothing")
    with pytest.raises(BadRequest):
        broken.guide(LOSS, slot=7)


def test_the_guide_of_a_hit(broken):
    guide = broken.guide(f"{FORWARD}/hidden-Dense/MatMul-op0")
    assert guide.step == 3
    (hit,) = guide.hits
    assert (hit.condition, hit.node) == ("tensor_overflow", f"{FORWARD}/hidden-Dense/MatMul-op0")
    first, second = guide.facts
    assert (first.kind, first.level, first.position) == ("nonfinite_first", "bad", (0, 0))
    values = broken.tensor(f"{FORWARD}/hidden-Dense/MatMul-op0")
    count = np.count_nonzero(np.isnan(values))
    assert first.numbers == {
        "count": count,
        "total": values.size,
        "nan": count,
        "positive_inf": 0,
        "negative_inf": 0,
    }
    assert (second.kind, second.level) == ("input_nonfinite", "bad")
    assert second.numbers == {"input": 0, "count": 1, "total": 32}
    assert [tuple(link) for link in second.links] == [("graph_0", "x", 0)]


def test_the_guide_of_an_input_has_the_hits_of_what_it_reads(broken):
    guide = broken.guide(LOSS, input=0)
    assert {hit.node for hit in guide.hits} == {f"{FORWARD}/out-Dense/MatMul-op1"}
    assert guide.facts[0].kind == "nonfinite_first"


def test_a_healthy_training_has_no_bad_facts(job):
    step(job, 2)
    for name in job.nodes():
        for slot in range(len(job.node(name).outputs)):
            guide = job.guide(name, slot)
            assert guide.hits == []
            assert [fact for fact in guide.facts if fact.level == "bad"] == [], name
            assert job.origin(name, slot).reason == "no_fault"


def test_an_ended_training_has_its_hits_but_no_values(broken):
    broken.terminate()
    broken.wait(30)
    guide = broken.guide(LOSS)
    assert [hit.condition for hit in guide.hits] == ["tensor_overflow"]
    assert guide.facts == []
    assert broken.origin(LOSS).reason == "no_values"


def test_a_weight_that_does_not_change_is_its_own_answer(job):
    step(job, 2)
    job.watch("weight_not_changed", nodes="out.weight", rtol=1e9)
    (hit,) = job.recheck()
    origin = job.origin(hit.node, watchpoint=hit.watchpoint)
    assert (origin.found, origin.reason, names(origin)) == (True, "compares", ["out.weight"])


# ---------------------------------------------------------------- a training with everything


def test_a_chain_of_fifty_nodes(zoo):
    """No watchpoint is needed: the last one has a NaN, or an infinity."""
    origin = zoo.origin(CHAIN_END)
    assert origin.found
    assert origin.path[0].node == PLANTED
    assert origin.path[-1].node == CHAIN_END
    assert len(origin.path) == CHAIN - CHAIN // 2
    assert (origin.path[0].op, origin.path[0].why) == ("Log", "inf")


def test_zeros_that_went_into_a_logarithm(zoo):
    kinds = {fact.kind: fact for fact in zoo.guide(LOG).facts}
    assert kinds["input_zeros"].text == "Log"
    stats = zoo.stats(LOG, input=0)
    assert kinds["input_zeros"].numbers == {"input": 0, "zero": stats.zero_count, "total": stats.count}
    assert zoo.origin(f"{NETWORK}/loss/ReduceMean-op0").path[0].node == LOG


def test_gradients_that_vanish(zoo):
    gradient = next(name for name in zoo.nodes(category="gradient") if "/2-Dense/MatMul" in name)
    fact = next(fact for fact in zoo.guide(gradient).facts if fact.kind == "gradient_trend")
    norms = []
    for link in fact.links:
        values = zoo.tensor(link.node, link.slot)
        norms.append(np.sqrt(np.mean(values.astype(np.float64) ** 2)))
    assert norms == sorted(norms, reverse=True)
    assert fact.numbers["layers"] == len(norms) >= 3
    assert fact.numbers["ratio_exponent"] == pytest.approx(np.log10(norms[-1] / norms[0]), rel=1e-6)


def test_any_tensor_has_a_guide(zoo):
    """Of any type and shape, with words in it, or nothing at all."""
    for name in zoo.nodes():
        zoo.guide(name)
        zoo.origin(name)
    holes = zoo.guide("holes").facts[0]
    values = zoo.tensor("holes")
    assert holes.position == tuple(np.argwhere(~np.isfinite(values))[0])
    assert zoo.guide("words").facts == []


def test_a_gradient_of_the_small_network(broken):
    assert broken.guide(f"{BACKWARD}/hidden-Dense/MatMul-op4").facts[0].kind == "nonfinite_first"
