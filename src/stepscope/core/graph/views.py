"""The answers of a graph, as plain data: `dataclasses.asdict` of any of them but `Node` is ready for JSON.

A `Node` may hold numpy arrays and non-finite numbers among its attributes and as the value of a constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from stepscope.core.graph.records import Kind, TensorType
from stepscope.core.graph.source import Frame

Category = Literal["weight", "gradient", "activation", "parameter"]


@dataclass(frozen=True)
class Port:
    """An input of a node, with the nodes that only pass values on (Load, TupleGetItem, …) already passed through.

    `index` counts as the source does. `data_index` counts only the inputs that carry a value, and is None for those
    that don't (`control`). An input that is a tuple made up on the way gives one port an element, numbered by
    `element`, all with the same index. `node` is "" where the source names no producer that it knows.
    """

    index: int
    node: str
    slot: int
    type: TensorType
    control: bool = False
    data_index: int | None = None
    element: int | None = None


@dataclass(frozen=True)
class OutputPort:
    """An output of a node. `consumers` are (node, input index), the first 200 of them; `consumer_count` counts all."""

    slot: int
    type: TensorType
    consumers: tuple[tuple[str, int], ...]
    consumer_count: int


@dataclass(frozen=True)
class Node:
    name: str
    op: str
    kind: Kind
    scope: str  # "" for the root, and for whatever is no op
    inputs: tuple[Port, ...]
    outputs: tuple[OutputPort, ...]
    attributes: dict[str, Any]
    source: tuple[Frame, ...]  # innermost first
    categories: tuple[Category, ...]
    folded: bool  # only passes values on or keeps an order: never shown in a scope, has no value of its own
    trainable: bool | None
    value: Any  # of a constant: scalar, str, tuple or numpy array; None where unknown


@dataclass(frozen=True)
class NodeSummary:
    name: str
    op: str
    kind: Kind
    categories: tuple[Category, ...]


@dataclass(frozen=True)
class Badge:
    """A parameter, graph input or constant that an op reads: drawn on the op, not as a node of its own."""

    name: str
    kind: Kind
    input: int
    text: str  # of a constant: its value, shortened


@dataclass(frozen=True)
class ScopeChild:
    """A scope or an op directly inside a scope.

    `name` is the last part of `path`. `nodes` counts the ops inside (1 for an op), `categories` those inside by
    category, where "parameter" and "weight" count what the ops inside read. `inputs` and `outputs` count the tensors
    that come from, or go to, ops which this view does not show: beyond the border of the scope, or on another page.
    """

    kind: Literal["scope", "node"]
    name: str
    path: str
    op: str
    nodes: int
    categories: dict[str, int]
    inputs: int
    outputs: int
    badges: tuple[Badge, ...]


@dataclass(frozen=True)
class ScopeEdge:
    """All that flows between two children, given by `name`: distinct tensors, and edges that only keep an order."""

    source: str
    target: str
    tensors: int
    control: int


@dataclass(frozen=True)
class ScopeView:
    """The children of a scope from `offset` on, in order of their first op, and the edges among those listed.

    `total` counts all children, `nodes` all ops inside, `graph_inputs` the inputs of the whole graph (root only).
    """

    path: str
    total: int
    offset: int
    nodes: int
    graph_inputs: int
    children: tuple[ScopeChild, ...]
    edges: tuple[ScopeEdge, ...]


@dataclass(frozen=True)
class SearchResult:
    total: int
    nodes: tuple[NodeSummary, ...]  # the first ones, in topological order


@dataclass(frozen=True)
class LineageNode:
    """`distance` in hops from the tensor: negative for what it comes from, positive for what it goes to."""

    name: str
    op: str
    kind: Kind
    distance: int
    categories: tuple[Category, ...]


@dataclass(frozen=True)
class LineageEdge:
    source: str
    slot: int
    target: str
    input: int


@dataclass(frozen=True)
class Lineage:
    """The neighbourhood of output `slot` of `name` (its home, where a folded node was asked for).

    `truncated`: there is more within the hops than the limit let through.
    """

    name: str
    slot: int
    nodes: tuple[LineageNode, ...]
    edges: tuple[LineageEdge, ...]
    truncated: bool


@dataclass(frozen=True)
class Resolved:
    """Where a value really lives."""

    kind: Kind
    name: str
    slot: int


@dataclass(frozen=True)
class GraphSummary:
    """`nodes` are the ops that are shown; those folded are counted apart."""

    name: str
    nodes: int
    folded: int
    parameters: int
    inputs: int
    constants: int
    scopes: int
    has_optimizer: bool


Role = Literal["forward", "gradient", "optimizer"]


@dataclass(frozen=True)
class ViewNode:
    """What is drawn in one place: an op, a scope, or a stack of siblings that are alike.

    `id` is the full name, of a stack that of its first member with "…" behind; `parent` the id of the open scope or
    stack around it, "" for the root. `nodes` counts the ops inside, `members` what a stack holds (1 for all else),
    `parameters` the different ones that are read. Of what is open, `total` counts the children, of which those from
    `offset` on are shown, `shown` of them.
    """

    id: str
    parent: str
    kind: Literal["scope", "stack", "node"]
    name: str
    op: str  # of a stack of ops too
    role: Role
    nodes: int
    members: int
    parameters: int
    categories: tuple[Category, ...]  # of an op
    badges: tuple[Badge, ...]
    open: bool
    total: int = 0
    offset: int = 0
    shown: int = 0


@dataclass(frozen=True)
class ViewEdge:
    """All that flows between two drawn nodes: distinct tensors, and edges that only keep an order.

    The ends are indices into the view's nodes. `type` is told where it is one tensor.
    """

    source: int
    target: int
    tensors: int
    control: int
    type: TensorType | None


@dataclass(frozen=True)
class GraphView:
    """The graph as far as it is opened. `nodes` come after their parents, in order of their first op.

    `total`, `offset` and `shown` are those of the root. `refused`: what was to be open, but is not: there is no such
    scope, it is not in an open one, or as many nodes as fit are drawn already (`full`).
    """

    graph: str
    total: int
    offset: int
    shown: int
    nodes: tuple[ViewNode, ...]
    edges: tuple[ViewEdge, ...]
    refused: tuple[str, ...]
    full: bool


@dataclass(frozen=True)
class Opening:
    """A scope or stack (an id of `ViewNode`; "" is the root) and the offset of one of its pages."""

    id: str
    offset: int


@dataclass(frozen=True)
class Reveal:
    """What must be open to see a node or scope, outermost first, the root included.

    `shown` is what is then drawn: the node itself, or the op that reads it where it is a parameter, an input, a
    constant; "" where nothing is.
    """

    name: str
    shown: str
    open: tuple[Opening, ...]
