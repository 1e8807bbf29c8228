"""A part of a tensor drawn small: each cell stands for a rectangle of elements.

Invariant: elements are read in rectangles of at most a block, each within one row of cells, whatever the shape.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.core.errors import BadRequest
from stepscope.core.looks import Heatmap, Reduction
from stepscope.core.tensors.blocks import BLOCK
from stepscope.core.tensors.part import Part

Array = NDArray[Any]
Bounds = NDArray[np.intp]
NAN, POSITIVE_INF, NEGATIVE_INF = 1, 2, 4
_LARGEST = float(np.finfo(np.float32).max)


def heatmap(part: Part, rows: int, columns: int, reduce: Reduction) -> Heatmap:
    """At most that many cells, as `Heatmap` describes them. Raises BadRequest for more than two dimensions."""
    if len(part.shape) > 2:
        what = f"a heat map has at most two dimensions, this part has {len(part.shape)}: {part.shape}"
        raise BadRequest(what, field="index")
    plane = part.as_plane()
    height, width = plane.shape
    shape = min(rows, height), min(columns, width)
    flags = np.zeros(shape, np.uint8)
    cells = np.full(shape, np.nan, np.float32)
    if plane.size:
        cells = _drawn(plane, reduce, flags)
    finite = cells[np.isfinite(cells)]
    low, high = (float(finite.min()) + 0.0, float(finite.max()) + 0.0) if finite.size else (math.nan, math.nan)
    return Heatmap(part.dtype, part.step, (height, width), low, high, cells, flags)


def _drawn(plane: Part, reduce: Reduction, flags: NDArray[np.uint8]) -> NDArray[np.float32]:
    needed = _NEEDED[reduce]
    sheets = {name: np.full(flags.shape, initial) for name, (_, initial) in _REDUCTIONS.items() if name in needed}
    share = _share(plane, flags.shape) if "sum" in needed else 1.0
    missing = np.zeros(flags.shape, np.int64)
    for i, place, bounds, block in _rectangles(plane, flags.shape):
        finite = None if plane.all_finite else np.isfinite(block)
        if finite is not None and not finite.all():
            missing[i, place] += _over(np.add, ~finite, bounds, np.int64)
            _mark(flags[i, place], block, bounds)
        else:
            finite = None
        for name, sheet in sheets.items():
            ufunc, neutral = _REDUCTIONS[name]
            values = block if finite is None else np.where(finite, block, neutral)
            if share != 1.0 and name == "sum":
                values = values * share
            reduced = _over(ufunc, values, bounds, np.float64 if name == "sum" else None)
            ufunc(sheet[i, place], reduced, out=sheet[i, place])
    return _cells(reduce, sheets, _areas(plane.shape, flags.shape), missing, share)


def _cells(reduce: Reduction, sheets: dict[str, Array], areas: Array, missing: Array, share: float) -> Array:
    if reduce == "mean":
        values = sheets["sum"] / (np.maximum(areas - missing, 1) * share)
    elif reduce == "extreme":
        values = np.where(sheets["max"] >= -sheets["min"], sheets["max"], sheets["min"])
    else:
        values = sheets[reduce]
    narrow = np.clip(values, -_LARGEST, _LARGEST).astype(np.float32)  # finite values stay so
    narrow[areas == missing] = np.nan
    return np.asarray(narrow)


def _rectangles(plane: Part, shape: tuple[int, int]) -> Iterator[tuple[int, slice, Bounds, Array]]:
    """Row of cells, columns of cells, where the latter begin in the block of elements, and that block."""
    (height, width), (rows, _) = plane.shape, shape
    stretches = _stretches(width, shape[1])
    tall = max(1, BLOCK // min(width, BLOCK))
    for i in range(rows):
        top, bottom = i * height // rows, (i + 1) * height // rows
        for above in range(top, bottom, tall):
            for elements, cells, bounds in stretches:
                yield i, cells, bounds, plane.rectangle(slice(above, min(bottom, above + tall)), elements)


def _stretches(width: int, columns: int) -> list[tuple[slice, slice, Bounds]]:
    """The width of a part in pieces of at most a block: elements, cells, and where in the piece those begin."""
    edges = np.arange(columns + 1) * width // columns
    found = []
    for left in range(0, width, BLOCK):
        right = min(left + BLOCK, width)
        first, last = int(np.searchsorted(edges, left, "right")) - 1, int(np.searchsorted(edges, right))
        found.append((slice(left, right), slice(first, last), np.maximum(edges[first:last] - left, 0)))
    return found


def _over(ufunc: np.ufunc, block: Array, bounds: Bounds, dtype: Any = None) -> Array:
    """The block reduced to one row, and this between the bounds."""
    row = ufunc.reduce(block, axis=0, dtype=dtype) if len(block) > 1 else block[0].astype(dtype or block.dtype)
    return row if len(bounds) == len(row) else np.asarray(ufunc.reduceat(row, bounds))


def _mark(flags: NDArray[np.uint8], block: Array, bounds: Bounds) -> None:
    for flag, there in ((NAN, np.isnan(block)), (POSITIVE_INF, np.isposinf(block)), (NEGATIVE_INF, np.isneginf(block))):
        flags[_over(np.logical_or, there, bounds)] |= flag


def _areas(whole: tuple[int, ...], shape: tuple[int, int]) -> Array:
    """How many elements each cell stands for."""
    heights, widths = (
        np.diff([number * size // cells for number in range(cells + 1)])
        for size, cells in zip(whole, shape, strict=True)
    )
    return np.asarray(np.multiply.outer(heights, widths))


def _share(plane: Part, shape: tuple[int, int]) -> float:
    """What values are multiplied with so that the sum of a cell does not overflow: a power of two."""
    largest = max(-plane.summary[7], plane.summary[8])
    if not largest > 1e290:
        return 1.0
    return math.ldexp(1.0, -math.frexp(float(_areas(plane.shape, shape).max()))[1])


_REDUCTIONS: dict[str, tuple[np.ufunc, float]] = {
    "sum": (np.add, 0.0),
    "min": (np.minimum, math.inf),
    "max": (np.maximum, -math.inf),
}
_NEEDED: dict[Reduction, tuple[str, ...]] = {
    "mean": ("sum",),
    "min": ("min",),
    "max": ("max",),
    "extreme": ("min", "max"),
}
