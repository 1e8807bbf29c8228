"""All figures of a tensor in one pass with numpy alone: for what the C kernel does not take, and where there is none.

Invariants: one pass over the data in blocks of bounded size, whatever the layout; inputs are only read; numpy's
warnings stay inside. Complex tensors are described by the magnitude of their elements (so none is negative), bools by
0 and 1. Differences are taken in float64 (complex128), those of 64-bit integers exactly before they are rounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.core.tensors.blocks import blocks, working_dtype
from stepscope.core.tensors.formats import decode
from stepscope.core.tensors.moments import Accumulator, Scratch, Summary
from stepscope.core.tensors.pairs import difference, pairs, real

TINY = 1e-9  # keeps ratios to a previous value finite where that was 0

# abs_change, abs_previous, previous_nan, previous_inf, close, max_relative_change: as in `Figures`
Changes = tuple[float, float, bool, bool, tuple[bool, ...], float]
Pair = tuple[float, float]


def measure_one(x: NDArray[Any], format: str, ranges: Sequence[Pair]) -> tuple[Summary, tuple[int, ...]]:
    """What `x` is like, and how many elements are in each of the ranges.

    format: that of the bits in `x`; "" for numpy's own types.
    """
    figures, within = Accumulator(Scratch(x.size)), [0] * len(ranges)
    with np.errstate(all="ignore"):
        for (bits,) in blocks(x, dtype=working_dtype(x.dtype)):
            block = real(decode(bits, format))
            figures.add(block)
            _count_in_ranges(block, ranges, within)
    return figures.summary(), tuple(within)


def measure_two(
    x: NDArray[Any],
    p: NDArray[Any],
    formats: tuple[str, str],
    ranges: Sequence[Pair],
    tolerances: Sequence[Pair],
) -> tuple[Summary, tuple[int, ...], Changes]:
    """As `measure_one`, with the changes since `p`, which has the shape of `x`."""
    scratch, within = Scratch(x.size), [0] * len(ranges)
    figures, figures_before, figures_change = (Accumulator(scratch) for _ in range(3))
    close, largest, overflow = [True] * len(tolerances), math.nan, False
    with np.errstate(all="ignore"):
        for new, old in pairs(x, p, formats):
            block = real(new)
            figures.add(block)
            _count_in_ranges(block, ranges, within)
            figures_before.add(real(old))
            change = np.abs(difference(new, old))
            figures_change.add(change)
            overflow = overflow or bool((np.isinf(change) & np.isfinite(new) & np.isfinite(old)).any())
            base = np.abs(old.astype(np.complex128 if old.dtype.kind == "c" else np.float64, copy=False))
            for number, (relative, absolute) in enumerate(tolerances):
                close[number] = close[number] and bool(np.all(change <= absolute + relative * base))
            share = change / (base + TINY)
            share = share[np.isfinite(change) & np.isfinite(base)]
            if share.size:
                largest = max(float(share.max()), -1.0 if math.isnan(largest) else largest)
    before = figures_before.summary()
    abs_change = math.inf if overflow else figures_change.summary()[10]
    non_finite = (before[1] > 0, before[2] + before[3] > 0)
    changes = (abs_change, before[10], *non_finite, tuple(close), largest)
    return figures.summary(), tuple(within), changes


def finite(x: NDArray[Any], format: str) -> bool:
    """Whether no element is NaN or infinite."""
    _, nan, positive_inf, negative_inf, *_ = measure_one(x, format, ())[0]
    return not (nan or positive_inf or negative_inf)


def compare(x: NDArray[Any], p: NDArray[Any], formats: tuple[str, str]) -> tuple[Summary, Summary, Summary, int]:
    """Figures of `x`, of `p` and of x - p, arrays of one shape; the number of elements that are not equal."""
    scratch = Scratch(x.size)
    figures, figures_before, figures_change = (Accumulator(scratch) for _ in range(3))
    logical, changed = x.dtype.kind == p.dtype.kind == "b", 0
    with np.errstate(all="ignore"):
        for new, old in pairs(x, p, formats):
            figures.add(real(new))
            figures_before.add(real(old))
            figures_change.add(np.bitwise_xor(new, old) if logical else real(difference(new, old)))
            changed += _changed_count(new, old)
    return figures.summary(), figures_before.summary(), figures_change.summary(), changed


def _count_in_ranges(block: NDArray[Any], ranges: Sequence[Pair], within: list[int]) -> None:
    if ranges:
        wide = block.astype(np.float64)  # numpy would round the limits to the type of the block
        for number, (start, end) in enumerate(ranges):
            within[number] += int(np.count_nonzero((wide >= start) & (wide <= end)))


def _changed_count(new: NDArray[Any], old: NDArray[Any]) -> int:
    changed = np.count_nonzero(new != old)
    if changed and new.dtype.kind in "fc":
        changed -= np.count_nonzero(np.isnan(new) & np.isnan(old))
    return int(changed)
