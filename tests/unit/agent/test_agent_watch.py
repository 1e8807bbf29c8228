"""Watchpoints in the agent: taken from the server, checked on each step, told before the report of the pause."""

from __future__ import annotations

import numpy as np
import pytest
from fake_probe import ADD, GRAPH, command

from stepscope.core.watch.records import HitBatch, Rule, Selection, Watchpoint, WatchpointSet
from stepscope.protocol import convert
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.protocol.watchpoints import hits_from_proto, watchpoints_to_proto

ON_ADD = Selection("none", rules=(Rule(ADD, True),))


def hit_if(condition: str = "tensor_too_large", selection: Selection = ON_ADD, **parameters: float) -> Watchpoint:
    return Watchpoint(1, condition, parameters, selection)


def watch(stream, *watchpoints: Watchpoint, revision: int = 1) -> None:
    for chunk in watchpoints_to_proto(WatchpointSet(revision, watchpoints)):
        stream.send(pb.ServerMessage(watchpoints=chunk))


async def hits(stream) -> HitBatch:
    return hits_from_proto([(await stream.next("hits"))])


async def report(stream):
    return convert.report_from_proto(await stream.next("report"))


@pytest.fixture
async def training(attached):
    """Paused before the first step, with its graph."""
    probe, stream = attached
    await probe.graph()
    await stream.next("graph")
    probe.report(0, [])
    await report(stream)
    return probe, stream


def step_ended(probe, step: int) -> None:
    probe.record(step)
    probe.send("step", step=step, recorded=[step])


async def test_watchpoints_are_announced_to_the_training(training):
    probe, stream = training
    watch(stream, hit_if(max_gt=5))
    assert (await probe.next("watch"))["on"] is True
    watch(stream, revision=2)
    assert (await probe.next("watch"))["on"] is False


async def test_a_hit_stops_the_training_and_is_told_before_its_report(training):
    probe, stream = training
    watch(stream, hit_if(max_gt=4.5), revision=7)  # the largest value is 3 + the step
    await probe.next("watch")
    step_ended(probe, 1)
    assert (await probe.next("verdict"))["stop"] is False
    step_ended(probe, 2)
    assert (await probe.next("verdict"))["stop"] is True
    batch = await hits(stream)
    assert (batch.step, batch.revision) == (2, 7)
    (hit,) = batch.hits
    assert (hit.graph, hit.node, hit.slot, hit.watchpoint, hit.position) == (GRAPH, ADD, 0, 1, 1)
    (param,) = (each for each in hit.params if each.hit)
    assert (param.name, param.value, param.actual) == ("max_gt", 4.5, 5.0)
    probe.report(2, [2])
    assert (await report(stream)).step == 2


async def test_that_nothing_was_hit_is_told_at_the_pause_only(training):
    probe, stream = training
    watch(stream, hit_if(max_gt=100))
    await probe.next("watch")
    for step in (1, 2):
        step_ended(probe, step)
        assert (await probe.next("verdict"))["stop"] is False
    probe.report(2, [2])
    assert await hits(stream) == HitBatch(2, 1)
    await report(stream)


async def test_a_recheck_is_answered_by_the_agent_alone(training):
    probe, stream = training
    probe.record(1)
    probe.report(1, [1], sequence=3)
    await report(stream)
    watch(stream, hit_if(max_gt=0))
    await probe.next("watch")
    stream.send(command("recheck", sequence=4))
    assert [hit.node for hit in (await hits(stream)).hits] == [ADD]
    after = await report(stream)
    assert (after.step, after.command_sequence, after.reason) == (1, 4, "watchpoint")
    assert await probe.hears_nothing_for(0.1)


async def test_initial_weights_are_checked_when_the_first_step_is_asked_for(training):
    probe, stream = training
    probe.dump.parameters_before(0, {"w": np.zeros(4, np.float32)})
    of_weights = hit_if("weight_initialization", Selection("weight"), zero_percentage_ge=100)
    watch(stream, of_weights, hit_if(max_gt=0))
    await probe.next("watch")
    stream.send(command("run", sequence=5))
    batch = await hits(stream)
    assert [(hit.step, hit.node, hit.position) for hit in batch.hits] == [(0, "w", 0)]
    stays = await report(stream)
    assert (stays.step, stays.reason, stays.command_sequence) == (0, "watchpoint", 5)
    assert await probe.hears_nothing_for(0.1)
    stream.send(command("run", sequence=6))  # seen, and gone on from
    assert (await probe.next("command"))["kind"] == "run"


async def test_a_fault_of_ours_never_stops_the_training(training, monkeypatch):
    probe, stream = training
    watch(stream, hit_if(max_gt=0))
    await probe.next("watch")
    monkeypatch.setattr("stepscope.core.watch.step_check._turns", lambda *arguments: 1 / 0)
    step_ended(probe, 1)
    assert (await probe.next("verdict"))["stop"] is False
    probe.report(1, [1])
    batch = await hits(stream)
    assert batch.hits == ()
    assert "could not be checked" in batch.warning
    await report(stream)


async def test_hits_are_told_again_on_a_new_connection(training, server):
    probe, stream = training
    watch(stream, hit_if(max_gt=0), revision=3)
    await probe.next("watch")
    step_ended(probe, 1)
    await probe.next("verdict")
    told = await hits(stream)
    stream.end()
    again = await server.attached()
    await again.welcome(known_graphs=[GRAPH])
    assert await hits(again) == told
