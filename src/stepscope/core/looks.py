"""Questions about one tensor that are answered next to its data, and their answers: plain types.

Most questions are `of` the current value, the previous one, or their difference (current - previous, in a type so wide
that nothing overflows), and of a part of it that `index` selects (Python's slice syntax; None is all). Complex elements
count by their magnitude, bools as 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

Of = Literal["current", "previous", "difference"]
Reduction = Literal["mean", "min", "max", "extreme"]
Sought = Literal["nonfinite", "nan", "inf", "max", "min"]

A = TypeVar("A")


class Question(Generic[A]):
    """Base of the questions; `A` is what answers it."""


@dataclass(frozen=True)
class Histogram:
    """How the finite values of a part are spread: `counts` in equal bins from `start` to `end`.

    A bin has its lower border, the last one both. Of floats the bins go from `low` to `high`, the smallest and the
    largest finite value; of integers each holds equally many of them, so that `end` may lie beyond `high` + 1; bools
    have two bins. Where all values are equal there is one bin; where none is finite there is none, and low is NaN.
    """

    dtype: str
    step: int
    shape: tuple[int, ...]  # of the part
    count: int
    low: float
    high: float
    start: float
    end: float
    counts: tuple[int, ...]
    nan_count: int
    negative_inf_count: int
    positive_inf_count: int


@dataclass(frozen=True, eq=False)
class Heatmap:
    """A part of at most two dimensions, drawn small.

    Cell (i, j) stands for rows i*R//rows to (i+1)*R//rows of the part, R of them in all, and columns likewise.
    """

    dtype: str
    step: int
    shape: tuple[int, int]  # of the part: one of N elements is (1, N), a single element (1, 1)
    low: float  # of the cells that are finite; NaN where none is
    high: float
    cells: NDArray[np.float32]  # (rows, columns): reduced over the finite values; NaN where there is none
    flags: NDArray[np.uint8]  # of the same shape: 1 a NaN inside, 2 +Inf, 4 -Inf


@dataclass(frozen=True)
class Place:
    """Where in a part something is: None where it is nowhere."""

    position: tuple[int, ...] | None
    flat: int | None  # the same, counted in C order
    count: int  # how many such there are in the part
    value: str  # of the element, to the last digit; "nan", "inf", "-inf"


@dataclass(frozen=True)
class Beyond:
    count: int
    of: int


@dataclass(frozen=True)
class ZeroSlices:
    """How many of the `of` slices along an axis have zeros only."""

    axis: int
    zero: int
    of: int


@dataclass(frozen=True)
class TensorFacts:
    """What the tuning guide needs to know of a tensor beyond its figures."""

    first_nonfinite: tuple[int, ...] | None  # in C order
    zero_slices: tuple[ZeroSlices, ...]  # of axis 0, and of axis 1 where there are more than two
    at_min: int  # how many elements equal the smallest finite value
    at_max: int


@dataclass(frozen=True)
class HistogramQuestion(Question[Histogram]):
    of: Of = "current"
    index: str | None = None
    bins: int = 60  # at most


@dataclass(frozen=True)
class HeatmapQuestion(Question[Heatmap]):
    """`rows` and `columns` of cells, at most. The extreme is the value of the largest magnitude."""

    rows: int
    columns: int
    reduce: Reduction = "mean"
    of: Of = "current"
    index: str | None = None


@dataclass(frozen=True)
class PlaceQuestion(Question[Place]):
    """The first place behind `after` (a position counted in C order of the part) and then from the start on.

    "max" and "min" are the largest and the smallest finite value; "inf" is either infinity.
    """

    what: Sought
    after: int | None = None
    of: Of = "current"
    index: str | None = None


@dataclass(frozen=True)
class BeyondQuestion(Question[Beyond]):
    """How many elements have |current - previous| > threshold, or a difference that is no number.

    Equal elements, also two NaN or the same infinity, are never beyond.
    """

    threshold: float
    index: str | None = None


@dataclass(frozen=True)
class FactsQuestion(Question[TensorFacts]):
    of: Of = "current"
