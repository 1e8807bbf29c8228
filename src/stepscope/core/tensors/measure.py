"""All that watchpoints need to know of a tensor, from one pass over its data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from stepscope.core.tensors import one_pass
from stepscope.core.tensors.formats import as_bits


class Figures(NamedTuple):
    """Figures of one value of a tensor, and of its change since a previous value.

    The counts are over all elements; negative and positive include the infinities. min, max, mean, abs_mean and std (of
    the population, divided by n) are over the finite elements, in double precision; they are NaN where there is none.
    Of complex elements it is the magnitude that counts; bools are 0 and 1.
    """

    count: int  # type: ignore[assignment]
    nan_count: int
    positive_inf_count: int
    negative_inf_count: int
    zero_count: int
    negative_count: int
    positive_count: int
    min: float
    max: float
    mean: float
    abs_mean: float
    std: float
    in_range: tuple[int, ...] = ()  # for each range that was asked for, the elements in it
    abs_change: float | None = None  # mean |x - p| where both are finite; NaN for nowhere, inf beyond the doubles
    abs_previous: float | None = None  # mean |p| over the finite p; NaN where there is none
    previous_nan: bool = False
    previous_inf: bool = False
    close: tuple[bool, ...] = ()  # for each tolerance that was asked for: |x - p| <= atol + rtol * |p| everywhere
    max_relative_change: float | None = None  # largest |x - p| / (|p| + 1e-9) where both are finite; NaN for nowhere


def measure(
    x: ArrayLike,
    previous: ArrayLike | None = None,
    ranges: Sequence[tuple[float, float]] = (),
    tolerances: Sequence[tuple[float, float]] = (),
    dtype: str = "",
    threads: int = 0,
) -> Figures:
    """The figures of a whole tensor.

    x: any shape and strides; bool, integers, floats or complex. 64-bit integers beyond 2**53 count as the doubles
        nearest to them, except in x - p, which is exact before it is rounded.
    previous: an earlier value of the same shape, of any type. With another shape there is nothing to compare: the
        figures of the change stay None, `close` stays empty.
    ranges: (start, end) of each range to count in, both inclusive, as doubles.
    tolerances: (rtol, atol) of each test for closeness. NaN and infinity less infinity are close to nothing.
    dtype: the format of arrays that hold raw bits as unsigned integers: "bfloat16", "float8_e4m3fn" or "float8_e5m2".
        Other names don't matter.
    threads: the most that share a big tensor; 0 for as many as there are cores. The figures do not depend on it.
    Raises BadRequest for arrays that do not hold numbers.
    """
    values, format = as_bits(np.asarray(x), dtype)
    if previous is not None:
        before, format_before = as_bits(np.asarray(previous), dtype)
        if before.shape == values.shape:
            formats = (format, format_before)
            summary, within, changes = one_pass.measure_two(values, before, formats, ranges, tolerances, threads)
            return Figures(*summary, within, *changes)
    summary, within = one_pass.measure_one(values, format, ranges, threads)
    return Figures(*summary, within)


def all_finite(x: ArrayLike, dtype: str = "") -> bool:
    """Whether no element is NaN or infinite: at a fraction of the time of `measure`, whose arguments these are."""
    return one_pass.finite(*as_bits(np.asarray(x), dtype))
