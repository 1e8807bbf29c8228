"""The graph as far as it is opened: what is drawn, and the edges between what is drawn.

Each end of an edge is moved to the deepest node drawn that it lies in. All ops below a scope are one range of
positions, so that writing the number of a drawn node over its range, outermost first, gives every op its place.
An op on a page that is not shown lies in the scope around it; edges between a scope and what is in it are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from stepscope.core.graph.categories import Categories
from stepscope.core.graph.columns import OP, Columns, Ints
from stepscope.core.graph.edges import Edges
from stepscope.core.graph.optimizers import OPTIMIZERS
from stepscope.core.graph.records import TensorType
from stepscope.core.graph.scope_view import badge
from stepscope.core.graph.scopes import Scopes
from stepscope.core.graph.stacks import Entry, Stacks
from stepscope.core.graph.views import Badge, GraphView, Opening, Reveal, Role, ViewEdge, ViewNode

MOST = 1000  # nodes drawn at once
PAGE = 300  # children of one scope drawn at once
_OPTIMIZER_SHARE = 0.5  # of the ops in a scope that is an optimizer's

TypeOf = Callable[[int, int], TensorType]


class Frontier:
    def __init__(
        self, graph: str, columns: Columns, edges: Edges, scopes: Scopes, categories: Categories, type_of: TypeOf
    ) -> None:
        self.graph, self.columns, self.edges, self.scopes = graph, columns, edges, scopes
        self.categories, self.type_of = categories, type_of
        self.stacks = Stacks(columns, edges, scopes)
        updates = np.array([op in OPTIMIZERS for op in columns.op_names], np.bool_)
        is_update = updates[columns.ops] & scopes.visible if len(columns) else scopes.visible
        self._updates_before = scopes.running_count(is_update)
        self._from_op = (columns.kinds[edges.source] == OP) if len(columns) else edges.control
        self._source, self._target = scopes.position[edges.source], scopes.position[edges.target]

    def view(self, opened: Sequence[str], offsets: Mapping[str, int], most: int = MOST, page: int = PAGE) -> GraphView:
        drawing = _Drawing(self, opened, offsets, most, page)
        at = drawing.places()
        parameters = self._count_parameters(at, len(drawing.entries))
        badges = self._badges(drawing)
        return GraphView(
            graph=self.graph,
            total=drawing.total[0],
            offset=drawing.offset[0],
            shown=drawing.shown[0],
            nodes=tuple(
                self._node(drawing, place, parameters[place], badges) for place in range(1, len(drawing.entries))
            ),
            edges=tuple(self._view_edges(drawing, at)),
            refused=tuple(path for path in opened if path and path not in drawing.opened),
            full=drawing.room <= 0,
        )

    def reveal(self, name: str, page: int = PAGE) -> Reveal:
        """`name` is a node or a scope that there is."""
        scopes = self.scopes
        scope = scopes.by_path.get(name)
        node = -1 if scope is not None else self._drawn(self.columns.index[name])
        if scope is None and node < 0:
            return Reveal(name, "", ())
        way = self._way(scope if scope is not None else int(scopes.of_node[node]))
        inner = [*way[1:], node] if scope is None else way[1:]
        opening: list[Opening] = []
        for above, below in zip(way, inner, strict=False):
            is_scope = scope is not None or above != way[-1]
            entries = self.stacks.entries(above)
            number = next((i for i, one in enumerate(entries) if one.is_scope == is_scope and below in one.which), -1)
            if number < 0:
                return Reveal(name, "", ())
            opening.append(Opening(scopes.paths[above], number // page * page))
            if entries[number].is_stack:
                member = entries[number].which.index(below)
                opening.append(Opening(self.stacks.path(entries[number]), member // page * page))
        return Reveal(name, name if scope is not None else self.columns.names[node], tuple(opening))

    # ------------------------------------------------------------ parts

    def _way(self, scope: int) -> list[int]:
        """A scope and those above it, the root first."""
        path, way = self.scopes.paths[scope], [scope]
        while path:
            path = path.rpartition("/")[0]
            way.append(self.scopes.by_path[path])
        return way[::-1]

    def _drawn(self, node: int) -> int:
        """The op that stands for a node, -1 where there is none."""
        if self.scopes.visible[node]:
            return node
        readers = self.edges.target[self.edges.out_of(node)]
        return int(readers.min(initial=len(self.columns))) if len(readers) else -1

    def _node(
        self, drawing: _Drawing, place: int, parameters: int, badges: Mapping[int, tuple[Badge, ...]]
    ) -> ViewNode:
        entry, stacks = drawing.entries[place], self.stacks
        assert entry is not None
        is_op = not entry.is_scope and not entry.is_stack
        first = entry.which[0]
        return ViewNode(
            id=drawing.ids[place],
            parent=drawing.ids[drawing.parent[place]],
            kind="stack" if entry.is_stack else "scope" if entry.is_scope else "node",
            name=stacks.label(entry),
            op="" if entry.is_scope else self.columns.op(first),
            role=self._role(entry, drawing.ids[place]),
            nodes=sum(map(self.scopes.count_visible, entry.which)) if entry.is_scope else len(entry.which),
            members=len(entry.which),
            parameters=parameters,
            categories=self.categories.of(first) if is_op else (),
            badges=badges.get(place, ()),
            open=place in drawing.total,
            total=drawing.total.get(place, 0),
            offset=drawing.offset.get(place, 0),
            shown=drawing.shown.get(place, 0),
        )

    def _role(self, entry: Entry, path: str) -> Role:
        if path.startswith("Gradients/") or path == "Gradients":
            return "gradient"
        if "optimizer" in path.lower():
            return "optimizer"
        if not entry.is_scope:
            return "optimizer" if self.columns.op(entry.which[0]) in OPTIMIZERS else "forward"
        scope = entry.which[0]
        first, last = self.scopes.span(scope)
        updates = int(self._updates_before[last] - self._updates_before[first])
        return "optimizer" if updates > _OPTIMIZER_SHARE * self.scopes.count_visible(scope) else "forward"

    def _view_edges(self, drawing: _Drawing, at: Ints) -> list[ViewEdge]:
        edges, width = self.edges, len(drawing.entries)
        source, target = at[self._source], at[self._target]
        chosen = np.flatnonzero((source != target) & (source > 0) & (target > 0) & self._from_op)
        pair = source[chosen].astype(np.int64) * width + target[chosen]
        control = edges.control[chosen]
        keys, first = np.unique(pair[~control] * edges.tensors + edges.tensor[chosen[~control]], return_index=True)
        pairs, at_first, tensors = np.unique(keys // edges.tensors, return_index=True, return_counts=True)
        one = chosen[~control][first[at_first]] if len(keys) else chosen[:0]
        ordered, controls = np.unique(pair[control], return_counts=True)
        control_of = dict(zip(ordered.tolist(), controls.tolist(), strict=True))
        found: dict[int, tuple[int, int]] = {
            key: (count, edge) for key, count, edge in zip(pairs.tolist(), tensors.tolist(), one.tolist(), strict=True)
        }
        result = []
        for key in [*found, *(key for key in control_of if key not in found)]:
            start, end = divmod(key, width)
            if drawing.is_around(start, end) or drawing.is_around(end, start):
                continue
            count, edge = found.get(key, (0, -1))
            type_ = self.type_of(int(edges.source[edge]), int(edges.slot[edge])) if count == 1 else None
            result.append(ViewEdge(start - 1, end - 1, count, control_of.get(key, 0), type_))
        return result

    def _count_parameters(self, at: Ints, places: int) -> list[int]:
        """How many different parameters the ops in each place read."""
        read = np.flatnonzero(~self._from_op & ~self.edges.control)
        read = read[self.categories.masks["parameter"][self.edges.source[read]]]
        pairs = np.unique(at[self._target[read]].astype(np.int64) * len(self.columns) + self.edges.source[read])
        counts: list[int] = np.bincount(pairs // max(len(self.columns), 1), minlength=places).tolist()
        return counts

    def _badges(self, drawing: _Drawing) -> dict[int, tuple[Badge, ...]]:
        result: dict[int, tuple[Badge, ...]] = {}
        for place, entry in enumerate(drawing.entries):
            if entry is None or entry.is_scope or entry.is_stack:
                continue
            edges = self.edges.into(entry.which[0])
            read = edges[~self._from_op[edges] & ~self.edges.control[edges]]
            if len(read):
                result[place] = tuple(badge(self.columns, self.edges, edge) for edge in np.sort(read).tolist())
        return result


class _Drawing:
    """What is drawn, each in its place; the root is in place 0. `total`, `offset`, `shown` have what is open."""

    def __init__(
        self, frontier: Frontier, opened: Sequence[str], offsets: Mapping[str, int], most: int, page: int
    ) -> None:
        self._frontier, self._wanted, self._offsets, self._page = frontier, frozenset(opened), offsets, page
        self.room = most
        self.ids: list[str] = [""]
        self.parent: list[int] = [0]
        self.entries: list[Entry | None] = [None]
        self.total: dict[int, int] = {}
        self.offset: dict[int, int] = {}
        self.shown: dict[int, int] = {}
        self.opened: dict[str, int] = {}
        self._waiting: dict[str, int] = {}  # what could be opened next, and in which place it is
        self._open(0)
        pending = [path for path in opened if path]
        while pending:  # in the order in which they were opened, as far as what is around them is open
            left = [path for path in pending if not self._try(path)]
            if len(left) == len(pending):
                break
            pending = left

    def _try(self, path: str) -> bool:
        place = self._waiting.get(path, 0)
        if not place:
            return False
        if self.room > 0 and self.ids[place] not in self.opened:
            self._open(place)
        return self.ids[place] == path or self._waiting.get(path) == place or self._try(path)

    def _open(self, place: int) -> None:
        entry, path, stacks = self.entries[place], self.ids[place], self._frontier.stacks
        inside: Sequence[Entry] | Sequence[int]
        inside = entry.which if entry and entry.is_stack else stacks.entries(entry.which[0] if entry else 0)
        offset = self._offsets.get(path, 0)
        offset = offset if 0 <= offset < len(inside) else 0
        shown = inside[offset : offset + min(self._page, self.room)]
        self.room -= len(shown)
        self.total[place], self.offset[place], self.shown[place] = len(inside), offset, len(shown)
        self.opened[path] = place
        for one in shown:
            child = one if isinstance(one, Entry) else Entry(bool(entry and entry.is_scope), (one,))
            self._draw(child, place)

    def _draw(self, entry: Entry, parent: int) -> None:
        place, path = len(self.ids), self._frontier.stacks.path(entry)
        self.ids.append(path)
        self.parent.append(parent)
        self.entries.append(entry)
        if entry.is_scope or entry.is_stack:
            self._waiting[path] = place
        if entry.is_scope and entry.is_stack:  # a member that is to be open opens the stack
            self._waiting.update((self._frontier.scopes.paths[scope], place) for scope in entry.which)

    def places(self) -> Ints:
        """For each position the place that it is drawn in: 0 where nothing but the root is around it."""
        scopes = self._frontier.scopes
        at: Ints = np.zeros(len(scopes.nodes), np.int32)
        for place, entry in enumerate(self.entries):  # a place comes after the one around it
            if entry is None:
                continue
            if entry.is_scope:
                for scope in entry.which:
                    first, last = scopes.span(scope)
                    at[first:last] = place
            else:
                at[scopes.position[list(entry.which)]] = place
        return at

    def is_around(self, outer: int, inner: int) -> bool:
        while inner > outer:
            inner = self.parent[inner]
        return inner == outer
