"""MindSpore's own debugger clients, of several releases and on both devices, against the real service."""

from __future__ import annotations

import asyncio
import sys

import grpc
import numpy as np
import pytest
from original_trainings import ASCEND, GPU, LAST, MATMUL, RELU, each_flavour, each_gpu, key, on, training
from source_contract import (
    compares_with_the_step_before,
    ends_when_told,
    gives_parts,
    knows_weights_before_and_after_a_step,
    refuses_what_is_not_there,
    runs_as_many_steps_as_told,
)

from stepscope.core.errors import Conflict, NotAvailable
from stepscope.core.looks import HistogramQuestion, PlaceQuestion
from stepscope.core.ports import State
from stepscope.core.tensors import stats
from stepscope.core.watch.records import Selection, Watchpoint
from stepscope.core.watch.selection import Watched
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.protocol.gen.stepscope_pb2_grpc import EventListenerStub
from stepscope.testing.network import BACKWARD, FORWARD, OPTIMIZER, Network, graph_proto
from stepscope.testing.original_flavours import Flavour, Misbehaviour

each_check = pytest.mark.parametrize(
    "check",
    [
        runs_as_many_steps_as_told,
        knows_weights_before_and_after_a_step,
        compares_with_the_step_before,
        gives_parts,
        refuses_what_is_not_there,
        ends_when_told,
    ],
    ids=lambda check: check.__name__,
)


@each_flavour
@each_check
async def test_the_contract_of_every_source(flavour, check):
    async with training(flavour) as (timeline, _):
        await check(timeline)


@each_flavour
async def test_who_it_is(flavour):
    async with training(flavour) as (timeline, _):
        info, first = timeline.source.info, timeline.reports[-1]
        assert (info.framework, info.framework_version, info.device) == (
            "mindspore", flavour.version, f"{flavour.backend} 0",
        )  # fmt: skip
        assert info.stepping == ("forward" if flavour.is_gpu else "steps")
        assert (first.state, first.step, first.reason, first.cursor) == (State.PAUSED, 0, "start", None)
        assert list(timeline.graphs) == [Network.graph_name]


async def test_values_are_the_true_ones_on_ascend():
    async with training(ASCEND) as (timeline, client):
        await timeline.do("run", 2)
        for name in (RELU, f"{BACKWARD}/hidden-Dense/MatMul-op4", "hidden.weight"):
            found = await timeline.source.tensor(key(name))
            expected = client.network.tensor(key(name))
            assert np.array_equal(found.array, expected.array)
            assert (found.dtype, found.shape, found.step) == ("float32", expected.shape, 2)
            np.testing.assert_equal(
                vars(await timeline.source.stats(key(name))), vars(stats(expected.array, "float32", 2))
            )
        whole = await timeline.source.look(key(RELU), HistogramQuestion())
        assert sum(whole.counts) == client.network.tensor(key(RELU)).array.size


async def test_an_output_of_an_optimizer_is_the_parameter_and_an_input_its_producer():
    async with training(ASCEND) as (timeline, client):
        await timeline.do("run", 1)
        updated = await timeline.source.tensor(key(f"{OPTIMIZER}/ApplyMomentum-op0"))
        assert np.array_equal(updated.array, client.network.tensor(key("hidden.weight")).array)
        read = await timeline.source.tensor(key(RELU, input=0))
        assert np.array_equal(read.array, client.network.tensor(key(f"{FORWARD}/hidden-Dense/BiasAdd-op0")).array)


async def test_on_gpu_only_what_was_fetched_from_the_device_can_be_read():
    async with training(GPU) as (timeline, client):
        await timeline.watch(on("tensor_too_large", RELU, abs_mean_gt=1e9))
        await timeline.do("run", 1)
        found = await timeline.source.tensor(key(RELU))
        assert np.array_equal(found.array, client.network.tensor(key(RELU)).array)
        with pytest.raises(NotAvailable, match="only what is watched"):
            await timeline.source.tensor(key(MATMUL))


async def test_on_gpu_it_goes_node_by_node():
    async with training(GPU) as (timeline, client):
        pause = await timeline.do("next_node")
        assert (pause.step, pause.reason, pause.cursor.node, pause.cursor.count) == (0, "node", MATMUL, 16)
        found = await timeline.source.tensor(key(MATMUL))
        assert np.array_equal(found.array, client.network.tensor(key(MATMUL)).array)
        pause = await timeline.do("run_to", graph=Network.graph_name, node=RELU)
        assert (pause.reason, pause.cursor.node) == ("node", RELU)
        pause = await timeline.do("run_to", graph=Network.graph_name, node=MATMUL)  # in the next step
        assert (pause.step, pause.reason, pause.cursor.node) == (1, "node", MATMUL)
        with pytest.raises(Conflict, match="forward only"):
            await timeline.send("previous_node")


