"""What is seen when a scope is opened: its children, and all edges below it summed up between them.

An edge shows at the one scope where its two ends lie in different children: their lowest common scope.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from stepscope.core.graph.categories import Categories
from stepscope.core.graph.columns import CONSTANT, INPUT, OP, Columns, Ints
from stepscope.core.graph.edges import EdgeNumbers, Edges
from stepscope.core.graph.scopes import Scopes
from stepscope.core.graph.views import Badge, Category, ScopeChild, ScopeEdge, ScopeView

Longs = NDArray[np.int64]
_INSIDE: tuple[Category, ...] = ("gradient", "activation")  # counted by what lies inside, the others by what is read
_READ: tuple[Category, ...] = ("weight", "parameter")
_TEXT_LENGTH = 40


class ScopeViews:
    def __init__(self, columns: Columns, edges: Edges, scopes: Scopes, categories: Categories) -> None:
        self._columns, self._edges, self._scopes, self._categories = columns, edges, scopes, categories
        self._before = {name: scopes.running_count(categories.masks[name] & scopes.visible) for name in _INSIDE}

    def view(self, scope: int, offset: int, limit: int) -> ScopeView:
        """The page of `limit` children from `offset` on. It costs what lies below these children."""
        page = _Page(self._scopes, scope, offset, limit)
        edges = self._edges_of(page)
        source, target = (page.place(nodes) for nodes in (self._edges.source[edges], self._edges.target[edges]))
        from_op, control = self._columns.kinds[self._edges.source[edges]] == OP, self._edges.control[edges]
        data = from_op & ~control & (source != target)
        tensors = self._sum_tensors(edges[data], source[data], target[data])
        order = from_op & control & (source != target)
        controls = Counter(zip(source[order].tolist(), target[order].tolist(), strict=True))
        read = ~from_op & ~control & (target >= 0)
        counts = self._count_read(edges[read], target[read])
        badges = self._badges(page, edges[read], target[read])
        children = tuple(self._child(page, place, tensors, counts, badges) for place in range(len(page.which)))
        between = dict.fromkeys(pair for pair in [*tensors, *controls] if min(pair) >= 0)
        return ScopeView(
            path=self._scopes.paths[scope],
            total=page.total,
            offset=offset,
            nodes=self._scopes.count_visible(scope),
            graph_inputs=int(np.count_nonzero(self._columns.kinds == INPUT)) if scope == 0 else 0,
            children=children,
            edges=tuple(
                ScopeEdge(children[a].name, children[b].name, tensors.get((a, b), 0), controls.get((a, b), 0))
                for a, b in between
            ),
        )

    def place_of(self, scope: int, inner: int, is_scope: bool) -> int:
        """Which place among the children of `scope` a scope or op is or lies in; -1 for none."""
        inside, own = self._scopes.contents(scope)
        first = np.concatenate([self._scopes.first[inside], own])
        around = inner if is_scope else int(self._scopes.of_node[inner])
        if around == scope and not is_scope:
            found = np.flatnonzero(own == inner) + len(inside)
        else:
            found = np.flatnonzero((inside <= around) & (around < self._scopes.end[inside]))
        return int(np.count_nonzero(first < first[found[0]])) if len(found) else -1

    def _edges_of(self, page: _Page) -> EdgeNumbers:
        """All edges with an end in what is on the page."""
        nothing = np.empty(0, np.intp)
        into = np.concatenate([nothing, *(self._edges.into_span(*span) for span in page.spans())])
        out_of = np.concatenate([nothing, *(self._edges.out_of_span(*span) for span in page.spans())])
        return np.concatenate([into, out_of[page.place(self._edges.target[out_of]) < 0]])

    def _child(
        self,
        page: _Page,
        place: int,
        tensors: dict[tuple[int, int], int],
        read: Counter[tuple[int, Category]],
        badges: dict[int, list[Badge]],
    ) -> ScopeChild:
        which, is_scope = page.which[place], page.is_scope[place]
        path = self._scopes.paths[which] if is_scope else self._columns.names[which]
        counts: dict[str, int] = {name: read[place, name] for name in _READ}
        if is_scope:
            first, last = self._scopes.span(which)
            counts |= {name: int(self._before[name][last] - self._before[name][first]) for name in _INSIDE}
        else:
            counts |= {name: int(self._categories.masks[name][which]) for name in _INSIDE}
        return ScopeChild(
            kind="scope" if is_scope else "node",
            name=path[page.prefix :],
            path=path,
            op="" if is_scope else self._columns.op(which),
            nodes=self._scopes.count_visible(which) if is_scope else 1,
            categories={name: count for name, count in counts.items() if count},
            inputs=tensors.get((-1, place), 0),
            outputs=tensors.get((place, -1), 0),
            badges=tuple(badges.get(place, ())),
        )

    def _sum_tensors(self, edges: EdgeNumbers, source: Longs, target: Longs) -> dict[tuple[int, int], int]:
        """How many different tensors go from one place on the page to another; -1 is all that is not on it."""
        width, tensors = int(max(source.max(initial=-1), target.max(initial=-1))) + 2, self._edges.tensors
        keys = np.unique(((source + 1) * width + target + 1) * tensors + self._edges.tensor[edges])
        pairs, counts = np.unique(keys // tensors, return_counts=True)
        return {
            (pair // width - 1, pair % width - 1): count
            for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True)
        }

    def _count_read(self, edges: EdgeNumbers, target: Longs) -> Counter[tuple[int, Category]]:
        """How many different weights and parameters the ops in each place read."""
        result: Counter[tuple[int, Category]] = Counter()
        pairs = np.unique(target * len(self._columns) + self._edges.source[edges])
        place, node = pairs // len(self._columns), pairs % len(self._columns)
        for name in _READ:
            places, counts = np.unique(place[self._categories.masks[name][node]], return_counts=True)
            for one, count in zip(places.tolist(), counts.tolist(), strict=True):
                result[one, name] = count
        return result

    def _badges(self, page: _Page, edges: EdgeNumbers, target: Longs) -> dict[int, list[Badge]]:
        result: dict[int, list[Badge]] = {}
        of_ops = ~np.array(page.is_scope, np.bool_)[target]
        for edge, place in sorted(zip(edges[of_ops].tolist(), target[of_ops].tolist(), strict=True)):
            result.setdefault(place, []).append(badge(self._columns, self._edges, edge))
        return result


class _Page:
    """The children of a scope that are shown, in their places: `which` is the scope or the node."""

    def __init__(self, scopes: Scopes, scope: int, offset: int, limit: int) -> None:
        self._scopes, self._scope = scopes, scope
        self._inside, self._own = scopes.contents(scope)
        order = np.argsort(np.concatenate([scopes.first[self._inside], self._own]), kind="stable")
        shown = order[offset : offset + limit]
        self.total = len(order)
        self.prefix = len(scopes.paths[scope]) + 1 if scope else 0
        self.is_scope: list[bool] = (shown < len(self._inside)).tolist()
        self.which: list[int] = np.concatenate([self._inside, self._own])[shown].tolist()
        self._places = np.full(len(order) + 1, -1, np.int64)  # the last entry is for what is in none of them
        self._places[shown] = np.arange(len(shown))

    def spans(self) -> Iterator[tuple[int, int]]:
        """The positions that each child takes up."""
        for which, is_scope in zip(self.which, self.is_scope, strict=True):
            position = int(self._scopes.position[which]) if not is_scope else 0
            yield self._scopes.span(which) if is_scope else (position, position + 1)

    def place(self, nodes: Ints) -> Longs:
        """Where each node is seen: the place of the child that it is or lies in, or -1."""
        scopes, nowhere = self._scopes, len(self._places) - 1
        first, last = scopes.span(self._scope)
        position, scope = scopes.position[nodes], scopes.of_node[nodes]
        child = np.searchsorted(self._inside, scope, "right") - 1
        own = scope == self._scope
        child[own] = len(self._inside) + np.searchsorted(self._own, nodes[own])
        child[(position < first) | (position >= last)] = nowhere
        result: Longs = self._places[child]
        return result


def badge(columns: Columns, edges: Edges, edge: int) -> Badge:
    """What an edge from a parameter, a graph input or a constant brings to the op that reads it."""
    node = int(edges.source[edge])
    number = int(edges.port[edge] - columns.input_start[edges.target[edge]])
    text = _short(columns.values.get(node)) if columns.kinds[node] == CONSTANT else ""
    return Badge(columns.names[node], columns.kind(node), number, text)


def _short(value: object) -> str:
    if value is None or hasattr(value, "shape"):
        return ""
    text = repr(value)
    return text if len(text) <= _TEXT_LENGTH else text[: _TEXT_LENGTH - 1] + "…"
