"""Figures of one tensor, and of its change from step to step, as people ask for them.

Complex tensors are described by the magnitude of their elements (so none is negative), bools by 0 and 1.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stepscope.core.errors import BadRequest
from stepscope.core.ports import Comparison, TensorStats
from stepscope.core.tensors import one_pass
from stepscope.core.tensors.arrays import as_array
from stepscope.core.tensors.formats import as_bits
from stepscope.core.tensors.moments import Summary
from stepscope.core.tensors.numpy_pass import TINY


def stats(array: ArrayLike, dtype: str = "", step: int = 0) -> TensorStats:
    """Figures of a whole tensor.

    array: of numpy, PyTorch, JAX or MindSpore, with any shape and strides; bool, integers, floats or complex, or raw
        bits of a format that `dtype` names. Of 64-bit integers beyond 2**53 min and max are the doubles nearest to the
        true ones, mean and std those of the values rounded to doubles.
    dtype: the name to report, where numpy's is not the one of the framework ("bfloat16" held as float32).
    step: the step to report.
    Raises BadRequest for arrays that do not hold numbers.
    """
    values = as_array(array)
    bits, format = as_bits(values, dtype)
    summary, _ = one_pass.measure_one(bits, format)
    return _stats(dtype or _name(values.dtype), values.shape, step, summary)


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
    now, before = as_array(current), as_array(previous)
    if now.shape != before.shape:
        raise BadRequest(f"can't compare: the current value has the shape {now.shape}, the previous one {before.shape}")
    (bits, format), (bits_before, format_before) = as_bits(now, dtype), as_bits(before, dtype)
    summaries = one_pass.compare(bits, bits_before, (format, format_before))
    kinds = {now.dtype.kind, before.dtype.kind}
    difference_dtype = "bool" if kinds == {"b"} else "complex128" if "c" in kinds else "float64"
    result_before = _stats(dtype or _name(before.dtype), before.shape, previous_step, summaries[1])
    result_change = _stats(difference_dtype, now.shape, step, summaries[2])
    return Comparison(
        current=_stats(dtype or _name(now.dtype), now.shape, step, summaries[0]),
        previous=result_before,
        difference=result_change,
        changed_count=summaries[3],
        update_ratio=result_change.abs_mean / (result_before.abs_mean + TINY),
    )


def _stats(dtype: str, shape: tuple[int, ...], step: int, summary: Summary) -> TensorStats:
    count, nan, positive_inf, negative_inf, zero, negative, positive, low, high, mean, abs_mean, std = summary
    moments = (low, high, mean, abs_mean, std)
    return TensorStats(dtype, shape, step, count, *moments, zero, negative, positive, nan, negative_inf, positive_inf)


@cache
def _name(dtype: np.dtype[Any]) -> str:
    return str(dtype.name)  # which numpy makes anew each time