async def test_on_gpu_the_step_ends_behind_its_last_node():
    async with training(GPU) as (timeline, _):
        pause = await timeline.do("next_node")
        while pause.reason == "node":
            last = pause
            pause = await timeline.do("next_node")
        assert last.step == 0
        assert (pause.step, pause.reason, pause.cursor) == (1, "step", None)
        pause = await timeline.do("next_node")
        assert (pause.step, pause.reason, pause.cursor.node) == (1, "node", MATMUL)


@pytest.mark.parametrize("version", ["1.2.0", "2.0.0"])
async def test_on_gpu_a_hit_stops_a_run_within_the_step(version):
    async with training(Flavour(version, "GPU")) as (timeline, _):
        await timeline.do("run", 2)
        await timeline.watch(on("tensor_too_large", MATMUL, max_gt=-100.0))
        pause = await timeline.do("run", 1)
        assert (pause.step, pause.reason, pause.cursor.node) == (2, "watchpoint", MATMUL)
        assert (await timeline.source.tensor(key(MATMUL))).step == 3
        read = await timeline.source.tensor(key("hidden.weight"))
        assert np.array_equal((await timeline.source.tensor(key(MATMUL, input=1))).array, read.array)
        pause = await timeline.do("run", 1)
        assert (pause.step, pause.cursor) == (3, None)


@each_gpu
async def test_a_hit_of_the_last_node_does_not_count_as_two_steps(flavour):
    async with training(flavour) as (timeline, client):
        await timeline.watch(on("tensor_too_large", LAST, max_gt=-100.0))
        pause = await timeline.do("run", 1)
        assert (pause.step, pause.reason, pause.cursor) == (1, "watchpoint", None)
        await timeline.watch()
        assert (await timeline.do("run", 2)).step == client.network.step == 3


@each_gpu
async def test_a_step_that_ended_node_by_node_does_not_count_as_two(flavour):
    async with training(flavour) as (timeline, client):
        while (await timeline.do("next_node")).reason == "node":
            pass
        assert (await timeline.do("run", 2)).step == client.network.step == 3


async def test_a_node_that_never_runs_is_not_reached_within_the_next_step():
    async with training(GPU) as (timeline, _):
        pause = await timeline.do("run_to", graph=Network.graph_name, node="hidden.weight")
        assert (pause.step, pause.reason) == (2, "not_reached")


async def test_on_ascend_there_are_whole_steps_only():
    async with training(ASCEND) as (timeline, _):
        for kind in ("next_node", "run_to"):
            with pytest.raises(Conflict, match="whole steps only"):
                await timeline.send(kind, graph=Network.graph_name, node=RELU)


@each_flavour
async def test_a_free_run_goes_on_until_a_pause_and_then_from_there(flavour):
    async with training(flavour) as (timeline, _):
        await timeline.send("resume")
        await timeline.running()
        pause = await timeline.do("pause")
        assert pause.reason == "pause"
        assert (await timeline.do("run", 2)).step == pause.step + 2


@each_flavour
async def test_it_stops_at_a_hit_and_says_what_was_found(flavour):
    async with training(flavour, nan_at=3) as (timeline, _):
        await timeline.watch(on("tensor_overflow", MATMUL, RELU))
        await timeline.send("resume")
        pause = await timeline.pause_after(1)
        while pause.reason != "watchpoint":
            pause = await timeline.until(lambda: timeline.reports[-1] if timeline.reports[-1].reason else None)
        assert pause.step in (2, 3)  # on GPU in the midst of the step
        told = timeline.hits_told[-1]
        first = told.hits[0]
        assert (first.node, first.slot, first.watchpoint, first.error) == (MATMUL, 0, 1, frozenset())
        assert told.revision == 1


async def test_what_was_set_and_what_was_found():
    async with training(ASCEND) as (timeline, client):
        await timeline.watch(
            on("tensor_too_large", RELU, abs_mean_gt=0.001, max_gt=0.002),
            on("tensor_range", RELU, range_start_inclusive=0.0, range_end_inclusive=0.0, range_percentage_gt=1.0),
        )
        pause = await timeline.do("run", 1)
        value = client.network.tensor(key(RELU)).array.astype(float)
        assert pause.reason == "watchpoint"
        first, second = timeline.hits_told[-1].hits
        assert [(each.name, each.value, each.hit) for each in first.params] == [
            ("abs_mean_gt", 0.001, True),
            ("max_gt", 0.002, True),
        ]
        assert [each.actual for each in first.params] == [np.abs(value).mean(), value.max()]
        assert [(each.name, each.actual) for each in second.params] == [
            ("range_start_inclusive", None),
            ("range_end_inclusive", None),
            ("range_percentage_gt", 100.0 * (value == 0).mean()),
        ]


