"""What every `Source` keeps to, checked through the port alone, with whatever network there is behind it.

To run it on another kind of source, write a test that has a `Timeline` with the source attached (paused before its
first step), and runs `CHECKS` on it (`LIVE_CHECKS` where it can stand still within a step): all in this order on one
training, or each on a training of its own. The network has to have an optimizer, and a few hundred steps to go.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import numpy as np
import pytest

from stepscope.core.errors import BadRequest, NotAvailable, UnknownNode
from stepscope.core.graph.graph import Graph
from stepscope.core.looks import BeyondQuestion, FactsQuestion, HeatmapQuestion, HistogramQuestion, PlaceQuestion
from stepscope.core.ports import State, Tensor, TensorKey
from stepscope.core.tensors import compare, look, stats
from stepscope.core.watch.records import Rule, Selection, Watchpoint
from stepscope.testing.timeline import Timeline

SAMPLE = 12  # nodes of a kind that are looked at


def graph_of(timeline: Timeline) -> Graph:
    """The graph that trains."""
    return next(graph for graph in timeline.graphs.values() if graph.nodes(category="gradient"))


def weights(timeline: Timeline) -> list[TensorKey]:
    graph = graph_of(timeline)
    return [TensorKey(graph.name, name) for name in graph.nodes(category="weight")[:SAMPLE]]


async def ran(timeline: Timeline) -> list[TensorKey]:
    """First outputs of nodes that ran in the last step, spread over it."""
    order = await timeline.source.execution(0, 1 << 20)
    nodes = [each for each in order.nodes if timeline.graphs[each.graph].node(each.node).outputs]
    return [TensorKey(each.graph, each.node) for each in nodes[:: max(1, len(nodes) // SAMPLE)]]


async def available(timeline: Timeline, keys: list[TensorKey]) -> dict[TensorKey, Tensor]:
    """The tensors of those that have a value; at least half do."""
    found = {}
    for key in keys:
        try:
            found[key] = await timeline.source.tensor(key)
        except NotAvailable:
            continue
    assert len(found) * 2 >= len(keys)
    return found


def same_elements(one: Tensor, other: Tensor) -> bool:
    """In whatever shape and order: on the way from one to the other may be views, which are folded."""
    return np.array_equal(np.sort(one.array, None), np.sort(other.array, None), equal_nan=True)


async def starts_paused(timeline: Timeline) -> None:
    info, first = timeline.source.info, timeline.reports[0]
    assert info.job_id
    assert info.framework
    assert info.stepping in ("recorded", "live")
    pause = first if first.state is State.PAUSED else await timeline.pause_after(0)
    assert (pause.step, pause.reason, pause.cursor) == (0, "start", None)
    assert (await timeline.source.execution()).total == 0


async def runs_as_many_steps_as_told(timeline: Timeline) -> None:
    before = timeline.reports[-1].step
    pause = await timeline.do("run", 1)
    assert (pause.step, pause.reason) == (before + 1, "step")
    assert pause.step in pause.recorded_steps
    pause = await timeline.do("run", 3)
    assert (pause.step, pause.reason) == (before + 4, "step")
    steps = [report.step for report in timeline.reports]
    assert steps == sorted(steps)
    assert timeline.graphs


async def knows_weights_before_and_after_a_step(timeline: Timeline) -> None:
    await timeline.do("run", 1)
    before = await available(timeline, weights(timeline))
    step = (await timeline.do("run", 1)).step
    changed = []
    for key, old in before.items():
        now = await timeline.source.tensor(key)
        previous = await timeline.source.tensor(TensorKey(key.graph, key.node, when="previous"))
        assert (now.step, previous.step, old.step) == (step, step - 1, step - 1)
        assert now.shape == previous.shape == now.array.shape
        assert np.array_equal(previous.array, old.array, equal_nan=True), key
        changed.append(not np.array_equal(now.array, old.array))
    assert any(changed)


async def figures_are_those_of_the_values(timeline: Timeline) -> None:
    await timeline.do("run", 1)
    for key, tensor in (await available(timeline, weights(timeline) + await ran(timeline))).items():
        expected = stats(tensor.array, tensor.dtype, tensor.step)
        np.testing.assert_equal(vars(await timeline.source.stats(key)), vars(expected))


async def compares_with_the_step_before(timeline: Timeline) -> None:
    await timeline.do("run", 2)
    for key, now in (await available(timeline, weights(timeline))).items():
        before = await timeline.source.tensor(TensorKey(key.graph, key.node, when="previous"))
        found = await timeline.source.compare(key)
        expected = compare(now.array, before.array, now.dtype, now.step, before.step)
        for part in ("current", "previous", "difference"):
            np.testing.assert_equal(vars(getattr(found, part)), vars(getattr(expected, part)))
        assert (found.changed_count, found.update_ratio) == (expected.changed_count, expected.update_ratio)


async def answers_questions_from_the_values(timeline: Timeline) -> None:
    await timeline.do("run", 2)
    for key, now in (await available(timeline, weights(timeline))).items():
        before = await timeline.source.tensor(TensorKey(key.graph, key.node, when="previous"))
        values = {"current": now, "previous": before}
        for question in (
            HistogramQuestion(bins=7),
            HistogramQuestion("previous", "0", 5),
            HistogramQuestion("difference"),
            HeatmapQuestion(3, 2, "extreme", index=", ".join(["0"] * (now.array.ndim - 1) + [":"])),
            PlaceQuestion("max", 1, "difference"),
            PlaceQuestion("nan"),
            BeyondQuestion(0.0),
            FactsQuestion(),
        ):
            found = await timeline.source.look(key, question)
            np.testing.assert_equal(vars(found), vars(look(question, values.__getitem__)))
            again = await timeline.source.look(replace(key, when="previous"), question)
            np.testing.assert_equal(vars(again), vars(found))
        with pytest.raises(BadRequest) as refused:
            await timeline.source.look(key, HistogramQuestion(index="x"))
        assert refused.value.field == "index"


async def gives_parts(timeline: Timeline) -> None:
    await timeline.do("run", 1)
    tensors = await available(timeline, weights(timeline))
    key, whole = max(tensors.items(), key=lambda each: each[1].array.ndim)
    for index, expected in (
        ("0", whole.array[0]),
        ("-1, ...", whole.array[-1]),
        ("::2", whole.array[::2]),
        ("0:0", whole.array[0:0]),
        (", ".join(["0"] * whole.array.ndim), whole.array[(0,) * whole.array.ndim]),
    ):
        part = await timeline.source.tensor(key, index)
        assert (part.shape, part.dtype, part.step) == (whole.shape, whole.dtype, whole.step)
        assert part.array.shape == expected.shape
        assert np.array_equal(part.array, expected, equal_nan=True), index
    with pytest.raises(BadRequest, match="dimension 0"):
        await timeline.source.tensor(key, str(whole.shape[0]))
    with pytest.raises(BadRequest):
        await timeline.source.tensor(key, "x")


async def inputs_are_what_the_producers_put_out(timeline: Timeline) -> None:
    await timeline.do("run", 1)
    looked_at = 0
    for key in await ran(timeline):
        graph = timeline.graphs[key.graph]
        ports = graph.node(key.node).inputs
        for port in ports:
            single = sum(other.index == port.index for other in ports) == 1
            if port.control or not single or not port.node or graph.node(port.node).kind != "op":
                continue
            try:
                read = await timeline.source.tensor(TensorKey(key.graph, key.node, input=port.index))
                made = await timeline.source.tensor(TensorKey(key.graph, port.node, port.slot))
            except NotAvailable:
                continue
            if graph.resolve(port.node, port.slot).kind == "op":  # else it was updated in place since
                assert same_elements(read, made), (key, port)
                looked_at += 1
    assert looked_at


async def folded_nodes_show_what_they_pass_on(timeline: Timeline) -> None:
    await timeline.do("run", 1)
    graph = graph_of(timeline)
    folded = sorted(set(graph.nodes(folded=True)) - set(graph.nodes()))
    for name in folded:
        home = graph.resolve(name)
        if home.name == name:
            continue
        key = TensorKey(graph.name, home.name, home.slot)
        try:
            expected = [await timeline.source.tensor(key)]
            if home.kind == "parameter":  # it may have been read before it was updated
                expected.append(await timeline.source.tensor(replace(key, when="previous")))
        except NotAvailable:
            continue
        found = await timeline.source.tensor(TensorKey(graph.name, name))
        assert any(same_elements(found, one) for one in expected), name


async def execution_is_an_order_over_the_graph(timeline: Timeline) -> None:
    await timeline.do("run", 1)
    whole = await timeline.source.execution(0, 1 << 20)
    assert whole.total == len(whole.nodes) > 0
    for each in whole.nodes:
        assert each.node in timeline.graphs[each.graph]
    assert len({(each.graph, each.node, each.occurrence) for each in whole.nodes}) == whole.total
    window = await timeline.source.execution(1, 2)
    assert (window.total, tuple(window.nodes)) == (whole.total, tuple(whole.nodes[1:3]))
    assert not (await timeline.source.execution(whole.total, 5)).nodes


async def the_cursor_walks_over_the_nodes(timeline: Timeline) -> None:
    step = (await timeline.do("run", 2)).step
    last = (await timeline.source.execution(0, 1 << 20)).nodes
    first = await timeline.do("next_node")
    so_far = (await timeline.source.execution(0, 1 << 20)).nodes
    live = timeline.source.info.stepping == "live"
    order = last if live else so_far
    assert tuple(so_far) == tuple(order[:1] if live else order)
    assert (first.step, first.reason, first.cursor.position, first.cursor.count) == (step + 1, "node", 1, len(order))
    assert (first.cursor.graph, first.cursor.node) == (order[0].graph, order[0].node)
    second = await timeline.do("next_node")
    assert (second.step, second.cursor.position, second.cursor.node) == (step + 1, 2, order[1].node)
    assert (await timeline.do("previous_node")).cursor == first.cursor
    target = order[len(order) // 2]
    there = await timeline.do("run_to", graph=target.graph, node=target.node)
    assert (there.step, there.reason) == (step + 1, "node")
    assert (there.cursor.graph, there.cursor.node) == (target.graph, target.node)
    assert all(report.cursor.moment == "after" for report in (first, second, there))
    behind = await timeline.do("run_to", graph=order[0].graph, node=order[0].node)
    assert (behind.step, behind.cursor.node) == (step + 2, order[0].node)
    assert (await timeline.do("run", 1)).cursor is None


async def pauses_a_free_run(timeline: Timeline) -> None:
    before = (await timeline.do("run", 1)).step
    await timeline.send("resume")
    await timeline.running()
    pause = await timeline.do("pause")
    assert pause.reason == "pause"
    assert pause.step >= before
    count = len(timeline.reports)
    after = await timeline.do("run", 1)
    assert after.step == pause.step + 1
    assert all(report.step >= pause.step for report in timeline.reports[count:])


def on_node(key: TensorKey, condition: str, **parameters: float) -> Watchpoint:
    return Watchpoint(0, condition, parameters, Selection("none", rules=(Rule(key.node, True, graph=key.graph),)))


async def stops_at_a_hit_and_says_what_it_found(timeline: Timeline) -> None:
    await timeline.do("run", 1)
    key = next(iter(await available(timeline, weights(timeline))))
    await timeline.watch(
        on_node(key, "weight_too_large", abs_mean_gt=0.0), on_node(key, "weight_too_large", max_gt=1e30)
    )
    before = timeline.reports[-1].step
    pause = await timeline.do("run", 5)
    assert (pause.step, pause.reason) == (before + 1, "watchpoint")
    batch = timeline.hits_told[-1]
    figures = await timeline.source.stats(key)
    (hit,) = batch.hits
    assert (batch.step, hit.step, hit.graph, hit.node, hit.slot) == (pause.step, pause.step, key.graph, key.node, 0)
    assert (hit.watchpoint, hit.error) == (1, frozenset())
    (found,) = (each for each in hit.params if each.hit)
    assert (found.name, found.value) == ("abs_mean_gt", 0.0)
    assert found.actual == pytest.approx(figures.abs_mean, rel=1e-12)
    await timeline.watch()
    assert (await timeline.do("run", 2)).reason == "step"


async def compares_any_node_with_the_step_before(timeline: Timeline) -> None:
    await timeline.do("run", 2)
    nodes = [key for key, tensor in (await available(timeline, await ran(timeline))).items() if tensor.array.size > 1]
    await timeline.watch(*(on_node(key, "weight_change_too_large", abs_mean_update_ratio_gt=0.0) for key in nodes))
    await timeline.do("recheck")
    compared = 0
    for hit in timeline.hits_told[-1].hits:
        if hit.error:
            continue
        key = TensorKey(hit.graph, hit.node, hit.slot)
        ratio = (await timeline.source.compare(key)).update_ratio
        assert hit.params[0].actual == pytest.approx(ratio, rel=1e-9)
        compared += 1
    assert compared
    await timeline.watch()


async def a_recheck_stays_where_it_is(timeline: Timeline) -> None:
    await timeline.do("run", 1)
    step = timeline.reports[-1].step
    key = next(iter(await available(timeline, weights(timeline))))
    await timeline.watch(on_node(key, "weight_too_large", max_gt=1e30))
    pause = await timeline.do("recheck")
    assert (pause.state, pause.step) == (State.PAUSED, step)
    assert (timeline.hits_told[-1].step, timeline.hits_told[-1].hits) == (step, ())
    await timeline.watch(on_node(key, "weight_too_large", max_gt=-1e30))
    await timeline.do("recheck")
    batch = timeline.hits_told[-1]
    assert (batch.step, len(batch.hits)) == (step, 1)
    await timeline.watch()


async def refuses_what_is_not_there(timeline: Timeline) -> None:
    await timeline.do("run", 1)
    graph = graph_of(timeline)
    for key in (TensorKey(graph.name, "no such node"), TensorKey("no such graph", "no such node")):
        with pytest.raises(UnknownNode):
            await timeline.source.tensor(key)
        with pytest.raises(UnknownNode):
            await timeline.source.stats(key)


async def shows_a_stack_within_a_step_only(timeline: Timeline) -> None:
    await timeline.do("run", 1)
    await timeline.do("next_node")
    if timeline.source.info.stepping == "recorded":
        with pytest.raises(NotAvailable):
            await timeline.source.frames()
        return
    frames = await timeline.source.frames()
    mine = [frame for frame in frames if frame.user]
    assert mine
    assert all(frame.file and frame.line > 0 for frame in frames)
    assert any(frame.locals for frame in mine)
    assert not any(frame.locals for frame in frames if not frame.user)


async def says_which_step_attributes_are_of(timeline: Timeline) -> None:
    await timeline.do("run", 2)
    graph, step = graph_of(timeline), timeline.reports[-1].step
    node = (await timeline.source.execution(0, 1)).nodes[0].node
    if timeline.source.info.stepping == "recorded":
        with pytest.raises(NotAvailable):
            await timeline.source.attributes(graph.name, node)
        return
    told = await timeline.source.attributes(graph.name, node)
    assert (told.step, set(told.attributes) >= set(graph.node(node).attributes)) == (step, True)
    for names in ((graph.name, "no such node"), ("no such graph", node)):
        with pytest.raises(UnknownNode):
            await timeline.source.attributes(*names)


async def ends_when_told(timeline: Timeline) -> None:
    await timeline.send("terminate")
    assert (await timeline.farewell_came()).outcome == "terminated"


async def stands_before_a_node_that_has_not_run(timeline: Timeline) -> None:
    step = (await timeline.do("run", 2)).step
    order = (await timeline.source.execution(0, 1 << 20)).nodes
    target = next(key for key in (await available(timeline, await ran(timeline))) if key.node != order[0].node)
    there = await timeline.do("run_to", graph=target.graph, node=target.node, before=True)
    assert (there.step, there.cursor.node, there.cursor.moment) == (step + 1, target.node, "before")
    so_far = await timeline.source.execution(0, 1 << 20)
    assert tuple(so_far.nodes) == tuple(order[: there.cursor.position - 1])
    with pytest.raises(NotAvailable):
        await timeline.source.tensor(target)
    passed = await timeline.do("next_node")
    assert (passed.step, passed.cursor) == (step + 1, replace(there.cursor, moment="after"))
    assert (await timeline.source.tensor(target)).step == step + 1
    back = await timeline.do("previous_node")
    assert (back.cursor.position, back.cursor.moment) == (there.cursor.position - 1, "after")
    assert (await timeline.do("run", 1)).step == step + 1  # to the end of the step that it stood in


async def weights_are_not_updated_before_the_optimizer_runs(timeline: Timeline) -> None:
    await timeline.do("run", 2)
    before = await available(timeline, weights(timeline))
    await timeline.do("next_node")
    for key, old in before.items():
        assert np.array_equal((await timeline.source.tensor(key)).array, old.array, equal_nan=True), key
    await timeline.do("run", 1)
    now = [(await timeline.source.tensor(key)).array for key in before]
    assert not all(np.array_equal(new, old.array) for new, old in zip(now, before.values(), strict=True))


async def shows_no_tensors_while_it_runs(timeline: Timeline) -> None:
    await timeline.do("run", 1)
    key = next(iter(await available(timeline, weights(timeline))))
    await timeline.send("resume")
    await timeline.running()
    with pytest.raises(NotAvailable, match="pause"):
        await timeline.source.tensor(key)
    with pytest.raises(NotAvailable, match="pause"):
        await timeline.source.frames()
    with pytest.raises(NotAvailable, match="pause"):
        await timeline.source.attributes(key.graph, key.node)
    await timeline.do("pause")
    assert (await timeline.source.tensor(key)).array.size


CHECKS: tuple[Callable[[Timeline], Awaitable[None]], ...] = (
    starts_paused,
    runs_as_many_steps_as_told,
    knows_weights_before_and_after_a_step,
    figures_are_those_of_the_values,
    compares_with_the_step_before,
    answers_questions_from_the_values,
    gives_parts,
    inputs_are_what_the_producers_put_out,
    folded_nodes_show_what_they_pass_on,
    execution_is_an_order_over_the_graph,
    the_cursor_walks_over_the_nodes,
    pauses_a_free_run,
    stops_at_a_hit_and_says_what_it_found,
    compares_any_node_with_the_step_before,
    a_recheck_stays_where_it_is,
    refuses_what_is_not_there,
    shows_a_stack_within_a_step_only,
    says_which_step_attributes_are_of,
    ends_when_told,
)

# For a source whose stepping is live.
LIVE_CHECKS: tuple[Callable[[Timeline], Awaitable[None]], ...] = (
    *CHECKS[:-1],
    stands_before_a_node_that_has_not_run,
    weights_are_not_updated_before_the_optimizer_runs,
    shows_no_tensors_while_it_runs,
    ends_when_told,
)
