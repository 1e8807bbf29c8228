"""Tensors of every type, layout and part to ask questions about, and what plain numpy makes of the whole of them."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import strategies as st
from tensor_samples import NAMES, elements, layouts

from stepscope.core.ports import Tensor
from stepscope.core.tensors import apply_index, look
from stepscope.core.tensors.formats import FORMATS, decode

TYPES = [*NAMES, "complex64", "complex128"]
SIZES = st.one_of(st.integers(0, 40), st.integers(0, 3000), st.just(70_001))
OFS = st.sampled_from(["current", "previous", "difference"])


def ask(question, current, previous=None, dtype=""):
    """The answer; numpy must not warn on the way."""
    values = {"current": current, "previous": current if previous is None else previous}
    tensors = {
        when: Tensor(array, dtype or array.dtype.name, array.shape, 5 - (when == "previous"))
        for when, array in values.items()
    }
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("error")
        return look(question, tensors.__getitem__)


def made(name: str, count: int, seed: int, wild: bool) -> np.ndarray:
    if not name.startswith("complex"):
        return elements(name, count, seed, wild)
    half = "float32" if name == "complex64" else "float64"
    return elements(half, 2 * count, seed, wild).view(name)


@st.composite
def samples(draw):
    """Type, current and previous value: mostly the same, in different layouts."""
    name, seed = draw(st.sampled_from(TYPES)), draw(st.integers(0, 1000))
    array = draw(layouts(made(name, draw(SIZES), seed, draw(st.booleans()))))
    other = made(name, array.size, seed + 1, draw(st.booleans())).reshape(array.shape)
    kept = np.random.default_rng(seed).random(array.shape) < draw(st.sampled_from([0.0, 0.9, 1.0]))
    previous = np.where(kept, array, other).astype(array.dtype)
    return name, array, np.asfortranarray(previous) if draw(st.booleans()) else previous


@st.composite
def indices(draw, shape: tuple[int, ...]) -> str | None:
    if draw(st.booleans()):
        return None
    parts = []
    for size in shape:
        ends = st.one_of(st.just(""), st.integers(-size - 2, size + 2))
        cut = f"{draw(ends)}:{draw(ends)}:{draw(st.sampled_from(['', 1, -1, 2, -3]))}"
        parts.append(str(draw(st.integers(-size, size - 1))) if size and draw(st.booleans()) else cut)
    return ", ".join(parts)


def wide(array: np.ndarray, name: str) -> np.ndarray:
    """The values as Python has them: exact whole numbers, doubles, magnitudes."""
    if array.dtype.kind in "iu" and name not in FORMATS:
        return array.astype(object)
    with np.errstate(all="ignore"):
        values = decode(array, name if name in FORMATS else "")
        return np.abs(values.astype(np.complex128)) if array.dtype.kind == "c" else values.astype(np.float64)


def expected(name: str, array: np.ndarray, previous: np.ndarray, of: str, index: str | None) -> np.ndarray:
    """The part that is asked for, in whole numbers or doubles."""
    now, before = apply_index(array, index), apply_index(previous, index)
    if of != "difference":
        return wide(now if of == "current" else before, name)
    with np.errstate(all="ignore"):
        if now.dtype.kind == "c":
            return np.abs(now.astype(np.complex128) - before.astype(np.complex128))
        if now.dtype.kind == "b":
            return (now != before).astype(np.float64)
        return np.asarray(wide(now, name) - wide(before, name)).astype(np.float64)


def doubles(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float64)


def sought(values: np.ndarray, what: str) -> np.ndarray:
    flat = values.ravel()
    if values.dtype == object:
        if what not in ("max", "min") or not flat.size:
            return np.array([], int)
        return np.flatnonzero(flat == (max(flat) if what == "max" else min(flat)))
    tests = {"nonfinite": ~np.isfinite(flat), "nan": np.isnan(flat), "inf": np.isinf(flat)}
    finite = flat[np.isfinite(flat)]
    if what in tests or not finite.size:
        return np.flatnonzero(tests.get(what, np.zeros(flat.size, bool)))
    return np.flatnonzero(flat == (finite.max() if what == "max" else finite.min()))
