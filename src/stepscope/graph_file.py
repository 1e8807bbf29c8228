"""The records of a graph as a file: how a probe hands its agent a graph without protobuf in the training process.

JSON, one list a record. Types and stacks, which repeat a lot, stand once in tables of their own. Attributes and the
values of constants come back as they were where they are scalars, texts, tuples, lists, dicts or arrays, nested or not;
anything else becomes its text. Invariant: `load(path)` after `dump(records, path)` gives equal records in order.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from stepscope.core.graph.records import InputRef, NodeRecord, TensorType

_VERSION = 1
_SIMPLE = (bool, int, float, str, type(None))


def dump(records: Iterable[NodeRecord], path: Path) -> None:
    """Writes the file anew; OSError where it can't."""
    types: dict[TensorType, int] = {}
    stacks: dict[str, int] = {}
    rows = [
        [
            record.id,
            record.name,
            record.op,
            record.kind,
            [list(one) for one in record.inputs],
            [types.setdefault(one, len(types)) for one in record.outputs],
            {name: _plain(value) for name, value in record.attributes.items()},
            stacks.setdefault(record.stack, len(stacks)),
            record.trainable,
            _plain(record.value),
        ]
        for record in records
    ]
    content = {
        "version": _VERSION,
        "types": [[one.dtype, one.shape] for one in types],
        "stacks": list(stacks),
        "records": rows,
    }
    path.write_text(json.dumps(content, separators=(",", ":")))


def load(path: Path) -> Iterator[NodeRecord]:
    """ValueError where the file is not one of `dump`'s; OSError where it can't be read."""
    content = json.loads(path.read_text())
    if content["version"] != _VERSION:
        raise ValueError(f"a graph file of version {content['version']}")
    types = [TensorType(dtype, None if shape is None else tuple(shape)) for dtype, shape in content["types"]]
    stacks = content["stacks"]
    for identity, name, op, kind, inputs, outputs, attributes, stack, trainable, value in content["records"]:
        yield NodeRecord(
            identity,
            name,
            op,
            kind,
            inputs=[InputRef(*one) for one in inputs],
            outputs=tuple(types[one] for one in outputs),
            attributes={key: _original(one) for key, one in attributes.items()},
            stack=stacks[stack],
            trainable=trainable,
            value=_original(value),
        )


def _plain(value: Any) -> Any:
    """A tuple is a list in JSON; everything else that JSON has no word for is an object with one key that names it."""
    if type(value) in _SIMPLE:
        return value
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, list):
        return {"list": [_plain(one) for one in value]}
    if isinstance(value, Mapping):
        return {"dict": {str(name): _plain(one) for name, one in value.items()}}
    if isinstance(value, np.generic):
        return value.item() if type(value.item()) in _SIMPLE else str(value)
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        little = value.astype(value.dtype.newbyteorder("<"), copy=False)
        return {"array": [little.dtype.str, list(value.shape), base64.b64encode(little.tobytes()).decode()]}
    return str(value)


def _original(plain: Any) -> Any:
    if isinstance(plain, list):
        return tuple(map(_original, plain))
    if not isinstance(plain, dict):
        return plain
    ((kind, content),) = plain.items()
    if kind == "list":
        return list(map(_original, content))
    if kind == "dict":
        return {name: _original(one) for name, one in content.items()}
    dtype, shape, data = content
    return np.frombuffer(base64.b64decode(data), np.dtype(dtype)).reshape(shape)
