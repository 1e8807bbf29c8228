"""Running figures over blocks of one tensor, in one pass, in double precision: the part of `numpy_pass` for one value.

Invariants: blocks may come in any number and size, the figures do not depend on it but for rounding; mean and spread of
the blocks are merged after Chan, Golub and LeVeque, on standard deviations instead of their squares so that nothing
overflows or underflows over the whole range of doubles. Callers silence numpy's warnings (`np.errstate`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.core.tensors.blocks import BLOCK

# count, nan, positive_inf, negative_inf, zero, negative, positive; min, max, mean, abs_mean, std: as in `Figures`
Summary = tuple[int, int, int, int, int, int, int, float, float, float, float, float]
_NARROW = 1e-3  # a variance below this share of the mean square is computed again, around the mean


class Scratch:
    """Memory for one block, shared by accumulators that take turns; `size` is the number of elements of the tensor."""

    def __init__(self, size: int):
        self.wide = np.empty(min(size, BLOCK), np.float64)
        self.mask = np.empty(min(size, BLOCK), np.bool_)


class Accumulator:
    """Takes real, contiguous blocks with `add`, and gives the figures of all of them with `result`."""

    def __init__(self, scratch: Scratch):
        self._scratch = scratch
        self._low: float = math.inf  # whole numbers stay Python ints, so they stay exact
        self._high: float = -math.inf
        self._finite = 0
        self._mean = self._abs_mean = self._std = math.nan
        self._zero = self._negative = self._nan = self._negative_inf = self._positive_inf = 0

    def add(self, block: NDArray[Any]) -> None:
        """Take in one block: 1-D, contiguous, not empty, float32, float64 or any integer type of numpy."""
        low, high = block.min().item(), block.max().item()
        if not (-math.inf < low and high < math.inf):  # NaN, which min and max hand on, comes here too
            block = self._without_non_finite(block)
            if not block.size:
                return
            low, high = block.min().item(), block.max().item()
        self._low, self._high = min(self._low, low), max(self._high, high)
        if low <= 0 <= high:
            self._zero += self._count(np.equal, block, 0)
        if high < 0:
            self._negative += block.size
        elif low < 0:
            self._negative += self._count(np.less, block, 0)
        self._merge(block.size, *_block_moments(block, low, high, self._scratch.wide[: block.size]))

    def summary(self) -> Summary:
        low, high, mean = math.nan, math.nan, math.nan
        if self._finite:
            low, high = float(self._low) + 0.0, float(self._high) + 0.0  # + 0.0 makes 0.0 of -0.0
            mean = min(max(self._mean, low), high) + 0.0
        count = self._finite + self._nan + self._negative_inf + self._positive_inf
        negative = self._negative + self._negative_inf
        positive = self._finite - self._zero - self._negative + self._positive_inf
        counts = (count, self._nan, self._positive_inf, self._negative_inf, self._zero, negative, positive)
        return (*counts, low, high, mean, self._abs_mean, self._std)

    def _count(self, relation: np.ufunc, block: NDArray[Any], value: float) -> int:
        return int(np.count_nonzero(relation(block, value, out=self._scratch.mask[: block.size])))

    def _without_non_finite(self, block: NDArray[Any]) -> NDArray[Any]:
        finite: NDArray[Any] = block[np.isfinite(block, out=self._scratch.mask[: block.size])]
        positive_inf = self._count(np.equal, block, math.inf)
        negative_inf = self._count(np.equal, block, -math.inf)
        self._positive_inf += positive_inf
        self._negative_inf += negative_inf
        self._nan += block.size - finite.size - positive_inf - negative_inf
        return finite

    def _merge(self, count: int, mean: float, abs_mean: float, std: float) -> None:
        if not self._finite:
            self._finite, self._mean, self._abs_mean, self._std = count, mean, abs_mean, std
            return
        old, new = self._finite / (self._finite + count), count / (self._finite + count)
        half = mean / 2 - self._mean / 2  # the difference itself may be beyond the largest double
        self._std = math.hypot(self._std * math.sqrt(old), std * math.sqrt(new), half * (2 * math.sqrt(old * new)))
        self._mean = self._mean + half * new + half * new
        self._abs_mean += (abs_mean - self._abs_mean) * new
        self._finite += count


def _block_moments(
    block: NDArray[Any], low: float, high: float, wide: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Mean, mean of the absolute values and standard deviation of finite values between `low` and `high`."""
    if low == high:
        return float(low), abs(float(low)), 0.0
    largest = max(-low, high)
    np.copyto(wide, block)
    if 1e-100 < largest < 1e100:
        return _moments(wide, low, high)
    # Squares would overflow or underflow: bring the values near 1 by a power of two, which rounds nothing that counts.
    exponent = math.frexp(largest)[1]
    np.ldexp(wide, -exponent, out=wide)
    limit = math.ldexp(largest, -exponent)
    mean, abs_mean, std = (max(-limit, min(figure, limit)) for figure in _moments(wide, low, high))
    return math.ldexp(mean, exponent), math.ldexp(abs_mean, exponent), math.ldexp(std, exponent)


def _moments(wide: NDArray[np.float64], low: float, high: float) -> tuple[float, float, float]:
    """As `_block_moments`, for values whose squares fit. Overwrites `wide`; only the signs of the limits count."""
    count = wide.size
    total = float(np.einsum("i->", wide))  # the fastest sum of numpy
    mean = total / count
    mean_square = float(np.einsum("i,i->", wide, wide)) / count
    variance = mean_square - mean * mean
    if variance < _NARROW * mean_square:  # digits cancelled
        deviation = wide - mean
        shift = float(np.einsum("i->", deviation)) / count
        variance = max(0.0, float(np.einsum("i,i->", deviation, deviation)) / count - shift * shift)
        mean += shift
    abs_mean = float(np.einsum("i->", np.abs(wide, out=wide))) / count if low < 0 < high else abs(mean)
    return mean, abs_mean, math.sqrt(variance)
