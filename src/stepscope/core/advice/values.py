"""What the values of a tensor say for themselves. The thresholds are explained in docs/tensors.md."""

from __future__ import annotations

from collections.abc import Iterator

from stepscope.core.advice.about import About
from stepscope.core.advice.fact import Fact, level
from stepscope.core.advice.operations import BOUNDED, FILLING, LIMITS, MASKING, is_floating
from stepscope.core.looks import TensorFacts, ZeroSlices
from stepscope.core.ports import TensorStats

NEAR = 0.9  # of the largest number of the type
MANY_ZEROS = 0.9  # of all elements: half are zero behind any ReLU
SATURATED = 0.2  # of all elements equal one of the ends
FEW = 20  # elements in which shares say nothing

_OF_ZEROS = frozenset(("tensor_all_zero", "tensor_too_small", "gradient_vanishing", "weight_too_small"))


def of_values(about: About, stats: TensorStats, seen: TensorFacts | None) -> Iterator[Fact]:
    """`seen` None: what it tells is not known."""
    if seen is not None and seen.first_nonfinite is not None:
        yield _nonfinite(about, stats, seen.first_nonfinite)
    if not is_floating(stats.dtype) or about.kind == "constant" or not stats.count:
        return  # whole numbers are labels, masks, counters: zeros and repeated values are what they are made of
    yield from _near_limit(stats)
    yield from _zeros(about, stats)
    if stats.min == stats.max:
        yield from _constant(about, stats)
    elif seen is not None:
        yield from _saturated(about, stats, seen)
        yield from (_zero_slices(about, one) for one in seen.zero_slices if one.zero)


def nonfinite_count(stats: TensorStats) -> int:
    return stats.nan_count + stats.positive_inf_count + stats.negative_inf_count


def _nonfinite(about: About, stats: TensorStats, position: tuple[int, ...]) -> Fact:
    numbers = {
        "count": nonfinite_count(stats),
        "total": stats.count,
        "nan": stats.nan_count,
        "positive_inf": stats.positive_inf_count,
        "negative_inf": stats.negative_inf_count,
    }
    only_negative_inf = stats.negative_inf_count == nonfinite_count(stats)
    meant = only_negative_inf and (about.op in MASKING or about.op in FILLING or about.kind == "constant")
    return Fact("nonfinite_first", level(not meant or bool(about.conditions)), numbers, position)


def _near_limit(stats: TensorStats) -> Iterator[Fact]:
    limit = LIMITS.get(stats.dtype)
    if limit is None:
        return
    largest = max(-stats.min, stats.max)
    if largest >= NEAR * limit:
        # Masks are made with the lowest number that there is: that is no overflow to come.
        masked = stats.min == -limit and stats.max < NEAR * limit
        yield Fact("near_limit", level(not masked), {"max_abs": largest, "limit": limit}, text=stats.dtype)


def _zeros(about: About, stats: TensorStats) -> Iterator[Fact]:
    everywhere = stats.zero_count == stats.count
    asked = bool(about.conditions & _OF_ZEROS) and stats.zero_count > 0
    enough = stats.count > 1 if everywhere else stats.count >= FEW and stats.zero_count >= MANY_ZEROS * stats.count
    if asked or enough:
        numbers = {"zero": stats.zero_count, "total": stats.count}
        yield Fact("zero_share", level(asked or (everywhere and about.works)), numbers)


def _constant(about: About, stats: TensorStats) -> Iterator[Fact]:
    meant = about.op in FILLING or (about.kind != "op" and not about.matrix)  # scales that start as ones, states
    if stats.count > 1 and stats.min != 0 and not nonfinite_count(stats) and not meant:
        yield Fact("constant", level(about.works), {"value": stats.min})


def _saturated(about: About, stats: TensorStats, seen: TensorFacts) -> Iterator[Fact]:
    if stats.count < FEW or "complex" in stats.dtype:
        return
    ends = [(count, value) for count, value in ((seen.at_min, stats.min), (seen.at_max, stats.max)) if value != 0]
    count, value = max(ends, default=(0, 0.0))
    is_mask = stats.min == 0 and seen.at_min + seen.at_max == stats.count and not about.layer
    if count >= SATURATED * stats.count and not is_mask:
        numbers = {"value": value, "count": count, "total": stats.count}
        yield Fact("saturated", level(about.op in BOUNDED), numbers)


def _zero_slices(about: About, one: ZeroSlices) -> Fact:
    bad = about.layer and one.zero >= MANY_ZEROS * one.of
    return Fact("zero_rows", level(bad), {"axis": one.axis, "zero": one.zero, "of": one.of})
