"""What a watchpoint can be set on, as columns over all nodes of a graph, and the scopes in which it is ticked.

Watchable are ops that are not folded, parameters and inputs of the graph; never constants. An op belongs to the scope
in its name; a parameter or input to that of the first op that reads it (the root, where none does).
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from stepscope.core.errors import BadRequest
from stepscope.core.graph.categories import Categories
from stepscope.core.graph.columns import CONSTANT, OP, Bools, Columns, Ints
from stepscope.core.graph.edges import Edges
from stepscope.core.graph.fold import Flow
from stepscope.core.graph.layers import Layers
from stepscope.core.graph.scopes import Scopes
from stepscope.core.graph.torch_ops import is_torch, plain_name


class Watchable:
    """`mask[i]`: node i can be watched. `scope[i]` is the number of its scope; the scopes inside scope s are the
    numbers up to `end[s]`, and `parent[s]` is the one around it (that of the root is the root).

    The arrays are not to be written to.
    """

    def __init__(self, columns: Columns, flow: Flow, edges: Edges, scopes: Scopes, categories: Categories) -> None:
        self._columns, self._scopes, self._categories = columns, scopes, categories
        self._layers = Layers(columns, flow, categories)
        folded_or_constant = ~scopes.visible & ((columns.kinds == OP) | (columns.kinds == CONSTANT))
        self.mask: Bools = ~folded_or_constant
        self.scope: Ints = scopes.of_node.copy()
        readers = np.full(len(columns), len(columns), np.int32)
        data = ~edges.control
        np.minimum.at(readers, edges.source[data], edges.target[data])
        loose = np.flatnonzero(columns.kinds != OP)
        read = loose[readers[loose] < len(columns)]
        self.scope[read] = scopes.of_node[readers[read]]
        self.end: Ints = scopes.end
        self.parent: Ints = np.zeros(len(scopes), np.int32)
        for scope, children in enumerate(scopes.children):
            self.parent[children] = scope
        self._order = np.argsort(self.scope, kind="stable")
        self._start = np.searchsorted(self.scope[self._order], np.arange(len(scopes) + 1))

    @property
    def names(self) -> list[str]:
        return self._columns.names

    def node(self, name: str) -> int | None:
        """The number of a node that can be watched."""
        node = self._columns.index.get(name)
        return node if node is not None and self.mask[node] else None

    def gives_several(self, name: str) -> bool:
        """Whether a node is an operation of PyTorch with several outputs: gradients of all that a layer reads."""
        node = self._columns.index[name]
        return is_torch(self._columns.op(node)) and len(self._columns.outputs[node]) > 1

    def scope_number(self, path: str) -> int | None:
        return self._scopes.by_path.get(path)

    def running_count(self, chosen: Bools) -> Ints:
        """For each scope, with one more at the end, how many of the chosen nodes belong to scopes of smaller number:
        below scope s are `result[end[s]] - result[s]`."""
        before = np.concatenate([[0], np.cumsum(chosen[self._order])])
        return before[self._start].astype(np.int32)

    def category(self, name: str) -> Bools:
        """The watchable nodes of a category, or of "tensor" (all), "none", and the sets of `Layers`.

        Raises BadRequest for other names.
        """
        if name == "none":
            return np.zeros(len(self.mask), np.bool_)
        if name == "tensor":
            return self.mask
        if name in self._layers.masks:
            return self.mask & self._layers.masks[name]
        if name not in self._categories.masks:
            raise BadRequest(f"no set of nodes {name!r}")
        return self.mask & self._categories.mask(name)

    def of_ops(self, ops: Collection[str]) -> Bools:
        """The nodes whose type of operation is one of these, in any case; "relu" is PyTorch's "aten.relu_" too."""
        wanted = {op.lower() for op in ops}
        names = ({op.lower(), plain_name(op)} for op in self._columns.op_names)
        codes = np.array([not wanted.isdisjoint(each) for each in names], np.bool_)
        return codes[self._columns.ops] & (self._columns.kinds == OP) if len(codes) else np.zeros(0, np.bool_)
