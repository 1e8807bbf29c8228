"""Figures of one tensor, and of its change from step to step.

Invariants: one pass over the data in blocks of bounded size, whatever the layout; inputs are only read; numpy's
warnings stay inside. Complex tensors are described by the magnitude of their elements (so none is negative), bools by
0 and 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stepscope.core.errors import BadRequest
from stepscope.core.ports import Comparison, TensorStats
from stepscope.core.tensors.blocks import blocks, working_dtype
from stepscope.core.tensors.moments import Accumulator, Scratch

_TINY = 1e-9  # keeps update_ratio finite for a tensor that was all zero


def stats(array: ArrayLike, dtype: str = "", step: int = 0) -> TensorStats:
    """Figures of a whole tensor.

    array: any shape and strides; bool, integers, floats or complex. Of 64-bit integers beyond 2**53 min and max are the
        doubles nearest to the true ones, mean and std those of the values rounded to doubles.
    dtype: the name to report, where numpy's is not the one of the framework ("bfloat16" held as float32).
    step: the step to report.
    Raises BadRequest for arrays that do not hold numbers.
    """
    values = np.asarray(array)
    working = working_dtype(values.dtype)
    figures = Accumulator(Scratch(values.size))
    with np.errstate(all="ignore"):
        for (block,) in blocks(values, dtype=working):
            figures.add(_real(block))
    return figures.result(dtype or values.dtype.name, values.shape, step)


def compare(
    current: ArrayLike, previous: ArrayLike, dtype: str = "", step: int = 0, previous_step: int = 0
) -> Comparison:
    """The current value of a tensor against an earlier one, element by element.

    current, previous: arrays of the same shape, as for `stats`. The difference is taken in float64 (complex128), for
        64-bit integers exactly before it is rounded to float64; of bools it is 1 where they differ. Only float64 values
        more than the largest double apart give an infinite difference. Infinity minus itself is NaN.
    dtype: the name to report for both values, as for `stats`; `difference` bears the type it was taken in.
    Raises BadRequest for different shapes and for arrays that do not hold numbers.
    """
    now, before = np.asarray(current), np.asarray(previous)
    if now.shape != before.shape:
        raise BadRequest(f"can't compare: the current value has the shape {now.shape}, the previous one {before.shape}")
    working = working_dtype(now.dtype)
    if working_dtype(before.dtype) != working:
        working = working_dtype(np.result_type(now, before, np.float64))
    logical = now.dtype.kind == before.dtype.kind == "b"
    scratch = Scratch(now.size)
    figures_now, figures_before, figures_change = (Accumulator(scratch) for _ in range(3))
    changed = 0
    with np.errstate(all="ignore"):
        for new, old in blocks(now, before, dtype=working):
            figures_now.add(_real(new))
            figures_before.add(_real(old))
            figures_change.add(np.bitwise_xor(new, old) if logical else _real(_difference(new, old)))
            changed += _changed_count(new, old)
    difference_dtype = "bool" if logical else "complex128" if working.kind == "c" else "float64"
    result_before = figures_before.result(dtype or before.dtype.name, before.shape, previous_step)
    result_change = figures_change.result(difference_dtype, now.shape, step)
    return Comparison(
        current=figures_now.result(dtype or now.dtype.name, now.shape, step),
        previous=result_before,
        difference=result_change,
        changed_count=changed,
        update_ratio=result_change.abs_mean / (result_before.abs_mean + _TINY),
    )


def _real(block: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(np.abs(block)) if block.dtype.kind == "c" else block


def _difference(new: NDArray[Any], old: NDArray[Any]) -> NDArray[Any]:
    """new - old as float64 or complex128, right to the last digit also where the integers themselves don't fit."""
    if new.dtype.kind == "c":
        return np.asarray(new - old)
    rounded: NDArray[Any] = np.subtract(new, old, dtype=np.float64)
    if new.dtype.kind in "iu" and new.dtype.itemsize == 8:
        wrapped = (new - old).view(np.int64)  # exact wherever the true difference fits int64
        rounded = np.where(np.abs(rounded) < 2.0**62, wrapped, rounded)
    return rounded


def _changed_count(new: NDArray[Any], old: NDArray[Any]) -> int:
    changed = np.count_nonzero(new != old)
    if changed and new.dtype.kind in "fc":
        changed -= np.count_nonzero(np.isnan(new) & np.isnan(old))
    return int(changed)
