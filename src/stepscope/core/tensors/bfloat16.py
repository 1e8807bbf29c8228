"""bfloat16, which numpy lacks: its 16 bits are the upper half of a float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def decode_bfloat16(bits: NDArray[np.uint16]) -> NDArray[np.float32]:
    """The values, exactly, as a new float32 array of the same shape in C order.

    bits: uint16 of any shape, strides and byte order. Raises ValueError for other types.
    """
    source: NDArray[Any] = np.asarray(bits)
    if source.dtype.kind != "u" or source.dtype.itemsize != 2:
        raise ValueError(f"the bits of bfloat16 come as uint16, not as {source.dtype}")
    result = np.empty(source.shape, np.uint32)
    np.left_shift(source, 16, out=result, dtype=np.uint32)
    return result.view(np.float32)
