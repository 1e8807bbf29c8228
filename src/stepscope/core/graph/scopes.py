"""The tree of scopes, laid out so that all below a scope is one range.

Scopes are numbered in preorder, children in order of their first record, so that scope s and all below it are the
numbers s to `end[s]`. Ops are ordered by scope: their position is their place in that order, and all ops below a scope
are the positions `span(s)`. Nodes that are no ops have the positions after the last op.
"""

from __future__ import annotations

import numpy as np

from stepscope.core.graph.columns import OP, Bools, Columns, Ints


class Scopes:
    """`of_node[i]` is the scope of node i, `position[i]` its position, `nodes[p]` the node at a position.

    `visible[i]`: node i is an op and not folded. `first[s]` is the first visible op below a scope.
    """

    def __init__(self, columns: Columns, folded: Bools) -> None:
        self.visible: Bools = (columns.kinds == OP) & ~folded
        self._number(columns)
        is_op = columns.kinds == OP
        ops = np.flatnonzero(is_op)
        by_scope = ops[np.argsort(self.of_node[ops], kind="stable")]
        self.nodes: Ints = np.concatenate([by_scope, np.flatnonzero(~is_op)]).astype(np.int32)
        self.position: Ints = np.empty_like(self.nodes)
        self.position[self.nodes] = np.arange(len(columns), dtype=np.int32)
        numbers = np.arange(len(self.paths) + 1)
        self._start: Ints = np.searchsorted(self.of_node[by_scope], numbers).astype(np.int32)
        self._visible_before = self.running_count(self.visible)
        self._find_first()

    def __len__(self) -> int:
        return len(self.paths)

    def span(self, scope: int) -> tuple[int, int]:
        """The positions of all ops below a scope."""
        return int(self._start[scope]), int(self._start[self.end[scope]])

    def contents(self, scope: int) -> tuple[Ints, Ints]:
        """The scopes directly inside that have anything to show, and the visible ops directly inside."""
        inside = self.children[scope]
        count = self._visible_before[self._start[self.end[inside]]] - self._visible_before[self._start[inside]]
        own = self.nodes[self._start[scope] : self._start[scope + 1]]
        return inside[count > 0], own[self.visible[own]]

    def count_visible(self, scope: int) -> int:
        first, last = self.span(scope)
        return int(self._visible_before[last] - self._visible_before[first])

    def running_count(self, mask: Bools) -> Ints:
        """For each position the number of nodes in `mask` before it, so that a span's count is a difference."""
        return np.concatenate([[0], np.cumsum(mask[self.nodes])]).astype(np.int32)

    # ------------------------------------------------------------ building

    def _number(self, columns: Columns) -> None:
        paths = columns.scope_paths
        codes = {path: code for code, path in enumerate(paths)}
        children: list[list[int]] = [[] for _ in paths]
        for code, path in enumerate(paths[1:], 1):
            children[codes[path.rpartition("/")[0]]].append(code)
        order: list[int] = []
        stack = [0]
        while stack:
            order.append(stack.pop())
            stack += reversed(children[order[-1]])
        number = np.empty(len(paths), np.int32)
        number[order] = np.arange(len(paths), dtype=np.int32)
        self.paths = [paths[code] for code in order]
        self.by_path = {path: scope for scope, path in enumerate(self.paths)}
        self.of_node: Ints = number[columns.scopes]
        self.children: list[Ints] = [number[children[code]] if children[code] else number[:0] for code in order]
        self.end: Ints = np.arange(1, len(paths) + 1, dtype=np.int32)
        for scope in range(len(paths) - 1, -1, -1):
            if len(self.children[scope]):
                self.end[scope] = self.end[self.children[scope][-1]]

    def _find_first(self) -> None:
        self.first: Ints = np.full(len(self.paths), len(self.nodes), np.int32)
        ops = np.flatnonzero(self.visible).astype(np.int32)
        np.minimum.at(self.first, self.of_node[ops], ops)
        for scope in range(len(self.paths) - 1, -1, -1):
            if len(self.children[scope]):
                self.first[scope] = min(self.first[scope], self.first[self.children[scope]].min())
