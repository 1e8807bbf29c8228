"""Two values of a tensor side by side, and their difference in a type so wide that nothing overflows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from stepscope.core.tensors.blocks import blocks, working_dtype
from stepscope.core.tensors.formats import decode

Types = tuple[np.dtype[Any], list[np.dtype[Any]]]


def types_of(x: NDArray[Any], p: NDArray[Any], formats: tuple[str, str]) -> Types:
    """A type that holds the values of both, and the types in which the bits of each are read."""
    own = [working_dtype(x.dtype), working_dtype(p.dtype)]
    types = [np.dtype(np.float32) if name else dtype for dtype, name in zip(own, formats, strict=True)]
    common = types[0] if types[0] == types[1] else working_dtype(np.result_type(*types, np.float64))
    return common, [dtype if name else common for dtype, name in zip(own, formats, strict=True)]


def pairs(
    x: NDArray[Any], p: NDArray[Any], formats: tuple[str, str], order: Literal["K", "C"] = "K"
) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Matching blocks of values, of one type that holds those of both."""
    common, read = types_of(x, p, formats)
    for new, old in blocks(x, p, dtype=read, order=order):
        yield (
            decode(new, formats[0]).astype(common, copy=False),
            decode(old, formats[1]).astype(common, copy=False),
        )


def difference(new: NDArray[Any], old: NDArray[Any]) -> NDArray[Any]:
    """new - old as float64 or complex128, right to the last digit also where the integers themselves don't fit."""
    if new.dtype.kind == "c":
        return np.asarray(new - old)
    if new.dtype.kind in "iu" and new.dtype.itemsize == 8:
        less = new < old
        above, below = new.view(np.uint64), old.view(np.uint64)
        distance = np.where(less, below - above, above - below).astype(np.float64)  # unsigned, the difference fits
        return np.asarray(np.where(less, -distance, distance))
    result = new.astype(np.float64)  # faster than to let numpy cast while it subtracts
    result -= old.astype(np.float64, copy=False)
    return np.asarray(result)


def real(block: NDArray[Any]) -> NDArray[Any]:
    """The values as they are drawn and measured: complex ones by their magnitude."""
    return np.asarray(np.abs(block)) if block.dtype.kind == "c" else block
