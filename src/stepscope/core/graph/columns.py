"""The records of a graph as columns: one entry a node, in the source's order, and the inputs as flat arrays.

Nothing here is an object per input, and stacks, which repeat a lot, are held once. Names are made unique and never
equal the path of a scope, in a way that depends on the records only.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.core.graph.records import InputRef, Kind, NodeRecord, TensorType

Ints = NDArray[np.int32]
Bools = NDArray[np.bool_]

KINDS: tuple[Kind, ...] = ("op", "parameter", "input", "constant")
OP, PARAMETER, INPUT, CONSTANT = range(len(KINDS))


@dataclass
class Columns:
    """Inputs of node i are at `input_start[i] : input_start[i + 1]` of the `input_…` columns.

    `input_source` is the index of the producing node, -1 where there is no such record.
    """

    names: list[str]
    index: dict[str, int]  # name → node
    by_id: dict[str, int]
    kinds: NDArray[np.uint8]
    ops: Ints  # into `op_names`
    op_names: list[str]
    scopes: Ints  # into `scope_paths`; 0 (the root) for whatever is no op
    scope_paths: list[str]  # a scope stands after its parent; the root is ""
    outputs: list[Sequence[TensorType]]
    attributes: list[Mapping[str, Any]]
    stacks: Ints  # into `stack_texts`
    stack_texts: list[str]
    trainable: dict[int, bool]
    values: dict[int, Any]  # of constants
    input_start: Ints
    input_source: Ints
    input_target: Ints
    input_slot: Ints
    input_control: Bools

    def __len__(self) -> int:
        return len(self.names)

    def op(self, node: int) -> str:
        return self.op_names[int(self.ops[node])]

    def kind(self, node: int) -> Kind:
        return KINDS[int(self.kinds[node])]


def read(records: Iterable[NodeRecord]) -> Columns:
    """Takes all records in. Two records of one id: inputs refer to the first."""
    names: list[str] = []
    by_id: dict[str, int] = {}
    kinds, ops, stacks, scopes = array("B"), array("i"), array("i"), array("i")
    op_codes: dict[str, int] = {}
    stack_codes: dict[str, int] = {"": 0}
    scope_codes: dict[str, int] = {"": 0}
    outputs: list[Sequence[TensorType]] = []
    attributes: list[Mapping[str, Any]] = []
    trainable: dict[int, bool] = {}
    values: dict[int, Any] = {}
    inputs: list[InputRef] = []
    counts = array("i")
    kind_codes: dict[Kind, int] = {kind: code for code, kind in enumerate(KINDS)}
    for node, record in enumerate(records):
        by_id.setdefault(record.id, node)
        name = record.name or record.id
        names.append(name)
        kind = kind_codes[record.kind]
        kinds.append(kind)
        ops.append(op_codes.setdefault(record.op, len(op_codes)))
        stacks.append(stack_codes.setdefault(record.stack, len(stack_codes)))
        path = name.rpartition("/")[0] if kind == OP else ""
        scopes.append(scope_codes[path] if path in scope_codes else _add_scope(path, scope_codes))
        outputs.append(record.outputs)
        attributes.append(record.attributes)
        if record.trainable is not None:
            trainable[node] = record.trainable
        if kind == CONSTANT:
            values[node] = record.value
        counts.append(len(record.inputs))
        inputs += record.inputs
    start = np.zeros(len(names) + 1, np.int32)
    np.cumsum(counts, out=start[1:])
    return Columns(
        names=names,
        index=_make_unique(names, scope_codes),
        by_id=by_id,
        kinds=np.array(kinds, np.uint8),
        ops=np.array(ops, np.int32),
        op_names=list(op_codes),
        scopes=np.array(scopes, np.int32),
        scope_paths=list(scope_codes),
        outputs=outputs,
        attributes=attributes,
        stacks=np.array(stacks, np.int32),
        stack_texts=list(stack_codes),
        trainable=trainable,
        values=values,
        input_start=start,
        input_source=np.fromiter((by_id.get(one[0], -1) for one in inputs), np.int32, len(inputs)),
        input_target=np.repeat(np.arange(len(names), dtype=np.int32), np.diff(start)),
        input_slot=np.fromiter((one[1] for one in inputs), np.int32, len(inputs)),
        input_control=np.fromiter((one[2] for one in inputs), np.bool_, len(inputs)),
    )


def _add_scope(path: str, codes: dict[str, int]) -> int:
    """Numbers a new scope, and before it those above it that are new too."""
    missing = []
    while path not in codes:
        missing.append(path)
        path = path.rpartition("/")[0]
    for path in reversed(missing):
        codes[path] = len(codes)
    return codes[path]


def _make_unique(names: list[str], scopes: Mapping[str, int]) -> dict[str, int]:
    """Renames in place: a name that is a scope's becomes "scope/(name)", the second of one name "name#2"."""
    index: dict[str, int] = {}
    last_numbers: dict[str, int] = {}
    for node, name in enumerate(names):
        if name in scopes:
            head, slash, tail = name.rpartition("/")
            name = f"{head}{slash}({tail})"
        unique, number = name, last_numbers.get(name, 1)
        while unique in index or unique in scopes:
            number += 1
            unique = f"{name}#{number}"
            last_numbers[name] = number
        names[node] = unique
        index[unique] = node
    return index
