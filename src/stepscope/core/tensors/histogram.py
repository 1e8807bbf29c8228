"""How the values of a part of a tensor are spread."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stepscope.core.looks import Histogram
from stepscope.core.tensors.part import Part

_WORD = 1 << 64
_EXACT = float(1 << 53)

Counts = NDArray[np.int64]


def histogram(part: Part, bins: int) -> Histogram:
    """At most `bins` bins, as `Histogram` describes them."""
    summary = part.summary
    nan, positive_inf, negative_inf = summary[1:4]
    low, high = summary[7:9]
    start, end, counts = low, high, np.zeros(0, np.int64)
    if part.kind == "b":
        ones = summary[6]
        start, end, counts = 0.0, 2.0, np.array([part.size - ones, ones] if part.size else [], np.int64)
    elif part.kind in "iu" and part.size:
        start, end, counts = _of_integers(part, bins)
    elif not math.isnan(low):
        counts = _of_floats(part, low, high, bins)
    return Histogram(
        dtype=part.dtype,
        step=part.step,
        shape=part.shape,
        count=part.size,
        low=low,
        high=high,
        start=start,
        end=end,
        counts=tuple(counts.tolist()),
        nan_count=nan,
        negative_inf_count=negative_inf,
        positive_inf_count=positive_inf,
    )


def _of_floats(part: Part, low: float, high: float, bins: int) -> Counts:
    if low == high:
        return np.array([part.size - sum(part.summary[1:4])])
    counts = np.zeros(bins + 1, np.int64)  # the last one for `high` itself
    spread = high - low
    scale = bins / spread
    for block in part.blocks():
        finite = block if part.all_finite else block[np.isfinite(block)]
        wide = finite.astype(np.float64, copy=False)
        if math.isinf(spread):
            wide = (wide / 2 - low / 2) / (high / 2 - low / 2) * bins
        elif math.isinf(scale):
            wide = (wide - low) / spread * bins
        else:
            wide = wide - low
            wide *= scale
        counts += np.bincount(wide.astype(np.intp), minlength=bins + 1)
    counts[bins - 1] += counts[bins]
    return counts[:bins]


def _of_integers(part: Part, bins: int) -> tuple[float, float, Counts]:
    low, high = _exact_range(part)
    width = -(-(high - low + 1) // bins)  # how many integers a bin holds
    bins = (high - low) // width + 1
    start, end = float(low), float(low + bins * width)
    if bins == 1:
        return start, end, np.array([part.size])
    counts = np.zeros(bins, np.int64)
    base, step = np.uint64(low % _WORD), np.uint64(width)
    for block in part.blocks():
        wide = block.astype(np.int64 if part.kind == "i" else np.uint64, copy=False).view(np.uint64)
        distance = wide - base  # modulo 2**64, which is where it is less than that
        counts += np.bincount((distance // step).view(np.intp), minlength=bins)
    return start, end, counts


def _exact_range(part: Part) -> tuple[int, int]:
    low, high = part.summary[7:9]
    if max(-low, high) < _EXACT:
        return int(low), int(high)
    ranges = [(int(block.min()), int(block.max())) for block in part.blocks()]  # the figures are rounded to doubles
    return min(least for least, _ in ranges), max(most for _, most in ranges)
