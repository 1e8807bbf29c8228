"""Number formats that numpy lacks, held as raw bits: bfloat16, float8_e4m3fn and float8_e5m2.

Arrays in them come as unsigned integers with the name of the format beside, or with the data type that the package
ml_dtypes adds to numpy. Every value of theirs is a float32, exactly.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.core.tensors.bfloat16 import decode_bfloat16

FORMATS: dict[str, np.dtype[Any]] = {
    "bfloat16": np.dtype(np.uint16),
    "float8_e4m3fn": np.dtype(np.uint8),
    "float8_e5m2": np.dtype(np.uint8),
}


def as_bits(array: NDArray[Any], dtype: str = "") -> tuple[NDArray[Any], str]:
    """The array as numpy knows it, without a copy, and the format that it is in; "" for numpy's own types.

    dtype: the name that came with the array, which only counts for unsigned integers of the size of that format.
    """
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "u" and dtype in FORMATS and FORMATS[dtype].itemsize == size:
        return array, dtype
    if kind in "Vf" and size <= 2 and array.dtype.name in FORMATS:
        name = array.dtype.name
        bits: NDArray[Any] = array.view(FORMATS[name])
        return bits, name
    return array, ""


def decode(bits: NDArray[Any], format: str) -> NDArray[Any]:
    """The values of `bits`, which are in `format`; what has no format stays as it is."""
    if not format:
        return bits
    return decode_bfloat16(bits) if format == "bfloat16" else _float8_table(format)[bits]


@cache
def _float8_table(format: str) -> NDArray[np.float32]:
    """The value of each of the 256 patterns."""
    bits = np.arange(256)
    mantissa_bits, bias = (3, 7) if format == "float8_e4m3fn" else (2, 15)
    exponent = (bits & 0x7F) >> mantissa_bits
    mantissa = bits & ((1 << mantissa_bits) - 1)
    significand = np.where(exponent == 0, mantissa, mantissa + (1 << mantissa_bits))
    values = np.ldexp(significand.astype(np.float32), np.maximum(exponent, 1) - bias - mantissa_bits)
    if format == "float8_e4m3fn":  # no infinities, and a NaN only where all bits are set
        values[0x7F::0x80] = np.nan
    else:
        values[exponent == 31] = np.where(mantissa[exponent == 31] == 0, np.inf, np.nan)
    result: NDArray[np.float32] = np.where(bits < 0x80, values, -values).astype(np.float32)
    return result
