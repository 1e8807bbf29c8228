"""Whether a weight learns, and if not, why."""

from __future__ import annotations

from collections.abc import Iterator

from stepscope.core.advice.about import About
from stepscope.core.advice.fact import Fact, TensorName, level
from stepscope.core.ports import Comparison, TensorStats
from stepscope.core.watch.conditions import CHANGES, CONDITIONS

MANY_UNCHANGED = 0.5  # of the elements of a matrix
LARGE_UPDATE, HUGE_UPDATE = 0.1, 1.0  # usual threshold of weight_change_too_large; that of the recommended one
TINY_UPDATE = 1e-7  # less than float32 can hold of the change of a usual weight
DAMPING = 0.05  # added to the mean of the weight, so that what starts near zero is not said to change too much


def of_weight(
    about: About,
    updated: bool | None,
    gradient: tuple[TensorName, TensorStats | None] | None,
    change: Comparison | None,
) -> Iterator[Fact]:
    """updated: whether any op writes into it; None where nothing is there that could (a graph without an optimizer).
    gradient: what its optimizer reads. change: since the step before.
    """
    if updated is False:
        yield Fact("weight_no_update", "bad")
    name, stats = gradient or (None, None)
    if name is not None and stats is not None and stats.zero_count == stats.count > 0:
        yield Fact("weight_zero_gradient", level(about.matrix), links=(name,))
    if change is not None and updated is not None and change.current.count:
        yield from _change(about, change)


def _change(about: About, change: Comparison) -> Iterator[Fact]:
    total = change.current.count
    unchanged = total - change.changed_count
    asked = any(CONDITIONS[one].code in CHANGES for one in about.conditions)
    if unchanged == total or (about.matrix and unchanged >= MANY_UNCHANGED * total):
        numbers = {"unchanged": unchanged, "total": total}
        yield Fact("weight_unchanged", level(about.matrix and unchanged == total), numbers)
    before = change.previous.abs_mean
    if unchanged == total or not before > 0:
        return
    size = change.difference.abs_mean / (before + DAMPING)
    if asked or size >= LARGE_UPDATE or change.update_ratio < TINY_UPDATE:
        yield Fact("update_ratio", level(size >= HUGE_UPDATE), {"ratio": change.update_ratio})
