"""MindSpore's own debugger clients with several graphs in a step: forward, and the others."""

from __future__ import annotations

import numpy as np
import pytest
from original_trainings import ASCEND, GPU, LAST, MATMUL, RELU, each_flavour, each_gpu, on, training

from stepscope.core.errors import NotAvailable
from stepscope.core.ports import TensorKey
from stepscope.testing.network import BACKWARD, FORWARD, NODES, OPTIMIZER, Network
from stepscope.testing.original_flavours import FLAVOURS, Flavour

FIRST, SECOND = "kernel_graph_0", "kernel_graph_1"
LOSS = f"{FORWARD}/loss/SquaredError-op0"  # the last node of the first graph
BACK = f"{BACKWARD}/out-Dense/MatMul-op2"  # the first one of the second

each_of_whole_steps = pytest.mark.parametrize("flavour", [each for each in FLAVOURS if each != ASCEND], ids=str)


def true(client, node: str):
    return client.network.tensor(TensorKey(Network.graph_name, node)).array


@each_flavour
async def test_both_graphs_are_there_and_a_parameter_that_both_read_is_one(flavour):
    async with training(flavour, is_split=True) as (timeline, client):
        assert list(timeline.graphs) == [FIRST, SECOND]
        assert all("hidden.weight" in graph for graph in timeline.graphs.values())
        await timeline.watch(on("weight_too_large", "hidden.weight", abs_mean_gt=0.0))
        pause = await timeline.do("run", 1)
        assert pause.reason == "watchpoint"
        assert [hit.node for hit in timeline.hits_told[-1].hits] == ["hidden.weight"]
        (told,) = client.seen.commands("set_cmd")
        assert [node.node_name for node in told.watch_nodes] == ["Default/hidden.weight"]
        for graph in (FIRST, SECOND):
            found = await timeline.source.tensor(TensorKey(graph, "hidden.weight"))
            assert np.array_equal(found.array, true(client, "hidden.weight"))


@each_of_whole_steps
async def test_a_step_is_one_step(flavour):
    async with training(flavour, is_split=True) as (timeline, client):
        for steps in (1, 3, 1):
            before = client.network.step
            pause = await timeline.do("run", steps)
            assert (pause.step, pause.reason, pause.cursor) == (before + steps, "step", None)
            assert client.network.step == pause.step
        weight = await timeline.source.tensor(TensorKey(SECOND, "hidden.weight", when="previous"))
        assert weight.step == 4


async def test_on_ascend_up_to_1_2_each_graph_counts_as_a_step():
    async with training(ASCEND, is_split=True) as (timeline, client):
        assert (await timeline.do("run", 1)).step == 1
        found = await timeline.source.tensor(TensorKey(FIRST, RELU))
        assert np.array_equal(found.array, true(client, RELU))
        assert (await timeline.do("run", 3)).step == 4
        assert client.network.step == 2


