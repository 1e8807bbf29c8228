"""A computation graph that can be asked: its nodes, scopes, categories, and where values come from and go to.

Immutable once built, and safe to be asked by several threads at once. Names are those of `columns`: unique, and never
equal to the path of a scope. All answers about 100,000 nodes come within some tens of milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from stepscope.core.errors import BadRequest, UnknownNode
from stepscope.core.graph import columns as cols
from stepscope.core.graph import fold, lineage, source
from stepscope.core.graph.categories import Categories, input_home
from stepscope.core.graph.edges import Edges
from stepscope.core.graph.frontier import Frontier
from stepscope.core.graph.optimizers import OPTIMIZERS
from stepscope.core.graph.records import Kind, NodeRecord, TensorType
from stepscope.core.graph.scope_view import ScopeViews
from stepscope.core.graph.scopes import Scopes
from stepscope.core.graph.search import Names
from stepscope.core.graph.updates import Updates
from stepscope.core.graph.views import (
    GraphSummary,
    GraphView,
    Lineage,
    Node,
    NodeSummary,
    OutputPort,
    Port,
    Resolved,
    Reveal,
    ScopeView,
    SearchResult,
)
from stepscope.core.graph.watchable import Watchable

CONSUMER_LIMIT = 200


class Graph:
    """Built from the records of a source. A name that is not known raises UnknownNode with the nearest ones."""

    def __init__(self, name: str, records: Iterable[NodeRecord]) -> None:
        self.name = name
        self._columns = cols.read(records)
        self._flow = fold.Flow(self._columns)
        self._scopes = Scopes(self._columns, self._flow.folded)
        self._edges = Edges(self._flow, self._scopes.position)
        self._categories = Categories(self._columns, self._flow)
        self._views = ScopeViews(self._columns, self._edges, self._scopes, self._categories)
        self._frontier = Frontier(name, self._columns, self._edges, self._scopes, self._categories, self._type)
        self._names = Names(self._columns.names)

    def __len__(self) -> int:
        """All nodes: ops, also folded ones, parameters, inputs and constants."""
        return len(self._columns)

    def __contains__(self, name: object) -> bool:
        return name in self._columns.index

    @property
    def has_optimizer(self) -> bool:
        return self._categories.has_optimizer

    def summary(self) -> GraphSummary:
        """Counts of what is in the graph."""
        count = np.bincount(self._columns.kinds, minlength=len(cols.KINDS)).tolist()
        folded = int(np.count_nonzero(self._flow.folded))
        return GraphSummary(
            name=self.name,
            nodes=count[cols.OP] - folded,
            folded=folded,
            parameters=count[cols.PARAMETER],
            inputs=count[cols.INPUT],
            constants=count[cols.CONSTANT],
            scopes=len(self._scopes) - 1,
            has_optimizer=self.has_optimizer,
        )

    def name_of(self, record_id: str) -> str:
        """The name that the node of a record got: the record's own, unless that was not unique or is a scope's."""
        try:
            return self._columns.names[self._columns.by_id[record_id]]
        except KeyError:
            raise UnknownNode(f"no record {record_id!r} in graph {self.name!r}") from None

    # ------------------------------------------------------------ nodes

    def nodes(
        self,
        pattern: str | None = None,
        category: str | None = None,
        scope: str | None = None,
        line: str | None = None,
        folded: bool = False,
    ) -> list[str]:
        """Names of nodes in topological order that meet all that is given.

        pattern: part of the name, in any case; a glob for the whole name where it has * ? or [.
        category: "weight", "gradient", "activation" or "parameter"; else BadRequest.
        scope: ops below it, and the parameters, inputs and constants that those read.
        line: "net.py:12" or "net.py", a whole path or the end of one: a frame of the user's code lies there.
        folded: with the ops that only pass values on.
        """
        return [self._columns.names[node] for node in self._select(pattern, category, scope, line, folded)]

    def of_kind(self, kind: Kind) -> list[str]:
        """Names of all nodes of a kind, in topological order."""
        chosen = np.flatnonzero(self._columns.kinds == cols.KINDS.index(kind))
        return [self._columns.names[node] for node in chosen.tolist()]

    def search(self, text: str, category: str | None = None, limit: int = 200) -> SearchResult:
        """As `nodes`, with the total and the first `limit` only."""
        found = self._select(text, category)
        return SearchResult(len(found), tuple(self._summarize(node) for node in found[:limit]))

    def summarize(self, name: str) -> NodeSummary:
        """The little of a node that a list shows."""
        return self._summarize(self._index(name))

    def output_types(self, name: str) -> tuple[TensorType, ...]:
        """The types of a node's outputs: what `node` says of them, at a small part of its price."""
        node = self._index(name)
        return tuple(self._type(node, slot) for slot in range(len(self._columns.outputs[node])))

    def node(self, name: str) -> Node:
        """All of a node."""
        node, columns = self._index(name), self._columns
        is_op = columns.kinds[node] == cols.OP
        return Node(
            name=columns.names[node],
            op=columns.op(node),
            kind=columns.kind(node),
            scope=self._scopes.paths[self._scopes.of_node[node]] if is_op else "",
            inputs=tuple(self._inputs(node)),
            outputs=tuple(self._output(node, slot) for slot in range(len(columns.outputs[node]))),
            attributes=dict(columns.attributes[node]),
            source=source.frames(columns.stack_texts[columns.stacks[node]]),
            categories=self._categories.of(node),
            folded=bool(self._flow.folded[node]),
            trainable=columns.trainable.get(node),
            value=columns.values.get(node),
        )

    def scope(self, path: str = "", offset: int = 0, limit: int = 500, around: str = "") -> ScopeView:
        """The children of a scope ("" is the root), page by page; see `ScopeView`.

        around: an op or a scope below it; the page is then the one where it is found, and `offset` is of no account.
        """
        if offset < 0 or limit < 1:
            raise BadRequest(f"a page needs an offset of 0 or more and a limit of 1 or more, not {offset} and {limit}")
        scope = self._scope(path)
        if around:
            inner = self._scopes.by_path.get(around)
            place = self._views.place_of(scope, self._index(around) if inner is None else inner, inner is not None)
            offset = max(place, 0) // limit * limit
        return self._views.view(scope, offset, limit)

    def view(self, opened: Sequence[str] = (), offsets: Mapping[str, int] | None = None) -> GraphView:
        """What is drawn with these scopes and stacks opened; `offsets` are of pages, by the id of what is open."""
        return self._frontier.view(opened, offsets or {})

    def reveal(self, name: str) -> Reveal:
        """What must be open to see a node or a scope."""
        if name not in self._scopes.by_path:
            self._index(name)
        return self._frontier.reveal(name)

    def scope_paths(self) -> list[str]:
        """All scopes, each before those inside it; the root "" first."""
        return list(self._scopes.paths)

    @cached_property
    def watchable(self) -> Watchable:
        """Which nodes a watchpoint can be set on."""
        return Watchable(self._columns, self._flow, self._edges, self._scopes, self._categories)

    @cached_property
    def updates(self) -> Updates:
        """Who writes into the parameters."""
        return Updates(self._columns, self._flow, self._edges, self._categories)

    def position(self, name: str) -> int:
        """Where a node stands in topological order; what is no op may stand anywhere."""
        return self._index(name)

    def lineage(self, name: str, slot: int = 0, hops: int = 1, limit: int = 500) -> Lineage:
        """What output `slot` of a node comes from and goes to, `hops` far, at most `limit` nodes each way."""
        if hops < 1 or limit < 1:
            raise BadRequest(f"the hops and the limit of a lineage are 1 or more, not {hops} and {limit}")
        node, slot = self._flow.home(self._output_of(name, slot), slot)
        return lineage.trace(self._columns, self._edges, self._categories, node, slot, hops, limit)

    def resolve(self, name: str, slot: int = 0) -> Resolved:
        """Where the value of an output really lives.

        Folded nodes are passed through. An output of an optimizer op is the parameter that it stands for. What leads
        nowhere (UpdateState) stays what it is.
        """
        node, slot = self._flow.home(self._output_of(name, slot), slot)
        node, slot = self._updated_parameter(node, slot) or (node, slot)
        return Resolved(self._columns.kind(node), self._columns.names[node], slot)

    # ------------------------------------------------------------ parts

    def _index(self, name: str) -> int:
        try:
            return self._columns.index[name]
        except KeyError:
            raise UnknownNode(f"no node {name!r} in graph {self.name!r}", self._nearest(name)) from None

    def _nearest(self, name: str) -> list[str]:
        path = name.rpartition("/")[0]
        while path not in self._scopes.by_path:
            path = path.rpartition("/")[0]
        first, last = self._scopes.span(self._scopes.by_path[path])
        near = self._scopes.nodes[first:last] if path else self._scopes.nodes
        return self._names.nearest(name, near[~self._flow.folded[near]].tolist())

    def _scope(self, path: str) -> int:
        scope = self._scopes.by_path.get(path)
        if scope is None:
            nearest = Names(self._scopes.paths[1:]).nearest(path, range(len(self._scopes) - 1))
            raise UnknownNode(f"no scope {path!r} in graph {self.name!r}", nearest)
        return scope

    def _output_of(self, name: str, slot: int) -> int:
        node = self._index(name)
        count = len(self._columns.outputs[node])
        if not 0 <= slot < max(count, 1):
            raise BadRequest(f"{name} has {count} outputs, there is no slot {slot}", code="no_slot")
        return node

    def _summarize(self, node: int) -> NodeSummary:
        columns = self._columns
        return NodeSummary(columns.names[node], columns.op(node), columns.kind(node), self._categories.of(node))

    def _select(
        self,
        pattern: str | None = None,
        category: str | None = None,
        scope: str | None = None,
        line: str | None = None,
        folded: bool = False,
    ) -> list[int]:
        columns = self._columns
        chosen = np.ones(len(columns), np.bool_) if folded else ~self._flow.folded
        if category is not None:
            chosen &= self._categories.mask(category)
        if scope is not None:
            first, last = self._scopes.span(self._scope(scope))
            below = np.zeros(len(columns), np.bool_)
            below[self._scopes.nodes[first:last]] = True
            reads = below[self._edges.target] & (columns.kinds[self._edges.source] != cols.OP)
            below[self._edges.source[reads]] = True
            chosen &= below
        if line is not None:
            file, number = source.parse_line(line)
            through = [source.runs_through(stack, file, number) for stack in columns.stack_texts]
            chosen &= np.array(through, np.bool_)[columns.stacks]
        candidates: list[int] = np.flatnonzero(chosen).tolist()
        return self._names.matching(pattern, candidates) if pattern else candidates

    def _inputs(self, node: int) -> Iterable[Port]:
        columns = self._columns
        data_index = 0
        for index, port in enumerate(range(columns.input_start[node], columns.input_start[node + 1])):
            producer = int(columns.input_source[port])
            name = columns.names[producer] if producer >= 0 else ""
            if columns.input_control[port]:
                yield Port(index, name, int(columns.input_slot[port]), TensorType(), control=True)
                continue
            for one, slot, element in self._flow.producers(port):
                yield Port(
                    index,
                    columns.names[one],
                    slot,
                    self._type(one, slot),
                    data_index=data_index,
                    element=element if element >= 0 else None,
                )
            if producer < 0:
                yield Port(index, "", int(columns.input_slot[port]), TensorType(), data_index=data_index)
            data_index += 1

    def _output(self, node: int, slot: int) -> OutputPort:
        columns = self._columns
        if self._flow.folded[node]:
            passed_on = (columns.input_source == node) & ~columns.input_control
            ports = np.flatnonzero(passed_on).astype(np.int32)
            targets = columns.input_target[ports]
        else:
            edges = self._edges.out_of(node)
            edges = np.sort(edges[(self._edges.slot[edges] == slot) & ~self._edges.control[edges]])
            ports, targets = self._edges.port[edges], self._edges.target[edges]
        numbers = ports - columns.input_start[targets]
        consumers = zip(targets[:CONSUMER_LIMIT].tolist(), numbers[:CONSUMER_LIMIT].tolist(), strict=True)
        return OutputPort(
            slot, self._type(node, slot), tuple((columns.names[one], index) for one, index in consumers), len(ports)
        )

    def _type(self, node: int, slot: int) -> TensorType:
        declared = self._flow.output_type(node, slot)
        if declared.shape is None and (parameter := self._updated_parameter(node, slot)):
            return self._flow.output_type(*parameter)
        return declared

    def _updated_parameter(self, node: int, slot: int) -> tuple[int, int] | None:
        """The parameter for which output `slot` of an optimizer op stands."""
        update = OPTIMIZERS.get(self._columns.op(node))
        shown = update.shown[slot] if update and slot < len(update.shown) else None
        if shown is None or self._columns.kinds[node] != cols.OP:
            return None
        home = input_home(self._columns, self._flow, node, shown)
        return home if home and self._columns.kinds[home[0]] == cols.PARAMETER else None