@pytest.mark.parametrize("version", ["1.1.0", "1.2.0", "1.3.0", "2.0.0"])
async def test_rtol_and_atol_mean_what_the_user_asked_for(version):
    """A little more than the largest change: as atol all is unchanged, as rtol the small weights are not."""
    alike = Network()
    weights = []
    for _ in range(2):
        weights.append(alike.tensor(key("hidden.weight")).array)
        alike.run_step()
    change = float(np.abs(weights[1] - weights[0]).max()) * 1.01
    async with training(Flavour(version, "Ascend")) as (timeline, _):
        await timeline.watch(
            on("weight_not_changed", "hidden.weight", rtol=change, atol=0.0),
            on("weight_not_changed", "hidden.weight", rtol=0.0, atol=change),
        )
        assert (await timeline.do("run", 1)).reason == "watchpoint"
        assert [hit.watchpoint for hit in timeline.hits_told[-1].hits] == [2]


@each_flavour
async def test_initial_weights_are_checked_before_the_first_step(flavour):
    async with training(flavour) as (timeline, _):
        await timeline.watch(on("weight_initialization", "hidden.weight", max_gt=-100.0))
        pause = await timeline.do("run", 1)
        assert (pause.step, pause.reason) == (0, "watchpoint")
        assert [hit.node for hit in timeline.hits_told[-1].hits] == ["hidden.weight"]
        assert (await timeline.do("run", 1)).step == 1  # it was told once


@each_flavour
async def test_a_recheck_stays_where_it_is(flavour):
    async with training(flavour) as (timeline, _):
        await timeline.do("run", 2)
        await timeline.watch(on("weight_too_large", "hidden.weight", abs_mean_gt=0.0))
        pause = await timeline.do("recheck")
        assert (pause.step, pause.reason) == (2, "watchpoint")
        await timeline.watch()
        pause = await timeline.do("recheck")
        assert pause.step == 2
        assert (await timeline.do("run", 1)).step == 3


async def test_two_batches_of_hits_are_both_kept_and_strangers_dropped():
    wrong = Misbehaviour(hits_in_two_batches=True, unknown_hits=True)
    async with training(ASCEND, misbehaviour=wrong) as (timeline, _):
        await timeline.watch(on("tensor_too_large", RELU, MATMUL, max_gt=-100.0))
        await timeline.do("run", 1)
        assert [hit.node for hit in timeline.hits_told[-1].hits] == [MATMUL, RELU]


async def test_previous_values_are_there_for_parameters_only():
    async with training(ASCEND) as (timeline, _):
        await timeline.do("run", 2)
        assert (await timeline.source.tensor(key("out.weight", when="previous"))).step == 1
        with pytest.raises(NotAvailable, match="parameters only"):
            await timeline.source.tensor(key(RELU, when="previous"))


async def test_bytes_that_make_no_tensor_are_said_to_be_none():
    async with training(ASCEND, misbehaviour=Misbehaviour(wrong_dims=True)) as (timeline, _):
        await timeline.do("run", 1)
        with pytest.raises(NotAvailable, match="bytes for a tensor"):
            await timeline.source.tensor(key(RELU))
        assert (await timeline.do("run", 1)).step == 2


async def test_the_same_is_asked_for_once():
    async with training(ASCEND) as (timeline, client):
        await timeline.do("run", 1)
        await asyncio.gather(*(timeline.source.look(key(RELU), PlaceQuestion("max")) for _ in range(5)))
        assert sum(len(view.tensors) for view in client.seen.commands("view_cmd")) == 1


async def test_of_a_very_large_tensor_newer_clients_send_their_own_figures(monkeypatch):
    monkeypatch.setattr("stepscope.server.mindspore.values.FETCHED", 10)
    async with training(Flavour("1.9.0", "Ascend")) as (timeline, client):
        await timeline.do("run", 1)
        found = await timeline.source.stats(key(RELU))
        expected = stats(client.network.tensor(key(RELU)).array, "float32", 1)
        assert {view.level for view in client.seen.commands("view_cmd")} == {1}
    assert (found.zero_count, found.positive_count, found.shape) == (
        expected.zero_count, expected.positive_count, expected.shape,
    )  # fmt: skip
    assert found.max == expected.max
    assert np.isnan(found.std)