@each_gpu
async def test_it_goes_node_by_node_through_all_graphs(flavour):
    async with training(flavour, is_split=True) as (timeline, client):
        order = []
        for _ in range(2 * len(NODES) + 10):
            pause = await timeline.do("next_node")
            if pause.cursor is not None:
                node = pause.cursor.node
                order.append((pause.step, node))
                if not node.startswith(OPTIMIZER):  # that shows its parameter, as it was before the step
                    found = await timeline.source.tensor(TensorKey(pause.cursor.graph, node))
                    assert np.array_equal(found.array, true(client, node))
                    assert found.step == pause.step + 1
            if order[-1] == (1, LAST):
                break
        nodes = [node for _, node in order]
        assert nodes == [*nodes[: len(nodes) // 2]] * 2
        assert nodes.index(BACK) == nodes.index(LOSS) + 1
        assert [step for step, _ in order] == [0] * (len(nodes) // 2) + [1] * (len(nodes) // 2)


@each_gpu
async def test_it_runs_to_a_node_of_another_graph_and_on_to_the_end_of_the_step(flavour):
    async with training(flavour, is_split=True) as (timeline, client):
        pause = await timeline.do("run_to", graph=SECOND, node=BACK)
        assert (pause.step, pause.reason, pause.cursor.graph, pause.cursor.node) == (0, "node", SECOND, BACK)
        assert np.array_equal((await timeline.source.tensor(TensorKey(SECOND, BACK))).array, true(client, BACK))
        pause = await timeline.do("run", 1)
        assert (pause.step, pause.reason, pause.cursor) == (1, "step", None)
        pause = await timeline.do("run_to", graph=FIRST, node=LOSS)
        assert (pause.step, pause.cursor.graph, pause.cursor.node) == (1, FIRST, LOSS)
        pause = await timeline.do("run", 2)
        assert (pause.step, pause.cursor, client.network.step) == (3, None, 3)


@each_gpu
@pytest.mark.parametrize(("graph", "node"), [(FIRST, MATMUL), (FIRST, LOSS), (SECOND, BACK), (SECOND, LAST)])
async def test_a_hit_stops_behind_its_node_wherever_that_is(flavour, graph, node):
    async with training(flavour, is_split=True) as (timeline, client):
        await timeline.do("run", 1)
        await timeline.watch(on("tensor_too_large", node, max_gt=-100.0))
        pause = await timeline.do("run", 1)
        assert (pause.step, pause.reason, pause.cursor.graph, pause.cursor.node) == (1, "watchpoint", graph, node)
        assert {hit.node for hit in timeline.hits_told[-1].hits} == {node}
        await timeline.watch()
        pause = await timeline.do("run", 1)
        assert (pause.step, pause.cursor, client.network.step) == (2, None, 2)


@each_gpu
@pytest.mark.parametrize(("last", "following"), [(LOSS, BACK), (LAST, None)])
async def test_behind_a_hit_of_the_last_node_of_a_graph_comes_the_next_graph(flavour, last, following):
    async with training(flavour, is_split=True) as (timeline, _):
        await timeline.watch(on("tensor_too_large", last, max_gt=-100.0))
        assert (await timeline.do("run", 1)).cursor.node == last
        await timeline.watch()
        pause = await timeline.do("next_node")
        assert (pause.step, pause.cursor and pause.cursor.node) == (0 if following else 1, following)


@each_flavour
async def test_hits_in_both_graphs_of_a_step(flavour):
    async with training(flavour, is_split=True) as (timeline, _):
        await timeline.watch(on("tensor_too_large", RELU, BACK, max_gt=-100.0))
        found = []
        while len(found) < 2:
            assert (await timeline.do("run", 1)).reason in ("watchpoint", "step")
            found = [(hit.graph, hit.node) for batch in timeline.hits_told for hit in batch.hits]
        assert found[:2] == [(FIRST, RELU), (SECOND, BACK)]


@pytest.mark.parametrize("flavour", [GPU, Flavour("2.0.0", "GPU")], ids=str)
async def test_a_free_run_goes_on_through_the_graphs_until_a_pause(flavour):
    async with training(flavour, is_split=True) as (timeline, client):
        await timeline.send("resume")
        await timeline.until(lambda: timeline.reports[-1].step > 2 or None)
        pause = await timeline.do("pause")
        assert pause.reason == "pause"
        assert pause.step == client.network.step - (pause.cursor is not None)


async def test_what_can_be_read_behind_a_step_of_1_2_are_the_parameters():
    async with training(GPU, is_split=True) as (timeline, client):
        await timeline.watch(on("tensor_too_large", RELU, max_gt=100.0))
        await timeline.do("run", 1)
        with pytest.raises(NotAvailable, match="holds no value"):
            await timeline.source.tensor(TensorKey(FIRST, RELU))
        change = await timeline.source.compare(TensorKey(FIRST, "hidden.weight"))
        assert change.changed_count == true(client, "hidden.weight").size
