"""Where tensors come from and go to."""

from __future__ import annotations

import pytest
from graph_samples import constant, graph, op, parameter

from stepscope.core.errors import BadRequest
from stepscope.core.graph import Graph, Lineage


def diamond() -> Graph:
    return graph(
        parameter("w"),
        constant("axis", 0),
        op("load", "w", op="Load"),
        op("split", "load", "axis", outputs=2),
        op("left", "split"),
        op("right", "split:1"),
        op("join", "left", "right", "^split"),
        op("end", "join"),
    )


def distances(lineage: Lineage) -> dict[str, int]:
    return {node.name: node.distance for node in lineage.nodes}


def edges(lineage: Lineage) -> list[tuple[str, int, str, int]]:
    return [(edge.source, edge.slot, edge.target, edge.input) for edge in lineage.edges]


def test_one_hop_follows_the_slot_down_and_all_inputs_up() -> None:
    lineage = diamond().lineage("split", slot=1)
    assert distances(lineage) == {"w": -1, "axis": -1, "split": 0, "right": 1}
    assert edges(lineage) == [("w", 0, "split", 0), ("axis", 0, "split", 1), ("split", 1, "right", 0)]
    assert (lineage.name, lineage.slot, lineage.truncated) == ("split", 1, False)


def test_more_hops() -> None:
    lineage = diamond().lineage("split", slot=0, hops=9)
    assert distances(lineage) == {"w": -1, "axis": -1, "split": 0, "left": 1, "join": 2, "end": 3}
    lineage = diamond().lineage("join", hops=2)
    assert distances(lineage) == {"split": -2, "left": -1, "right": -1, "join": 0, "end": 1}
    assert edges(lineage) == [
        ("split", 0, "left", 0),
        ("split", 1, "right", 0),
        ("left", 0, "join", 0),
        ("right", 0, "join", 1),
        ("join", 0, "end", 0),
    ]


def test_of_a_folded_node_it_is_that_of_the_value() -> None:
    lineage = diamond().lineage("load")
    assert (lineage.name, distances(lineage)) == ("w", {"w": 0, "split": 1})


def test_it_is_cut_off_at_the_limit_nearest_first() -> None:
    made = graph(parameter("rate"), *(op(f"n{number}", "rate") for number in range(50)), op("late", "n0"))
    lineage = made.lineage("rate", hops=2, limit=10)
    assert distances(lineage) == {"rate": 0, **{f"n{number}": 1 for number in range(10)}}
    assert lineage.truncated
    assert not made.lineage("rate", hops=2, limit=51).truncated


def test_circles_end() -> None:
    made = graph(op("a", "b"), op("b", "a"))
    assert distances(made.lineage("a", hops=100)) == {"a": 0, "b": -1}
    assert set(edges(made.lineage("a", hops=100))) == {("a", 0, "b", 0), ("b", 0, "a", 0)}


@pytest.mark.parametrize(("hops", "limit"), [(0, 1), (1, 0), (-1, 5)])
def test_bad_requests(hops: int, limit: int) -> None:
    with pytest.raises(BadRequest):
        diamond().lineage("w", hops=hops, limit=limit)
