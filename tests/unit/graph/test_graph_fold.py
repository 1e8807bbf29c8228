"""Values through nodes that only pass them on, and what optimizers write in place."""

from __future__ import annotations

import pytest
from graph_samples import FLOAT, constant, graph, graph_input, op, parameter

from stepscope.core.errors import BadRequest, UnknownNode
from stepscope.core.graph import InputRef, NodeRecord, Port, Resolved, TensorType
from stepscope.core.graph.fold import FOLDED_OPS
from stepscope.core.graph.optimizers import OPTIMIZERS


def item(id: str, source: str, index: str, shape: tuple[int, ...] | None = None) -> NodeRecord:
    return NodeRecord(id, id, "TupleGetItem", "op", [InputRef(source), InputRef(index)], [TensorType("float32", shape)])


def ports(port_list: tuple[Port, ...]) -> list[tuple[int, str, int, int | None]]:
    return [(port.index, port.node, port.slot, port.element) for port in port_list]


CONSTANTS = [constant("0", 0), constant("1", 1), constant("-1", -1), constant("unknown", None)]


def test_load_and_depend_pass_on_their_first_input() -> None:
    made = graph(
        parameter("w"),
        constant("u", None),
        op("state", "^u", op="UpdateState"),
        op("load", "w", "^state", op="Load"),
        op("depend", "load", "^state", op="Depend"),
        op("user", "depend", "w"),
    )
    assert ports(made.node("user").inputs) == [(0, "w", 0, None), (1, "w", 0, None)]
    assert made.resolve("depend") == made.resolve("load") == Resolved("parameter", "w", 0)
    (output,) = made.node("w").outputs
    assert output.consumers == (("user", 0), ("user", 1))
    assert output.consumer_count == 2


def test_a_tuple_is_taken_apart() -> None:
    made = graph(
        *CONSTANTS,
        op("split", outputs=3),
        op("depend", "split", op="Depend", outputs=3),
        item("second", "depend", "1", (7,)),
        item("last", "split", "-1"),
        op("user", "second", "last", "split"),
    )
    assert ports(made.node("user").inputs) == [(0, "split", 1, None), (1, "split", 2, None), (2, "split", 0, None)]
    assert made.resolve("depend", 2) == Resolved("op", "split", 2)
    assert made.node("split").outputs[1].consumers == (("user", 0),)


def test_the_shape_of_a_tuple_element_comes_from_where_it_is_taken_out() -> None:
    split = NodeRecord("split", "split", "Split", "op", outputs=[TensorType("float32")] * 2)
    made = graph(*CONSTANTS, split, item("second", "split", "1", (7,)), op("user", "second"))
    assert [output.type.shape for output in made.node("split").outputs] == [None, (7,)]
    assert made.node("user").inputs[0].type == TensorType("float32", (7,))


def test_a_made_up_tuple_gives_one_port_an_element() -> None:
    made = graph(
        *CONSTANTS,
        graph_input("x"),
        op("a", "x", outputs=2),
        op("inner", "a:1", "x", op="MakeTuple", outputs=2),
        op("outer", "a", "inner", op="MakeTuple", outputs=2),
        op("concat", "outer", "1"),
        item("of inner", "outer", "1"),
        item("x again", "of inner", "1"),
        op("user", "x again", "inner:1"),
    )
    assert ports(made.node("concat").inputs) == [(0, "a", 0, 0), (0, "a", 1, 1), (0, "x", 0, 2), (1, "1", 0, None)]
    assert ports(made.node("user").inputs) == [(0, "x", 0, None), (1, "x", 0, None)]
    assert made.resolve("outer", 0) == Resolved("op", "a", 0)
    assert made.resolve("inner", 1) == Resolved("input", "x", 0)
    assert [edge.input for edge in made.lineage("concat").edges] == [0, 0, 0, 1]


def test_what_leads_nowhere_stays_what_it_is() -> None:
    made = graph(
        *CONSTANTS,
        op("state", op="UpdateState"),
        op("load", op="Load"),
        op("dynamic", op="TupleGetItem"),
        item("at unknown", "state", "unknown"),
        op("lost", "gone", op="Depend"),
        op("user", "state", "gone", "load"),
    )
    for name in ("state", "load", "dynamic", "at unknown", "lost"):
        assert made.resolve(name) == Resolved("op", name, 0)
    assert ports(made.node("user").inputs) == [(0, "state", 0, None), (1, "", 0, None), (2, "load", 0, None)]


def test_circles_and_records_out_of_order() -> None:
    made = graph(
        op("user", "late", "c"),
        op("late", "later", op="Depend"),
        op("later", "w", op="Load"),
        parameter("w"),
        op("a", "b", op="Depend"),
        op("b", "a", op="Depend"),
        op("self", "self", "w", op="MakeTuple", outputs=2),
        op("c", "self", op="Depend", outputs=2),
    )
    assert made.resolve("late") == Resolved("parameter", "w", 0)
    assert made.resolve("a").name in ("a", "b")
    assert ports(made.node("user").inputs) == [(0, "w", 0, None), (1, "w", 0, 0)]


def test_inputs_keep_their_number_and_data_inputs_have_one_of_their_own() -> None:
    made = graph(parameter("w"), op("state", op="UpdateState"), op("a", "^state", "w", "^w", "w"))
    assert [(port.index, port.control, port.data_index) for port in made.node("a").inputs] == [
        (0, True, None),
        (1, False, 0),
        (2, True, None),
        (3, False, 1),
    ]


def test_an_optimizers_output_is_the_parameter_that_it_stands_for() -> None:
    inputs = ["w", "m", "v", "p1", "p2", "lr", "b1", "b2", "eps", "load", "^state"]
    unshaped = [TensorType("float32")] * 3
    made = graph(
        *map(parameter, ("w", "m", "v", "p1", "p2", "lr", "b1", "b2", "eps", "g")),
        constant("2", 2),
        op("state", op="UpdateState"),
        op("load", "g", op="Load"),
        NodeRecord(
            "adam", "adam", "Adam", "op", [InputRef(one.strip("^"), 0, one[0] == "^") for one in inputs], unshaped
        ),
        item("updated v", "adam", "2"),
    )
    assert [made.resolve("adam", slot).name for slot in range(3)] == ["w", "m", "v"]
    assert made.resolve("updated v") == Resolved("parameter", "v", 0)
    assert [output.type for output in made.node("adam").outputs] == [FLOAT] * 3
    assert made.nodes(category="weight") == ["w"]


def test_an_optimizer_that_works_on_no_parameter_keeps_its_outputs() -> None:
    made = graph(op("a"), parameter("m"), op("momentum", "a", "m", "a", "a", "a", op="ApplyMomentum"))
    assert made.resolve("momentum") == Resolved("op", "momentum", 0)
    assert made.nodes(category="weight") == []


def test_slots_and_names_that_are_not_there() -> None:
    made = graph(op("a", outputs=2), op("none", outputs=0))
    with pytest.raises(BadRequest, match="a has 2 outputs, there is no slot 2"):
        made.resolve("a", 2)
    with pytest.raises(BadRequest):
        made.resolve("a", -1)
    with pytest.raises(UnknownNode):
        made.resolve("b")
    assert made.resolve("none") == Resolved("op", "none", 0)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_table_of_optimizers_agrees_with_itself(name: str) -> None:
    update = OPTIMIZERS[name]
    assert len(set(update.in_place)) == len(update.in_place) > 0
    assert update.gradient not in update.in_place
    assert update.weight is None or update.weight == update.in_place[0]
    assert {shown for shown in update.shown if shown is not None} <= set(update.in_place)
    assert name not in FOLDED_OPS