async def test_a_broken_connection_may_come_back_with_all_that_was_set():
    async with training(ASCEND) as (timeline, client):
        await timeline.watch(on("tensor_too_large", RELU, max_gt=-100.0))
        assert (await timeline.do("run", 1)).reason == "watchpoint"
        told_before = len(timeline.reports)
        await asyncio.to_thread(client.reconnect)
        assert await timeline.until(lambda: timeline.detached)
        assert await timeline.until(lambda: len(timeline.reports) > told_before or None)
        assert (timeline.reports[-1].state, timeline.reports[-1].reason) == (State.PAUSED, "watchpoint")
        assert (await timeline.do("run", 1)).reason == "watchpoint"
        assert [command.id for command in client.seen.commands("set_cmd")] == [1]  # the client had not forgotten


@each_flavour
async def test_a_connection_that_broke_while_a_step_ran_is_taken_up(flavour):
    async with training(flavour, misbehaviour=Misbehaviour(breaks_off_after=2)) as (timeline, client):
        assert (await timeline.do("run", 4)).step == 4
        assert client.network.step == 4
        assert len({report.step for report in timeline.reports}) == 5


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not list connections")
@each_flavour
async def test_one_that_was_given_up_in_a_step_comes_back_with_what_it_found(flavour, monkeypatch):
    monkeypatch.setattr("stepscope.server.mindspore.peers.LOOK_SECONDS", 0.05)
    async with training(flavour, misbehaviour=Misbehaviour(breaks_off_after=2, seconds_away=1.0)) as (timeline, _):
        await timeline.do("run", 1)
        await timeline.watch(on("weight_change_too_large", "hidden.weight", abs_mean_update_ratio_gt=0.0))
        source, run = timeline.source, await timeline.send("run", 3)
        assert await timeline.until(lambda: timeline.detached) == "the connection to the training process broke"
        with pytest.raises(Conflict, match="broke"):
            await timeline.send("pause")
        pause = await timeline.pause_after(run)
        assert (pause.step, pause.reason, timeline.source) == (2, "watchpoint", source)
        assert [hit.node for hit in timeline.hits_told[-1].hits] == ["hidden.weight"]
        await timeline.watch()
        assert (await timeline.do("run", 1)).step == 3


@each_flavour
async def test_hits_that_come_first_over_a_new_connection_are_kept(flavour):
    wrong = Misbehaviour(breaks_off_after=2, hits_in_two_batches=True)
    async with training(flavour, misbehaviour=wrong) as (timeline, _):
        await timeline.do("run", 1)
        await timeline.watch(on("weight_change_too_large", "hidden.weight", "out.weight", abs_mean_update_ratio_gt=0.0))
        pause = await timeline.do("run", 3)
        assert (pause.step, pause.reason) == (2, "watchpoint")
        assert {hit.node for hit in timeline.hits_told[-1].hits} == {"hidden.weight", "out.weight"}
        assert (await timeline.do("run", 1)).step == 3


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not list connections")
async def test_nobody_takes_the_place_of_one_that_runs_a_step():
    async with training(GPU, step_seconds=1) as (timeline, client), grpc.aio.insecure_channel(client.address) as other:
        run = await timeline.send("run", 2)
        await asyncio.sleep(0.3)  # no call is open now
        alike = pb.Metadata(device_name="0:0", backend="GPU", cur_step=1)
        assert (await EventListenerStub(other).WaitCMD(alike)).status == pb.EventReply.FAILED
        assert (await timeline.pause_after(run)).step == client.network.step == 2


async def test_hits_of_one_who_is_not_known_harm_nobody():
    async with training(ASCEND) as (timeline, client), grpc.aio.insecure_channel(client.address) as stranger:
        hit = pb.WatchpointHit(id=1, tensor=pb.TensorProto(node_name=RELU, slot="0"))
        stub = EventListenerStub(stranger)
        assert (await stub.SendWatchpointHits(iter([hit]))).status == pb.EventReply.OK
        assert (await stub.SendHeartbeat(pb.Heartbeat(period=5))).status == pb.EventReply.OK
        assert (await stub.WaitCMD(pb.Metadata(backend="GPU", cur_step=7))).status == pb.EventReply.FAILED
        assert (await timeline.do("run", 1)).reason == "step"
        assert not timeline.hits_told


