"""What MindSpore's own debugger clients are sent, word for word, and what they may send."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from original_trainings import ASCEND, GPU, MATMUL, RELU, each_flavour, key, on, training

from stepscope.core.errors import NotAvailable
from stepscope.core.ports import State
from stepscope.core.watch.conditions import CONDITIONS
from stepscope.core.watch.records import Rule, Selection, Watchpoint
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.testing.network import BACKWARD, CONSTANTS, FORWARD, Network
from stepscope.testing.original_client import OriginalClient
from stepscope.testing.original_flavours import Flavour, Misbehaviour
from stepscope.testing.timeline import listening

FAILED = pb.EventReply.FAILED


def watched(client: OriginalClient) -> list[str]:
    return [node.node_name for command in client.seen.commands("set_cmd") for node in command.watch_nodes]


# ------------------------------------------------------------ what they are sent


@each_flavour
async def test_steps_go_one_by_one(flavour):
    async with training(flavour) as (timeline, client):
        await timeline.do("run", 3)
        runs = client.seen.commands("run_cmd")
        assert [(run.run_level, run.run_steps) for run in runs] == [("step", 1)] * 3


async def test_nodes_go_one_by_one_and_are_never_named():
    async with training(GPU) as (timeline, client):
        await timeline.do("run_to", graph=Network.graph_name, node=RELU)
        runs = client.seen.commands("run_cmd")
        assert len(runs) == 3
        assert {(run.run_level, run.WhichOneof("cmd"), run.node_name) for run in runs} == {("node", "node_name", "")}


async def test_watchpoints_are_told_before_the_next_run_and_checked_before_the_first():
    async with training(ASCEND) as (timeline, client):
        await timeline.watch(on("weight_initialization", RELU, max_gt=1e9))
        await timeline.watch(on("weight_initialization", "hidden.weight", max_gt=1e9))
        await timeline.source.tensor(key("hidden.weight"))
        assert not client.seen.commands("set_cmd")
        await timeline.do("run", 1)
        await timeline.watch()
        await timeline.do("recheck")
        kinds = [reply.WhichOneof("cmd") for reply in client.seen.replies]
        levels = [run.run_level for run in client.seen.commands("run_cmd")]
        assert kinds == ["view_cmd", "set_cmd", "run_cmd", "run_cmd", "set_cmd", "run_cmd"]
        assert levels == ["recheck", "step", "recheck"]
        first, second = client.seen.commands("set_cmd")
        assert (first.id, first.delete, second) == (1, False, pb.SetCMD(id=1, delete=True))


@pytest.mark.parametrize("condition", [name for name, one in CONDITIONS.items() if len(one.parameters) > 1])
@pytest.mark.parametrize("version", ["1.2.0", "1.3.0"])
async def test_all_parameters_are_told_in_the_order_of_the_table(condition, version):
    known = CONDITIONS[condition].parameters
    names = [parameter.name for parameter in known]
    if version == "1.2.0" and "rtol" in names:
        names[:2] = ["atol", "rtol"]  # which it tells apart by their places
    async with training(Flavour(version, "Ascend")) as (timeline, client):
        await timeline.watch(on(condition, "hidden.weight", **{known[0].name: 3.0}))
        await timeline.do("run", 1)
        told = client.seen.commands("set_cmd")[0].watch_condition
        assert told.condition == CONDITIONS[condition].code
        assert [parameter.name for parameter in told.params] == names
        given = {parameter.name: parameter.value for parameter in told.params if not parameter.disabled}
        assert given.pop(known[0].name) == 3.0
        assert set(given) <= {parameter.name for parameter in known if parameter.hidden}


async def test_a_scope_is_what_lies_below_it_and_nothing_else():
    """Not the scope of the gradients, in whose name it is contained, and no other that begins like it."""
    async with training(ASCEND) as (timeline, client):
        rules = (Rule(f"{FORWARD}/hidden-Dense", True, scope=True),)
        await timeline.watch(Watchpoint(0, "tensor_overflow", {}, Selection("none", rules=rules)))
        await timeline.do("run", 1)
        assert set(watched(client)) >= {MATMUL, f"{FORWARD}/hidden-Dense/BiasAdd-op0"}
        assert not [name for name in watched(client) if BACKWARD in name or "out-Dense" in name]


async def test_all_nodes_are_told_once_each_and_no_constants():
    async with training(ASCEND) as (timeline, client):
        await timeline.watch(Watchpoint(0, "tensor_overflow"))
        await timeline.do("run", 1)
        names = watched(client)
        assert len(set(names)) == len(names)
        assert names.count("Default/hidden.weight") == 1  # that forward nodes and the optimizer read
        assert not [name for name in names if name.rpartition("/")[2] in CONSTANTS]
        types = {node.node_type for command in client.seen.commands("set_cmd") for node in command.watch_nodes}
        assert "Parameter" in types
        assert not types & {"scope", "Const"}


async def test_constants_are_read_from_the_graph():
    async with training(ASCEND) as (timeline, client):
        for name, value in CONSTANTS.items():
            found = await timeline.source.tensor(key(name))
            assert found.array == np.asarray(value, found.dtype)
            assert found.dtype == ("int64" if isinstance(value, int) else "float32")
        assert not client.seen.commands("view_cmd")


async def test_hits_of_a_split_watchpoint_are_all_of_the_one(monkeypatch):
    monkeypatch.setattr("stepscope.server.mindspore.watching.MOST_BYTES", 100)
    async with training(ASCEND) as (timeline, client):
        nodes = (MATMUL, RELU, "hidden.weight", "out.weight")
        zero = on("tensor_all_zero", RELU, zero_percentage_ge=100.0)
        await timeline.watch(zero, on("tensor_too_large", *nodes, max_gt=-9.0))
        await timeline.do("run", 1)
        told = [command.id for command in client.seen.commands("set_cmd")]
        assert len(told) > 3
        assert {(hit.watchpoint, hit.node) for hit in timeline.hits_told[-1].hits} == {(2, node) for node in nodes}
        await timeline.watch()
        assert (await timeline.do("run", 1)).reason == "step"
        assert [command.id for command in client.seen.commands("set_cmd") if command.delete] == told


async def test_one_that_stands_still_is_answered_with_nothing_now_and_then(monkeypatch):
    monkeypatch.setattr("stepscope.server.mindspore.stepping.POLL_SECONDS", 0.02)
    async with training(ASCEND) as (timeline, client):
        await asyncio.sleep(0.3)
        assert len(client.seen.replies) > 3
        assert {reply.WhichOneof("cmd") for reply in client.seen.replies} == {None}
        assert {reply.status for reply in client.seen.replies} == {pb.EventReply.OK}
        assert len(timeline.reports) == 1
        assert (await timeline.do("run", 1)).step == 1


# ------------------------------------------------------------ what they send


@pytest.mark.parametrize("version", ["1.1.0", "1.2.0-rc1", "1.10.1", "2.1.1", "2.2.14", "2", ""])
async def test_any_version_is_welcome(version):
    async with training(Flavour(version, "Ascend")) as (timeline, _):
        assert timeline.source.info.framework_version == version
        assert (await timeline.do("run", 1)).step == 1


@each_flavour
async def test_a_training_ends_by_itself(flavour):
    async with training(flavour, steps=2) as (timeline, _):
        await timeline.send("resume")
        assert (await timeline.farewell_came()).outcome == "finished"


async def test_a_tensor_may_come_in_many_pieces(monkeypatch):
    monkeypatch.setattr("stepscope.testing.original_client.PIECE", 20)
    async with training(ASCEND) as (timeline, client):
        await timeline.do("run", 1)
        for node in (RELU, "hidden.weight"):
            found = await timeline.source.tensor(key(node))
            assert np.array_equal(found.array, client.network.tensor(key(node)).array)


async def test_a_tensor_without_its_end_is_none(monkeypatch):
    monkeypatch.setattr("stepscope.testing.original_client.PIECE", 20)
    async with training(ASCEND, misbehaviour=Misbehaviour(cuts_tensors=True)) as (timeline, _):
        await timeline.do("run", 1)
        with pytest.raises(NotAvailable, match="did not send"):
            await timeline.source.tensor(key(RELU))
        assert (await timeline.do("run", 1)).step == 2


@pytest.mark.parametrize("extra", [0, 1])
async def test_half_a_graph_is_none_and_may_be_sent_again(extra):
    wrong = Misbehaviour(cuts_graphs=True, extra_graphs=extra)
    async with training(ASCEND, misbehaviour=wrong) as (timeline, client):
        assert [reply.status for reply in client.seen.out_of_order] == [FAILED]
        assert len(timeline.graphs) == 1 + extra
        assert (await timeline.do("run", 1)).step == 1


@each_flavour
async def test_what_comes_before_its_turn_is_refused(flavour):
    async with training(flavour, misbehaviour=Misbehaviour(wrong_order=True)) as (timeline, client):
        assert {reply.status for reply in client.seen.out_of_order} == {FAILED}
        assert len(client.seen.out_of_order) == 7
        assert (await timeline.do("run", 1)).step == 1


async def test_a_message_that_is_too_large_is_lost_alone():
    async with training(ASCEND, misbehaviour=Misbehaviour(huge_hits=True)) as (timeline, _):
        await timeline.watch(on("tensor_too_large", RELU, max_gt=-100.0))
        pause = await timeline.do("run", 1)
        assert (pause.step, pause.reason) == (1, "watchpoint")
        assert [hit.node for hit in timeline.hits_told[-1].hits] == [RELU]


async def test_overflow_of_operators_is_seen_on_ascend():
    async with training(ASCEND, nan_at=2) as (timeline, client):
        await timeline.watch(on("operator_overflow", MATMUL))
        assert (await timeline.do("run", 1)).reason == "step"
        assert (await timeline.do("run", 1)).reason == "watchpoint"
        assert client.seen.commands("set_cmd")[0].watch_condition.condition == 2


async def test_overflow_of_operators_is_said_not_to_be_seen_on_gpu():
    async with training(GPU, nan_at=1) as (timeline, _):
        await timeline.watch(on("operator_overflow", MATMUL))
        pause = await timeline.do("run", 1)
        assert (pause.state, pause.reason) == (State.PAUSED, "step")
        assert "only seen on Ascend" in timeline.hits_told[-1].warning


async def test_two_at_the_same_time_do_not_know_of_each_other():
    async with listening() as (timeline, address):
        with OriginalClient(address, GPU):
            first = await timeline.attached()
            await timeline.pause_after(0)
            with OriginalClient(address, GPU):
                second = await timeline.until(lambda: timeline.source if timeline.source is not first else None)
                assert second.info.job_id != first.info.job_id
                assert not first.gone
