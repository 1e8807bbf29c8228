"""Scopes: what they show, checked by hand on small graphs and against a slow count on random ones."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import asdict

import pytest
from graph_samples import constant, graph, graph_input, op, parameter

from stepscope.core.errors import BadRequest, UnknownNode
from stepscope.core.graph import Graph, NodeRecord, ScopeView


def small() -> Graph:
    return graph(
        graph_input("x"),
        parameter("w"),
        constant("axis", 1),
        op("net/conv/Load-op0", "w", op="Load"),
        op("net/conv/Conv2D-op0", "x", "net/conv/Load-op0", op="Conv2D"),
        op("net/relu/ReLU-op0", "net/conv/Conv2D-op0", op="ReLU"),
        op("net/Concat-op0", "net/conv/Conv2D-op0", "net/relu/ReLU-op0", "axis", op="Concat"),
        op("loss/Sum-op0", "net/Concat-op0", "^net/relu/ReLU-op0", op="ReduceSum"),
        op("Gradients/net/ReluGrad-op0", "loss/Sum-op0", "net/relu/ReLU-op0", "net/relu/ReLU-op0", op="ReluGrad"),
        op("Gradients/net/TupleGetItem-op0", op="TupleGetItem"),
        op("only/folded/Load-op0", "w", op="Load"),
    )


def names(view: ScopeView) -> list[str]:
    return [child.name for child in view.children]


def edges(view: ScopeView) -> dict[tuple[str, str], tuple[int, int]]:
    return {(edge.source, edge.target): (edge.tensors, edge.control) for edge in view.edges}


def test_the_root() -> None:
    view = small().scope()
    assert names(view) == ["net", "loss", "Gradients"]
    assert (view.path, view.total, view.nodes, view.graph_inputs) == ("", 3, 5, 1)
    assert edges(view) == {("net", "loss"): (1, 1), ("net", "Gradients"): (1, 0), ("loss", "Gradients"): (1, 0)}
    net, _, gradients = view.children
    assert (net.kind, net.path, net.nodes) == ("scope", "net", 3)
    assert net.categories == {"parameter": 1, "activation": 1}
    assert gradients.categories == {"gradient": 1}
    assert (net.inputs, net.outputs, net.badges) == (0, 0, ())


def test_an_inner_scope_counts_what_crosses_its_border() -> None:
    view = small().scope("net")
    assert names(view) == ["conv", "relu", "Concat-op0"]
    assert edges(view) == {("conv", "relu"): (1, 0), ("conv", "Concat-op0"): (1, 0), ("relu", "Concat-op0"): (1, 0)}
    conv, relu, concat = view.children
    assert (conv.outputs, relu.outputs, concat.outputs) == (0, 1, 1)
    assert (concat.kind, concat.path, concat.op, concat.nodes) == ("node", "net/Concat-op0", "Concat", 1)
    assert [(badge.name, badge.kind, badge.input, badge.text) for badge in concat.badges] == [
        ("axis", "constant", 2, "1")
    ]
    assert view.graph_inputs == 0


def test_badges_are_what_an_op_reads_through_folded_nodes_too() -> None:
    (conv,) = small().scope("net/conv").children
    assert [(badge.name, badge.kind, badge.input) for badge in conv.badges] == [
        ("x", "input", 0),
        ("w", "parameter", 1),
    ]
    assert conv.categories == {"parameter": 1}


def test_a_scope_of_folded_nodes_is_there_but_has_nothing_to_show() -> None:
    view = small().scope("only/folded")
    assert (view.total, view.nodes, view.children) == (0, 0, ())


def test_pages_count_what_is_on_the_other_pages() -> None:
    chain = graph(op("n0"), *(op(f"n{number}", f"n{number - 1}") for number in range(1, 10)))
    view = chain.scope(offset=3, limit=4)
    assert names(view) == ["n3", "n4", "n5", "n6"]
    assert view.total == 10
    assert list(edges(view)) == [("n3", "n4"), ("n4", "n5"), ("n5", "n6")]
    assert [(child.inputs, child.outputs) for child in view.children] == [(1, 0), (0, 0), (0, 0), (0, 1)]
    assert chain.scope(offset=10).children == ()
    assert names(chain.scope(offset=9)) == ["n9"]


def test_the_page_around_an_op_or_a_scope() -> None:
    nodes = [op(f"net/{number}-Cell/Add-op0") if number % 3 else op(f"net/Add-op{number}") for number in range(20)]
    of = graph(*nodes)
    for number, node in enumerate(nodes):
        view = of.scope("net", limit=3, around=node.name)
        assert view.offset == number // 3 * 3
        assert node.name.split("/")[1] in names(view)
    assert of.scope("net", limit=3, around="net/5-Cell").offset == 3
    assert of.scope("", limit=1, around="net/5-Cell/Add-op0").offset == 0
    assert of.scope("net/5-Cell", offset=7, limit=5, around="net/Add-op6").offset == 0  # it is not in there
    with pytest.raises(UnknownNode):
        of.scope("net", around="net/nothing")


@pytest.mark.parametrize(("offset", "limit"), [(-1, 5), (0, 0), (0, -2)])
def test_bad_pages(offset: int, limit: int) -> None:
    with pytest.raises(BadRequest):
        small().scope(offset=offset, limit=limit)


def test_unknown_scopes_name_the_nearest() -> None:
    with pytest.raises(UnknownNode) as error:
        small().scope("net/con")
    assert "net/conv" in error.value.nearest
    with pytest.raises(UnknownNode):
        small().scope("net/Concat-op0")  # a node is no scope


def test_long_constants_are_shortened_in_badges() -> None:
    made = graph(constant("c", tuple(range(100))), constant("t", None), op("a", "c", "t"))
    text, nothing = (badge.text for badge in made.scope().children[0].badges)
    assert len(text) == 40
    assert text.startswith("(0, 1, 2,")
    assert text.endswith("…")
    assert nothing == ""


def test_scopes_far_down() -> None:
    deep = "/".join(f"s{number}" for number in range(3000))
    made = graph(op("a", name=f"{deep}/a"), op("b", "a", name=f"{deep}/b"), op("c", "b"))
    assert made.scope().children[0].nodes == 2
    assert edges(made.scope(deep)) == {("a", "b"): (1, 0)}


def test_an_empty_graph() -> None:
    empty = graph()
    assert len(empty) == 0
    assert empty.scope().children == ()
    assert empty.nodes() == []
    assert empty.search("x").total == 0
    assert empty.summary().nodes == 0


def test_the_same_scope_on_both_sides_of_another_is_one_child() -> None:
    made = graph(op("a/x"), op("b/x", "a/x"), op("a/y", "b/x"))
    assert names(made.scope()) == ["a", "b"]
    assert edges(made.scope()) == {("a", "b"): (1, 0), ("b", "a"): (1, 0)}


def random_graph(rng: random.Random) -> list[NodeRecord]:
    nodes = [parameter(f"w{number}") for number in range(3)]
    for number in range(rng.randrange(1, 60)):
        path = "".join(f"{rng.choice('ab')}{rng.randrange(2)}/" for _ in range(rng.randrange(4)))
        inputs = rng.sample(nodes, min(len(nodes), rng.randrange(4)))
        refs = [f"{'^' * (rng.random() < 0.2)}{one.id}:{rng.randrange(len(one.outputs))}" for one in inputs]
        nodes.append(op(f"{path}n{number}", *refs, outputs=rng.randrange(1, 3)))
    return nodes


@pytest.mark.parametrize("seed", range(40))
def test_every_scope_and_page_agrees_with_a_slow_count(seed: int) -> None:
    rng = random.Random(seed)
    nodes = random_graph(rng)
    made, kinds = graph(*nodes), {one.id: one.kind for one in nodes}
    for path in made.scope_paths():
        whole = made.scope(path, limit=1000)
        limit = rng.randrange(1, 8)
        for offset in range(0, whole.total + 1, limit):
            view = made.scope(path, offset, limit)
            assert [child.path for child in view.children] == [
                child.path for child in whole.children[offset : offset + limit]
            ]
            check_page(view, nodes, kinds)


def check_page(view: ScopeView, nodes: list[NodeRecord], kinds: dict[str, str]) -> None:
    def place(name: str) -> str | None:
        for child in view.children:
            if name == child.path or (child.kind == "scope" and name.startswith(child.path + "/")):
                return child.name
        return None

    between: dict[tuple[str | None, str | None], set[tuple[str, int]]] = defaultdict(set)
    controls: dict[tuple[str, str], int] = defaultdict(int)
    for node in nodes:
        for source, slot, control in node.inputs:
            start, end = place(source) if kinds[source] == "op" else None, place(node.id)
            if kinds[source] != "op" or start == end:
                continue
            if not control:
                between[start, end].add((source, slot))
            elif start is not None and end is not None:
                controls[start, end] += 1
    expected = {
        pair: (len(between.get(pair, ())), controls.get(pair, 0)) for pair in [*between, *controls] if None not in pair
    }
    assert edges(view) == expected
    for child in view.children:
        assert child.inputs == len(between.get((None, child.name), ()))
        assert child.outputs == len(between.get((child.name, None), ()))


def test_views_are_plain_data() -> None:
    view = asdict(small().scope("net"))
    assert view["children"][2]["badges"] == ({"name": "axis", "kind": "constant", "input": 2, "text": "1"},)
    assert view["edges"][0] == {"source": "conv", "target": "relu", "tensors": 1, "control": 0}