async def test_a_training_that_compiles_anew_is_told_all_watchpoints_again():
    async with training(ASCEND, misbehaviour=Misbehaviour(compiles_anew_after=1)) as (timeline, client):
        await timeline.watch(on("tensor_too_large", RELU, max_gt=-100.0))
        assert (await timeline.do("run", 1)).reason == "watchpoint"
        pause = await timeline.do("run", 1)
        assert (pause.step, pause.reason) == (2, "watchpoint")
        told = client.seen.commands("set_cmd")
        assert [(each.id, each.delete) for each in told] == [(1, False), (1, True), (2, False)]


async def test_it_may_tell_of_new_graphs_over_a_new_connection():
    wrong = Misbehaviour(compiles_anew_after=1, breaks_off_to_compile=True)
    async with training(ASCEND, misbehaviour=wrong) as (timeline, _):
        await timeline.watch(on("tensor_too_large", RELU, max_gt=-100.0))
        source = timeline.source
        assert (await timeline.do("run", 1)).reason == "watchpoint"
        pause = await timeline.do("run", 1)
        assert (pause.step, pause.reason) == (2, "watchpoint")
        assert timeline.source is source


async def test_a_watchpoint_on_20000_nodes_arrives_whole_within_what_a_message_may_have():
    nodes = 20_000
    graph = graph_proto()
    for number in range(nodes):
        name = f"{FORWARD}/a-scope-with-a-long-name-{number // 100}/{'x' * 150}/ReLU-op{number}"
        node = graph.node.add(name=f"x{number}", op_type="ReLU", full_name=name)
        node.input.add(name="1")
    async with training(ASCEND, graph=graph) as (timeline, client):
        await timeline.watch(Watchpoint(0, "tensor_overflow"))
        assert (await timeline.do("run", 1)).step == 1
        sent = client.seen.commands("set_cmd")
        names = [node.node_name for command in sent for node in command.watch_nodes]
        watched = Watched(timeline.graphs[Network.graph_name], Selection()).names()
        assert len(watched) > nodes
        assert {name.rpartition("/")[2] for name in names} == {name.rpartition("/")[2] for name in watched}
        assert len(names) == len(watched)
        assert len(sent) > 1
        assert client.seen.largest_reply < 4 << 20
        await timeline.watch(Watchpoint(0, "tensor_too_large", {"max_gt": -100.0}))
        assert (await timeline.do("run", 1)).reason == "watchpoint"
        assert {hit.watchpoint for hit in timeline.hits_told[-1].hits} == {1}


@pytest.mark.parametrize("extra", [0, 2])
async def test_the_last_piece_of_a_graph_may_come_twice(extra, monkeypatch):
    monkeypatch.setattr("stepscope.testing.original_client.PIECE", 1000)
    async with training(misbehaviour=Misbehaviour(last_piece_twice=True, extra_graphs=extra)) as (timeline, _):
        assert len(timeline.graphs) == 1 + extra
        counts = {graph.summary().nodes for graph in timeline.graphs.values()}
        assert len(counts) == 1


async def test_one_that_dies_while_it_stands_still_is_noticed():
    async with training() as (timeline, client):
        await asyncio.to_thread(client.kill)
        assert await timeline.until(lambda: timeline.detached)


async def test_one_that_asks_no_more_is_noticed(monkeypatch):
    monkeypatch.setattr("stepscope.server.mindspore.calls.OVERDUE", 0.2)
    async with training(ASCEND, misbehaviour=Misbehaviour(silent_after=1)) as (timeline, _):
        await timeline.watch(on("tensor_overflow", RELU))
        await timeline.send("run")
        assert await timeline.until(lambda: timeline.detached) == "the training process gives no sign of life any more"


async def test_missing_signs_of_life_are_noticed(monkeypatch):
    monkeypatch.setattr("stepscope.server.mindspore.signs.MISSED", 0.2)
    async with training(Flavour("1.3.0", "Ascend"), misbehaviour=Misbehaviour(silent_after=1)) as (timeline, client):
        await asyncio.to_thread(client.beat, 1)
        await timeline.send("run", 1)
        assert await timeline.until(lambda: timeline.detached)


async def test_missing_signs_of_life_are_noticed_though_it_has_called_since(monkeypatch):
    monkeypatch.setattr("stepscope.server.mindspore.signs.MISSED", 0.2)
    async with training(Flavour("1.3.0", "Ascend"), misbehaviour=Misbehaviour(silent_after=2)) as (timeline, client):
        await asyncio.to_thread(client.beat, 1)
        await timeline.source.tensor(key("hidden.weight"))
        await timeline.send("run", 1)
        assert await timeline.until(lambda: timeline.detached)
