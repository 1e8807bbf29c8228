"""What is drawn of an opened graph: checked by hand, and against a slow count on random graphs."""

from __future__ import annotations

import random
from collections import defaultdict
from functools import partial

import pytest
from graph_samples import graph, lenet, op, parameter
from test_graph_scopes import random_graph, small

from stepscope.core.errors import UnknownNode
from stepscope.core.graph import Graph, GraphView
from stepscope.core.graph.frontier import PAGE


def ids(view: GraphView) -> list[str]:
    return [node.id for node in view.nodes]


def edges(view: GraphView) -> dict[tuple[str, str], tuple[int, int]]:
    return {
        (view.nodes[edge.source].id, view.nodes[edge.target].id): (edge.tensors, edge.control) for edge in view.edges
    }


def layers(count: int, first: str = "") -> Graph:
    """`count` layers of two ops in a row, and an optimizer op for each."""
    nodes, last = [parameter("w"), op("in")], "in"
    for number in range(count):
        path = f"net/layers.{number}"
        kind = "Conv" if f"{number}" == first else "MatMul"
        nodes += [op(f"{path}/{kind}-op0", last, "w", op=kind), op(f"{path}/ReLU", f"{path}/{kind}-op0", op="ReLU")]
        last = f"{path}/ReLU"
    nodes += [op(f"optimizer/Adam-op{number}", f"net/layers.{number}/ReLU", op="Adam") for number in range(count)]
    return graph(*nodes)


def test_what_is_closed_shows_as_in_the_scope_view() -> None:
    view = small().view()
    assert ids(view) == ["net", "loss", "Gradients"]
    assert edges(view) == {("net", "loss"): (1, 1), ("net", "Gradients"): (1, 0), ("loss", "Gradients"): (1, 0)}
    assert [(node.kind, node.role, node.nodes, node.parameters) for node in view.nodes] == [
        ("scope", "forward", 3, 1),
        ("scope", "forward", 1, 0),
        ("scope", "gradient", 1, 0),
    ]
    assert (view.total, view.offset, view.shown, view.refused, view.full) == (3, 0, 3, (), False)


def test_edges_end_at_the_deepest_drawn() -> None:
    view = small().view(["net", "Gradients"])
    assert ids(view) == ["net", "loss", "Gradients", "net/conv", "net/relu", "net/Concat-op0", "Gradients/net"]
    assert edges(view) == {
        ("net/conv", "net/relu"): (1, 0),
        ("net/conv", "net/Concat-op0"): (1, 0),
        ("net/relu", "net/Concat-op0"): (1, 0),
        ("net/Concat-op0", "loss"): (1, 0),
        ("net/relu", "loss"): (0, 1),
        ("net/relu", "Gradients/net"): (1, 0),
        ("loss", "Gradients/net"): (1, 0),
    }
    net, concat = view.nodes[0], view.nodes[5]
    assert (net.open, net.total, net.shown) == (True, 3, 3)
    assert (concat.parent, concat.op, [badge.text for badge in concat.badges]) == ("net", "Concat", ["1"])
    types = {view.nodes[edge.target].id: edge.type for edge in view.edges}
    assert types["net/relu"] is not None
    assert types["net/relu"].shape == (2, 3)
    assert [edge.type for edge in view.edges if not edge.tensors] == [None]


def test_the_order_in_which_scopes_are_given_does_not_matter() -> None:
    assert set(ids(small().view(["net/conv", "net"]))) == set(ids(small().view(["net", "net/conv"])))


def test_what_can_not_be_opened_is_told() -> None:
    view = small().view(["net/conv", "loss", "no/such", "net/Concat-op0"])
    assert view.refused == ("net/conv", "no/such", "net/Concat-op0")


def test_repeated_layers_are_one_stack() -> None:
    made = layers(12)
    view = made.view(["net", "optimizer"])
    assert [(node.id, node.kind, node.name, node.members, node.nodes) for node in view.nodes[3:]] == [
        ("net/layers.0…", "stack", "layers.0…11", 12, 24),
        ("optimizer/Adam-op0…", "stack", "Adam-op0…11", 12, 12),
    ]
    assert edges(view) == {("in", "net/layers.0…"): (1, 0), ("net/layers.0…", "optimizer/Adam-op0…"): (12, 0)}
    assert view.nodes[3].parameters == 1
    assert view.nodes[4].op == "Adam"
    opened = made.view(["net", "net/layers.0…"])
    assert ids(opened)[3:] == ["net/layers.0…"] + [f"net/layers.{number}" for number in range(12)]
    assert edges(opened)["net/layers.3", "net/layers.4"] == (1, 0)
    assert {node.parent for node in opened.nodes[4:]} == {"net/layers.0…"}


