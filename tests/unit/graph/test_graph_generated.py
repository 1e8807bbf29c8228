"""The made-up graphs of any size, and what must hold for every graph."""

from __future__ import annotations

import pytest

from stepscope.core.graph import Graph
from stepscope.protocol.graphs import records
from stepscope.testing.graphs import transformer


@pytest.fixture(scope="module")
def graph() -> Graph:
    return Graph("made", records(transformer(1000)))


@pytest.mark.parametrize("nodes", [170, 999, 1000, 1137])
def test_sizes_are_exact_and_graphs_repeatable(nodes: int) -> None:
    proto = transformer(nodes)
    assert len(proto.node) == nodes
    assert proto == transformer(nodes)
    assert Graph("made", records(proto)).summary().nodes + Graph("made", records(proto)).summary().folded == nodes


def test_too_small() -> None:
    with pytest.raises(ValueError, match="one layer"):
        transformer(10)


def test_producers_come_before_consumers() -> None:
    seen: set[str] = set()
    for record in records(transformer(400)):
        assert all(one.source in seen for one in record.inputs)
        seen.add(record.id)


def test_every_tensor_shows_where_its_ends_part(graph: Graph) -> None:
    expected = set()
    for name in graph.nodes():
        for port in graph.node(name).inputs:
            if not port.control and graph.node(port.node).kind == "op":
                expected.add((port.node, port.slot, child_that_parts(port.node, name)))
    shown = sum(edge.tensors for path in graph.scope_paths() for edge in graph.scope(path, limit=10**6).edges)
    assert shown == len(expected) > 0


def child_that_parts(source: str, target: str) -> str:
    """The first scope (or the node) on the way down to `target` that does not hold `source`."""
    parts = target.split("/")
    same = 0
    while source.split("/")[: same + 1] == parts[: same + 1]:
        same += 1
    return "/".join(parts[: same + 1])


def test_each_op_is_in_exactly_one_scope(graph: Graph) -> None:
    children = [child for path in graph.scope_paths() for child in graph.scope(path, limit=10**6).children]
    ops = [name for name in graph.nodes() if graph.node(name).kind == "op"]
    assert sorted(child.path for child in children if child.kind == "node") == sorted(ops)
    assert sum(child.nodes for child in graph.scope().children) == len(ops)


def test_consumers_and_inputs_say_the_same(graph: Graph) -> None:
    for name in graph.nodes():
        for output in graph.node(name).outputs:
            for consumer, index in output.consumers:
                ports = [port for port in graph.node(consumer).inputs if port.index == index]
                assert (name, output.slot) in [(port.node, port.slot) for port in ports]


def test_weights_have_gradients(graph: Graph) -> None:
    weights = graph.nodes(category="weight")
    assert weights == [name for name in graph.nodes(category="parameter") if graph.node(name).trainable]
    for name in weights:
        (adam,) = (
            consumer for consumer, _ in graph.node(name).outputs[0].consumers if graph.node(consumer).op == "Adam"
        )
        gradient = graph.node(adam).inputs[9]
        assert gradient.node.startswith("Gradients/")
        assert gradient.type == graph.node(name).outputs[0].type
