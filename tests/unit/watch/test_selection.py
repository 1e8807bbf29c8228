"""Which nodes a selection covers, on its own and against a plain reading of the rules."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.append(str(Path(__file__).parents[1] / "graph"))
import graph_samples as make

from stepscope.core.errors import BadRequest, UnknownNode
from stepscope.core.graph import Graph
from stepscope.core.watch.records import Rule, Selection
from stepscope.core.watch.selection import Watched, tick
from stepscope.protocol.graphs import records
from stepscope.testing.graphs import transformer


def small() -> Graph:
    """Two layers in `net`, a loss, a gradient, an optimizer; `w1` and `shared` are read in `net/a` first."""
    return make.graph(
        make.graph_input("x"),
        make.parameter("w1"),
        make.parameter("w2"),
        make.parameter("shared"),
        make.parameter("unread"),
        make.constant("one", 1),
        make.op("net/a/Load-op0", "w1", op="Load"),
        make.op("net/a/MatMul-op0", "x", "net/a/Load-op0", "one", op="MatMul"),
        make.op("net/a/ReLU-op0", "net/a/MatMul-op0", "shared", op="ReLU"),
        make.op("net/b/MatMul-op1", "net/a/ReLU-op0", "w2", "shared", op="MatMul"),
        make.op("Loss-op0", "net/b/MatMul-op1"),
        make.op("Gradients/net/b/MatMul-op2", "Loss-op0", op="MatMul"),
        make.op("opt/ApplyMomentum-op0", "w1", "one", "one", "Gradients/net/b/MatMul-op2", op="ApplyMomentum"),
        make.op("opt/ApplyMomentum-op1", "w2", "one", "one", "Gradients/net/b/MatMul-op2", op="ApplyMomentum"),
    )


OPS = ["net/a/MatMul-op0", "net/a/ReLU-op0", "net/b/MatMul-op1", "Loss-op0", "Gradients/net/b/MatMul-op2"]
APPLY = ["opt/ApplyMomentum-op0", "opt/ApplyMomentum-op1"]


@pytest.mark.parametrize(
    ("base", "names"),
    [
        ("none", []),
        ("tensor", ["x", "w1", "w2", "shared", "unread", *OPS, *APPLY]),
        ("weight", ["w1", "w2"]),
        ("gradient", ["Gradients/net/b/MatMul-op2"]),
        ("activation", ["net/a/ReLU-op0"]),
    ],
)
def test_a_base_alone(base: str, names: list[str]) -> None:
    """Nodes that only pass values on, and constants, are in none."""
    watched = Watched(small(), Selection(base))
    assert watched.names() == names
    assert watched.count == len(names)
    assert all((name in watched) == (name in names) for name in [*OPS, "w1", "one", "net/a/Load-op0", "nowhere"])


def test_a_base_that_there_is_not() -> None:
    with pytest.raises(BadRequest):
        Watched(small(), Selection("everything"))


def test_a_base_narrowed_to_types_of_operation() -> None:
    assert Watched(small(), Selection("tensor", ("matmul",))).names() == [name for name in OPS if "MatMul" in name]
    assert Watched(small(), Selection("activation", ("tanh",))).names() == []


def test_a_scope_takes_its_ops_and_what_they_read_first() -> None:
    watched = Watched(small(), Selection("none", rules=(Rule("net/a", True, scope=True),)))
    assert watched.names() == ["x", "w1", "shared", "net/a/MatMul-op0", "net/a/ReLU-op0"]


def test_a_scope_is_a_path_not_a_part_of_a_name() -> None:
    """The original also took `Gradients/net/b` for `net/b`."""
    watched = Watched(small(), Selection("none", rules=(Rule("net/b", True, scope=True),)))
    assert watched.names() == ["w2", "net/b/MatMul-op1"]
    assert Watched(small(), Selection("none", rules=(Rule("net/", True, scope=True),))).count == 0


def test_the_last_tick_decides() -> None:
    rules = [Rule("net", True, scope=True), Rule("net/a", False, scope=True), Rule("w1", True)]
    assert Watched(small(), Selection("none", rules=tuple(rules))).names() == ["w1", "w2", "net/b/MatMul-op1"]
    rules.append(Rule("net", False, scope=True))
    assert Watched(small(), Selection("none", rules=tuple(rules))).names() == []


def test_rules_for_what_is_not_there_say_nothing() -> None:
    rules = (Rule("gone", True), Rule("gone", True, scope=True), Rule("w1", True, graph="another"), Rule("one", True))
    assert Watched(small(), Selection("none", rules=rules)).names() == []
    assert Watched(small(), Selection("none", rules=(Rule("w1", True, graph="graph"),))).names() == ["w1"]


def test_counts_and_states() -> None:
    watched = Watched(small(), Selection("none", rules=(Rule("net/a", True, scope=True), Rule("w2", True))))
    assert (watched.count_below("net"), watched.total_below("net")) == (6, 7)
    assert (watched.count_below(), watched.total_below()) == (6, 12)
    assert watched.scope_states(["", "net", "net/a", "net/b", "opt", "gone"]) == [2, 2, 1, 2, 0, -1]
    assert watched.node_states(["w1", "unread", "one", "net/a/Load-op0", "gone"]) == [1, 0, -1, -1, -1]
    with pytest.raises(UnknownNode):
        watched.count_below("gone")


def test_a_scope_with_nothing_to_watch() -> None:
    graph = make.graph(make.parameter("w"), make.op("a/Load-op0", "w", op="Load"), make.op("b/Add-op0", "a/Load-op0"))
    assert Watched(graph, Selection("tensor")).scope_states(["a", "b"]) == [-1, 1]


def test_a_graph_without_nodes() -> None:
    watched = Watched(make.graph(), Selection("weight", ("relu",), (Rule("", True, scope=True),)))
    assert (watched.count, watched.names(), watched.scope_states([""])) == (0, [], [-1])


# ---------------------------------------------------------------- ticking


def test_a_tick_on_a_scope_drops_those_below_it() -> None:
    below = [Rule("net/a", False, scope=True), Rule("net/a/ReLU-op0", True), Rule("other/Add-op0", True)]
    after = tick(Selection("none", rules=tuple(below)), [Rule("net", True, scope=True)])
    assert after.rules == (Rule("other/Add-op0", True), Rule("net", True, scope=True))
    assert tick(after, [Rule("", False, scope=True)]).rules == (Rule("", False, scope=True),)


def test_ticks_below_a_scope_stay() -> None:
    rules = (Rule("net", True, scope=True), Rule("net/a", False, scope=True), Rule("net/a/ReLU-op0", True))
    assert tick(Selection("none"), rules).rules == rules


def test_ticking_and_unticking_does_not_grow() -> None:
    selection = Selection("weight", ("relu",))
    for number in range(10):
        selection = tick(
            selection, [Rule("net/a/ReLU-op0", number % 2 == 0), Rule("net/a", number % 2 == 1, scope=True)]
        )
    assert len(selection.rules) == 1
    assert (selection.base, selection.ops) == ("weight", ("relu",))


def test_ticks_of_one_graph_leave_those_of_others() -> None:
    everywhere, here, there = (
        Rule("net/a", True, True),
        Rule("net", False, True, "here"),
        Rule("net", False, True, "there"),
    )
    assert tick(Selection("none"), [everywhere, here]).rules == (everywhere, here)
    assert tick(Selection("none"), [here, there]).rules == (here, there)
    assert tick(Selection("none"), [here, Rule("net", True, True)]).rules == (Rule("net", True, True),)


# ---------------------------------------------------------------- against a plain reading of the rules


@cache
def _generated() -> Graph:
    proto = transformer(200)
    return Graph(proto.name, records(proto))


def _plainly(graph: Graph, selection: Selection) -> list[str]:
    """Node by node, rule by rule."""
    names, home = graph.nodes(), {}
    for name in names:
        node = graph.node(name)
        if node.kind == "op":
            home[name] = node.scope
            for port in node.inputs:
                if port.node and not port.control:
                    home.setdefault(port.node, node.scope)
    result = []
    for name in names:
        node = graph.node(name)
        if node.kind == "constant":
            continue
        on = selection.base == "tensor" or (selection.base != "none" and selection.base in node.categories)
        if selection.ops:
            on = on and node.kind == "op" and node.op.lower() in selection.ops
        for rule in selection.rules:
            place = home.get(name, "")
            covers = place == rule.path or f"{place}/".startswith(f"{rule.path}/") or not rule.path
            if rule.graph in ("", graph.name) and (covers if rule.scope else rule.path == name):
                on = rule.on
        if on:
            result.append(name)
    return result


@st.composite
def selections(draw: st.DrawFn) -> Selection:
    graph = _generated()
    scopes, nodes = graph.scope_paths(), graph.nodes(folded=True)
    names = st.sampled_from([graph.name, graph.name, "", "", "another"])
    scope_rules = st.builds(Rule, st.sampled_from([*scopes, "gone"]), st.booleans(), st.just(True), names)
    node_rules = st.builds(Rule, st.sampled_from([*nodes, "gone"]), st.booleans(), st.just(False), names)
    base = draw(st.sampled_from(["none", "tensor", "weight", "gradient", "activation"]))
    ops = draw(st.sampled_from([(), (), ("matmul",), ("matmul", "gelu")]))
    return Selection(base, ops, tuple(draw(st.lists(scope_rules | node_rules, max_size=12))))


@given(selections())
@settings(deadline=None)
def test_as_a_plain_reading_of_the_rules(selection: Selection) -> None:
    graph = _generated()
    watched = Watched(graph, selection)
    names = _plainly(graph, selection)
    assert watched.names() == names
    scopes = graph.scope_paths()
    below = {path: Watched(graph, Selection("none", rules=(Rule(path, True, True),))).names() for path in scopes[::7]}
    for path, all_below in below.items():
        count = len(set(all_below) & set(names))
        assert watched.count_below(path) == count
        assert watched.total_below(path) == len(all_below)
        state = -1 if not all_below else 0 if not count else 1 if count == len(all_below) else 2
        assert watched.scope_states([path]) == [state]


@given(selections(), st.data())
@settings(deadline=None)
def test_ticking_changes_no_more_than_it_says(selection: Selection, data: st.DataObject) -> None:
    """Whatever rules are dropped, the nodes are those that all rules in a row would give."""
    ticks = data.draw(selections()).rules
    plain = Selection(selection.base, selection.ops, selection.rules + ticks)
    after = tick(selection, ticks)
    assert len(after.rules) <= len(plain.rules)
    assert Watched(_generated(), after).names() == Watched(_generated(), plain).names()
