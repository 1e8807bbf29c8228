"""What a source hands in about a graph: one record a node.

Records come in the source's topological order: a producer before its consumers (parameters, inputs and constants may
stand anywhere). `id` is the source's own name of a node within the graph, by which `InputRef.source` refers to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Kind = Literal["op", "parameter", "input", "constant"]


@dataclass(frozen=True, slots=True)
class TensorType:
    """Element type and shape of a value.

    `dtype` is a name such as "float32", "bfloat16", "bool", "string"; "" where unknown. `shape` has -1 for a dimension
    that is only known at run time, and is None where nothing is known of it.
    """

    dtype: str = ""
    shape: tuple[int, ...] | None = None

    @property
    def is_vector(self) -> bool:
        """Whether it is known to have less than two dimensions, as biases have."""
        return self.shape is not None and len(self.shape) < 2


class InputRef(NamedTuple):
    """An input: output `slot` of the record with the id `source`. `control`: it carries an order, not a value."""

    source: str
    slot: int = 0
    control: bool = False


@dataclass(slots=True)
class NodeRecord:
    """One node. `name` is the full name with its scopes ("Default/conv-Conv2d/Conv2D-op0").

    An input of the whole graph has kind "input"; `trainable` is for parameters (None = unknown); `value` for constants:
    a Python scalar, str or tuple, or a numpy array. `attributes` may be any Mapping, so that it can be decoded late.
    `stack` is the source's text as it came; `core.graph.source` reads it.
    """

    id: str
    name: str
    op: str
    kind: Kind = "op"
    inputs: Sequence[InputRef] = ()
    outputs: Sequence[TensorType] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    stack: str = ""
    trainable: bool | None = None
    value: Any = None
