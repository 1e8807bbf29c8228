"""Repeated siblings: layers of one structure, or ops that do the same for many parameters, seen as one stack.

Scopes are stacked where at least `FEWEST` of them follow each other, with names that differ in numbers only and the
same ops inside. Ops are stacked where at least `FEWEST` in one scope are of the same type, with as many inputs, and lie
equally deep in that scope's flow, so that none of them comes from another.
The structure of a scope is a sum of random numbers over all that lies in it, one number a type and depth.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stepscope.core.graph.columns import Columns, Ints
from stepscope.core.graph.edges import Edges
from stepscope.core.graph.scopes import Scopes

FEWEST = 4
MARK = "…"  # the id of a stack is the path of its first member with this behind

_Hashes = NDArray[np.uint64]
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class Entry:
    """What a scope shows in one place: a scope or an op, or a stack of several."""

    is_scope: bool
    which: tuple[int, ...]  # scopes or nodes

    @property
    def is_stack(self) -> bool:
        return len(self.which) > 1


class Stacks:
    def __init__(self, columns: Columns, edges: Edges, scopes: Scopes) -> None:
        self._columns, self._edges, self._scopes = columns, edges, scopes
        self._entries: dict[int, tuple[Entry, ...]] = {}  # by scope that was asked for
        self._labels: dict[str, str] = {}  # by path of a stack that was drawn
        self._inputs = np.diff(columns.input_start)
        self._hash_scopes()

    def entries(self, scope: int) -> tuple[Entry, ...]:
        """What is directly inside a scope, in order of the first op."""
        found = self._entries.get(scope)
        if found is None:
            found = self._entries[scope] = self._group(scope)
        return found

    def path(self, entry: Entry) -> str:
        """The full name of a scope or op; of a stack, its id."""
        first = self._path(entry.is_scope, entry.which[0])
        return first + MARK if entry.is_stack else first

    def label(self, entry: Entry) -> str:
        """The last part of the path; of a stack, with its first and last number."""
        known = self._labels.get(self.path(entry)) if entry.is_stack else None
        if known is not None:
            return known
        names = [self._path(entry.is_scope, which).rpartition("/")[2] for which in entry.which]
        if not entry.is_stack:
            return names[0]
        label = _span(names) or (names[0] if entry.is_scope else self._columns.op(entry.which[0]))
        self._labels[self.path(entry)] = label
        return label

    # ------------------------------------------------------------ parts

    def _path(self, is_scope: bool, which: int) -> str:
        return self._scopes.paths[which] if is_scope else self._columns.names[which]

    def _hash_scopes(self) -> None:
        random = np.random.default_rng(0)
        of_op = random.integers(1, 2**63, len(self._columns.op_names), np.uint64)
        depth = np.array([path.count("/") for path in self._scopes.paths], np.int64)
        turn = random.integers(1, 2**63, int(depth.max(initial=0)) + 1, np.uint64) | np.uint64(1)
        nodes = self._scopes.nodes
        one = of_op[self._columns.ops[nodes]] * turn[depth[self._scopes.of_node[nodes]]] if len(nodes) else of_op[:0]
        one[~self._scopes.visible[nodes]] = 0
        before = np.concatenate([np.zeros(1, np.uint64), np.cumsum(one, dtype=np.uint64)])
        spans = np.array([self._scopes.span(scope) for scope in range(len(self._scopes))], np.int64)
        self._structure: _Hashes = before[spans[:, 1]] - before[spans[:, 0]]

    def _group(self, scope: int) -> tuple[Entry, ...]:
        inside, own = self._scopes.contents(scope)
        grouped = [*self._group_scopes(inside), *self._group_ops(own)]
        first = self._scopes.first
        return tuple(sorted(grouped, key=lambda one: int(first[one.which[0]]) if one.is_scope else one.which[0]))

    def _group_scopes(self, inside: Ints) -> list[Entry]:
        ordered = inside[np.argsort(self._scopes.first[inside], kind="stable")].tolist()
        runs: list[list[int]] = []
        last: object = None
        for scope in ordered:
            kind = (_DIGITS.sub("0", self._scopes.paths[scope].rpartition("/")[2]), int(self._structure[scope]))
            if kind == last:
                runs[-1].append(scope)
            else:
                runs.append([scope])
            last = kind
        return _entries(True, runs)

    def _group_ops(self, own: Ints) -> list[Entry]:
        keys = self._columns.ops[own].astype(np.int64) << 32 | self._inputs[own]
        _, group, count = np.unique(keys, return_inverse=True, return_counts=True)
        many = count[group] >= FEWEST
        runs = [[node] for node in own[~many].tolist()]
        if many.any():
            levels = self._levels(own)
            groups: dict[tuple[int, int], list[int]] = {}
            for node, number, level in zip(
                own[many].tolist(), group[many].tolist(), levels[many].tolist(), strict=True
            ):
                groups.setdefault((number, level), []).append(node)
            runs += groups.values()
        return _entries(False, runs)

    def _levels(self, own: Ints) -> Ints:
        """How many ops of `own` lie on the longest way through them to each."""
        edges = self._edges
        place = np.full(len(self._columns), -1, np.int32)
        place[own] = np.arange(len(own), dtype=np.int32)
        between = np.flatnonzero((place[edges.source] >= 0) & (place[edges.target] >= 0) & ~edges.control)
        levels = [0] * len(own)
        sources, targets = place[edges.source[between]].tolist(), place[edges.target[between]].tolist()
        for source, target in zip(sources, targets, strict=True):  # in order of target: a producer's level is final
            if source < target and levels[source] >= levels[target]:
                levels[target] = levels[source] + 1
        return np.array(levels, np.int32)


def _entries(is_scope: bool, runs: list[list[int]]) -> list[Entry]:
    made: list[Entry] = []
    for run in runs:
        if len(run) >= FEWEST:
            made.append(Entry(is_scope, tuple(run)))
        else:
            made += [Entry(is_scope, (one,)) for one in run]
    return made


def _span(names: Sequence[str]) -> str:
    """["layers.0", …, "layers.11"] → "layers.0…11"; "" where the names have more than one shape."""
    parts = [re.split(r"(\d+)", name) for name in names]
    if len({tuple(one[::2]) for one in parts}) > 1:
        return ""
    ordered = sorted(parts, key=lambda one: [int(number) for number in one[1::2]])
    first, last = ordered[0], ordered[-1]
    return "".join(a if a == b else f"{a}{MARK}{b}" for a, b in zip(first, last, strict=True))