def test_a_member_opens_its_stack() -> None:
    view = layers(5).view(["net", "net/layers.3"])
    assert "net/layers.3/ReLU" in ids(view)
    assert view.refused == ()


def test_a_layer_of_another_structure_is_not_in_the_stack() -> None:
    view = layers(12, first="5").view(["net"])
    assert [node.name for node in view.nodes[3:]] == ["layers.0…4", "layers.5", "layers.6…11"]


def test_a_chain_of_ops_is_no_stack() -> None:
    chain = graph(op("n0"), *(op(f"n{number}", f"n{number - 1}") for number in range(1, 10)))
    assert len(chain.view().nodes) == 10


def test_pages() -> None:
    chain = graph(op("a"), op("b/n0", "a"), *(op(f"b/n{number}", f"b/n{number - 1}") for number in range(1, 700)))
    view = chain.view(["b"], {"b": 300})
    assert (view.nodes[1].total, view.nodes[1].offset, view.nodes[1].shown) == (700, 300, PAGE)
    assert view.nodes[2].id == "b/n300"
    assert edges(view)["a", "b"] == (1, 0)  # it goes to a page not shown
    assert chain.view(["b"], {"b": 9999}).nodes[1].offset == 0


def test_no_more_than_fit_are_drawn() -> None:
    chains = ([op(f"{scope}/n{at}", f"{scope}/n{at - 1}") for at in range(249)] for scope in "abcdefghi")
    view = graph(*(node for chain in chains for node in chain)).view("abcdefghi")
    assert len(view.nodes) == 1000
    assert view.full
    assert view.refused == ("e", "f", "g", "h", "i")
    assert (view.nodes[3].total, view.nodes[3].shown) == (249, 1000 - 9 - 3 * 249)


def test_what_must_be_open_to_see_a_node() -> None:
    made = layers(12)
    found = made.reveal("net/layers.7/ReLU")
    assert [one.id for one in found.open] == ["", "net", "net/layers.0…", "net/layers.7"]
    assert "net/layers.7/ReLU" in ids(made.view([one.id for one in found.open]))
    assert made.reveal("w").shown == "net/layers.0/MatMul-op0"
    assert [one.id for one in made.reveal("net/layers.7").open] == ["", "net", "net/layers.0…"]
    assert made.reveal("in").open[0].id == ""
    with pytest.raises(UnknownNode):
        made.reveal("nothing")


def test_every_node_of_a_real_graph_can_be_seen() -> None:
    made = lenet()
    for name in made.nodes():
        found = made.reveal(name)
        if not found.shown:
            continue
        view = made.view([one.id for one in found.open], {one.id: one.offset for one in found.open})
        assert found.shown in ids(view)
        assert view.refused == ()


def test_an_empty_graph() -> None:
    view = graph().view(["x"])
    assert (view.nodes, view.edges, view.refused) == ((), (), ("x",))


def deepest(drawn: set[str], name: str) -> str:
    while name not in drawn:
        name = name.rpartition("/")[0]
    return name


@pytest.mark.parametrize("seed", range(40))
def test_edges_agree_with_a_slow_count(seed: int) -> None:
    rng = random.Random(seed)
    nodes = random_graph(rng)
    made, kinds = graph(*nodes), {one.id: one.kind for one in nodes}
    opened: list[str] = []
    for _ in range(4):
        closed = [node.id for node in made.view(opened).nodes if node.kind != "node" and not node.open]
        opened += rng.sample(closed, len(closed) // 2)
        view = made.view(opened)
        assert view.refused == ()
        place = partial(deepest, set(ids(view)))

        if any(node.kind == "stack" for node in view.nodes):
            continue
        tensors: dict[tuple[str, str], set[tuple[str, int]]] = defaultdict(set)
        controls: dict[tuple[str, str], int] = defaultdict(int)
        for node in nodes:
            for source, slot, control in node.inputs:
                if kinds[source] != "op" or place(source) == place(node.id):
                    continue
                if control:
                    controls[place(source), place(node.id)] += 1
                else:
                    tensors[place(source), place(node.id)].add((source, slot))
        assert edges(view) == {
            pair: (len(tensors.get(pair, ())), controls.get(pair, 0)) for pair in [*tensors, *controls]
        }
