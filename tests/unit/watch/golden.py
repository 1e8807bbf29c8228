"""Reads the outcomes that were recorded from MindSpore's own watchpoint library, and rebuilds their tensors.

A row of `watchpoints.jsonl` tells a condition, its parameters, recipes of the tensors, and what came of it.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, Any]

FILE = Path(__file__).parents[2] / "data" / "watchpoints.jsonl.gz"
ERROR_BITS = {1: "nan", 2: "inf", 4: "no_previous", 32: "no_value"}


@cache
def _rows() -> tuple[Row, ...]:
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        return tuple(map(json.loads, lines))


def rows(kind: str) -> list[Row]:
    return [row for row in _rows() if row["kind"] == kind]


def tensor(recipe: Row, current: np.ndarray | None = None) -> np.ndarray:
    """What a recipe describes; `current` is what "from_cur" starts from."""
    dtype, shape = np.dtype(recipe["dtype"]), tuple(recipe["shape"])
    kind = recipe.get("gen", "values")
    if kind == "values":
        flat = _cast(recipe["values"], dtype)
    elif kind == "full":
        flat = np.repeat(_cast([recipe["value"]], dtype), int(np.prod(shape)))
    elif kind == "hash":
        index = np.arange(int(np.prod(shape)), dtype=np.uint64)
        mixed = (index * np.uint64(2654435761) + np.uint64(recipe["seed"] * 40503 + 12345)) % np.uint64(2**32)
        flat = (recipe["lo"] + (recipe["hi"] - recipe["lo"]) * (mixed / 2.0**32)).astype(dtype)
    elif kind == "numpy":
        flat = np.asarray(eval(recipe["expr"], {"np": np})).astype(dtype).ravel()
    else:
        assert (kind, current is None) == ("from_cur", False)
        flat = (current.astype(np.float64) * recipe["mul"] + recipe["add"]).astype(dtype).ravel()
    flat = flat.copy()
    for index, value in recipe.get("set", ()):
        flat[index] = _cast([value], dtype)[0]
    return flat.reshape(shape)


def previous(row: Row, current: np.ndarray) -> np.ndarray | None:
    """The tensor of the step before: of the entry before `step` in the history, where that has one."""
    context, history = row["context"], row["context"]["history"]
    if row["prev"] is None or history is None or row["step"] not in history:
        return None
    place = history.index(row["step"])
    if place == 0 or history[place - 1] != context["prev_step"]:
        return None
    return tensor(row["prev"], current)


def number(value: Any) -> float:
    """ "nan", "inf" and "-inf" stand for what JSON has no numbers for."""
    return float(value)


def _cast(values: list[Any], dtype: np.dtype[Any]) -> np.ndarray:
    if dtype.kind in "iu":
        return np.array([int(value) for value in values], dtype)
    return np.array([float(value) for value in values], np.float64).astype(dtype)
