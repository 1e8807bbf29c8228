"""What a user ticks, checked against the graphs, as rules of a selection. Takes time where it is much: for a thread."""

from __future__ import annotations

from collections.abc import Sequence

from stepscope.core.errors import UnknownNode
from stepscope.core.graph.graph import Graph
from stepscope.core.watch.records import Rule, Selection
from stepscope.server.errors import UnknownInField, WrongField
from stepscope.server.watch.coverage import is_there, places_of
from stepscope.server.watch.models import CreateRequest, NodeFilter, TickRequest


def rules_of(request: TickRequest, graphs: Sequence[Graph]) -> list[Rule]:
    """Raises WrongField and UnknownInField: then nothing of it counts."""
    if (request.ticks is None) == (request.filter is None):
        raise WrongField("either ticks or a filter is needed", "ticks", "no_nodes")
    if request.ticks is not None:
        check(request.ticks, graphs, "ticks")
        return request.ticks
    assert request.filter is not None
    return _found(request.filter, graphs, request.on)


def selection_of(request: CreateRequest, graphs: Sequence[Graph]) -> Selection | None:
    """None where the request says nothing of nodes. Raises WrongField and UnknownInField."""
    if request.nodes is None and request.scopes is None and request.ticks is None and request.base is None:
        return None
    nodes = [Rule(path, True, graph=request.graph) for path in request.nodes or ()]
    scopes = [Rule(path, True, scope=True, graph=request.graph) for path in request.scopes or ()]
    ticks = request.ticks or []
    base = request.base or "none"
    if base == "none" and not any(rule.on for rule in (*nodes, *scopes, *ticks)):
        raise WrongField(
            "a watchpoint needs nodes: tick some, or leave the choice to its condition", "nodes", "no_nodes"
        )
    for rules, field in ((nodes, "nodes"), (scopes, "scopes"), (ticks, "ticks")):
        check(rules, graphs, field)
    return Selection(base, rules=(*scopes, *nodes, *ticks))


def check(rules: Sequence[Rule], graphs: Sequence[Graph], field: str) -> None:
    """Everything must be there; what is ticked must have a value that can be watched."""
    for rule in rules:
        if not is_there(rule, graphs):
            raise _unknown(rule, places_of(rule, graphs), field)
        if rule.on and not rule.scope and all(graph.watchable.node(rule.path) is None for graph in graphs):
            raise WrongField(f"{rule.path!r} has no value that could be watched", field, "not_watchable")


def _unknown(rule: Rule, graphs: Sequence[Graph], field: str) -> UnknownInField:
    if not graphs:
        return UnknownInField(f"the job has no graph {rule.graph!r}" if rule.graph else "no graph yet", (), field)
    nearest: list[str] = []
    for graph in graphs:
        try:
            graph.scope(rule.path, limit=1) if rule.scope else graph.node(rule.path)
        except UnknownNode as error:
            nearest += error.nearest
    what = "scope" if rule.scope else "node"
    return UnknownInField(f"no {what} {rule.path!r} in the job's graphs", nearest[:5], field)


def _found(wanted: NodeFilter, graphs: Sequence[Graph], on: bool) -> list[Rule]:
    if not (wanted.pattern or wanted.category or wanted.line):  # one tick is enough, and goes for what comes later, too
        rule = Rule(wanted.scope or "", on, scope=True, graph=wanted.graph)
        check([rule], graphs, "filter")
        return [rule]
    rules = [
        Rule(name, on, graph=graph.name)
        for graph in graphs
        if wanted.graph in ("", graph.name)
        for name in graph.nodes(wanted.pattern, wanted.category, wanted.scope, wanted.line)
        if graph.watchable.node(name) is not None
    ]
    if not rules:
        raise WrongField("there is no such node that could be watched", "filter", "no_nodes")
    return rules
