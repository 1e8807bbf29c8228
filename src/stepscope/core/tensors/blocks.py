"""Walking over arrays of any layout in blocks that stay in the processor's cache.

Invariants: no more than a block of an array is ever copied at a time, so memory stays bounded for tensors of
any size; contiguous memory (also transposed, reversed, read-only or mapped from a file) is not copied at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from stepscope.core.errors import BadRequest

BLOCK = 1 << 16  # elements: 256 kB of float32 and 512 kB of float64 scratch fit in a usual level-2 cache


def working_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type in which blocks of an array of `dtype` are handed out.

    Nothing is lost by it, but that long doubles are rounded to float64. Raises BadRequest for what holds no numbers.
    """
    if dtype.kind == "b":
        return np.dtype(np.uint8)
    if dtype.kind in "iu":
        native: np.dtype[Any] = dtype.newbyteorder("=")
        return native
    if dtype.kind == "f":
        return np.dtype(np.float32 if dtype.itemsize <= 4 else np.float64)
    if dtype.kind == "c":
        return np.dtype(np.complex128)
    what = "text" if dtype.kind in "US" else str(dtype)
    raise BadRequest(f"this tensor holds {what} and no numbers: its values are not shown", code="no_numbers")


def blocks(
    *arrays: NDArray[Any],
    dtype: np.dtype[Any] | list[np.dtype[Any]],
    order: Literal["K", "C"] = "K",
    size: int | None = None,
) -> Iterator[tuple[NDArray[Any], ...]]:
    """Matching one-dimensional, contiguous blocks of `arrays` (all of one shape), cast to `dtype`; none if empty.

    dtype: one for all arrays, or one for each.

    order: "K" is the order of the elements in memory, "C" that of the array's indices.
    size: the most elements in a block, `BLOCK` unless given.
    A block is only valid until the next one is taken.
    """
    each: list[Any] = ["readonly", "contig", "aligned"]
    iterator = np.nditer(
        [np.atleast_1d(array) for array in arrays],  # numpy 1.26 hands out garbage where it casts 0 dimensions
        flags=["external_loop", "buffered", "zerosize_ok"],
        op_flags=[each] * len(arrays),
        op_dtypes=dtype if isinstance(dtype, list) else [dtype] * len(arrays),
        order=order,
        casting="unsafe",
        buffersize=size or BLOCK,
    )
    for block in iterator:
        yield block if isinstance(block, tuple) else (block,)
