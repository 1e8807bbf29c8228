"""Tensors of every type and layout, and what plain float64 arithmetic says of them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from stepscope.core.tensors.formats import FORMATS, decode

NAMES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NAMES += ["float16", "float32", "float64", *FORMATS]
SIZES = st.one_of(st.integers(0, 40), st.integers(0, 20_000), st.sampled_from([4095, 4096, 4097, 65_537, 1_000_000]))


def elements(name: str, count: int, seed: int, wild: bool) -> np.ndarray:
    """Small numbers, among them many zeros, or, if `wild`, any bits: all magnitudes, NaN and infinities."""
    random = np.random.default_rng(seed)
    dtype = FORMATS[name] if name in FORMATS else np.dtype(name)
    if name == "bool":
        return random.integers(0, 2, count).astype(bool)
    if wild or name in FORMATS:
        bits = random.integers(0, 256, count * dtype.itemsize, np.uint8).view(dtype)
        return bits if wild else np.where(np.isfinite(decode(bits, name)), bits, 0).astype(dtype)
    whole = random.integers(0 if dtype.kind == "u" else -20, 20, count)
    return (whole / 4 if dtype.kind == "f" else whole).astype(dtype)


@st.composite
def layouts(draw, flat: np.ndarray) -> np.ndarray:
    """`flat`, or most of it, with other strides: transposed, sliced, reversed, repeated without a copy, unaligned."""
    array = flat
    if flat.size and draw(st.booleans()):
        rows = draw(st.integers(1, min(7, flat.size)))
        array = flat[: flat.size // rows * rows].reshape(rows, -1)
        array = array.T if draw(st.booleans()) else array
    steps = st.sampled_from([1, 1, 1, -1, 2, -3])
    array = array[tuple(slice(None, None, draw(steps)) for _ in range(array.ndim))]
    kind = draw(st.sampled_from(["", "", "repeated", "unaligned"]))
    if kind == "repeated":
        return np.broadcast_to(array[..., None, :], (*array.shape[:-1], 3, array.shape[-1]))
    if kind == "unaligned":
        return unaligned(array)
    return array


def unaligned(array: np.ndarray) -> np.ndarray:
    result = np.empty(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    result[...] = array
    return result


def as_doubles(array: np.ndarray, name: str) -> np.ndarray:
    with np.errstate(all="ignore"):
        return decode(array, name if name in FORMATS else "").astype(np.float64)
