"""What the inputs of an operation say of its output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stepscope.core.advice.about import About
from stepscope.core.advice.fact import Fact, FactKind, TensorName, level
from stepscope.core.advice.operations import BELOW, POWERS, RECTIFIERS, ZERO_MATTERS, overflow_start
from stepscope.core.advice.values import nonfinite_count
from stepscope.core.graph import Kind
from stepscope.core.ports import TensorStats


@dataclass(frozen=True)
class InputValue:
    """What went into an operation. `index` counts the inputs as the source does, `data_index` those with a value."""

    index: int
    data_index: int | None
    name: TensorName
    kind: Kind
    stats: TensorStats | None


def of_inputs(about: About, output: TensorStats, inputs: Sequence[InputValue], complete: bool = True) -> Iterator[Fact]:
    """`complete`: `inputs` are all that the operation has."""
    broken = nonfinite_count(output) > 0
    known = [(one, one.stats) for one in inputs if one.stats is not None]
    for one, stats in known:
        if bad := nonfinite_count(stats):
            yield _fact("input_nonfinite", broken or bool(about.conditions), one, {"count": bad, "total": stats.count})
        else:
            yield from _troubled(about, output, one, stats, inputs)
    finite = all(not nonfinite_count(stats) for _, stats in known)
    # A constant that was not recorded is not to blame.
    told = complete and all(one.stats is not None or one.kind == "constant" for one in inputs)
    if broken and known and finite and told:
        yield Fact("all_inputs_finite", "bad")


def _troubled(
    about: About, output: TensorStats, one: InputValue, stats: TensorStats, inputs: Sequence[InputValue]
) -> Iterator[Fact]:
    """Of a finite input that the operation can't take."""
    broken, op = nonfinite_count(output) > 0, about.op
    if stats.zero_count and (ZERO_MATTERS.get(op) == one.data_index or _is_inverted(op, one, inputs)):
        numbers = {"zero": stats.zero_count, "total": stats.count}
        yield _fact("input_zeros", broken, one, numbers, about.op_type)
    if one.data_index != 0:
        return
    if count := _refused(op, output, stats):
        yield _fact("input_negative", broken, one, {"negative": count, "total": stats.count}, about.op_type)
    if op in RECTIFIERS and stats.negative_count and not stats.positive_count:
        numbers = {"negative": stats.negative_count, "total": stats.count}
        yield _fact("input_negative", about.layer, one, numbers, about.op_type)
    start = overflow_start(op, output.dtype)
    largest = max(-stats.min, stats.max) if op in ("sinh", "cosh") else stats.max
    if start is not None and largest > start:
        yield _fact("input_large", broken, one, {"max": largest}, about.op_type)


def _refused(op: str, output: TensorStats, stats: TensorStats) -> int:
    """How many elements are too low for the operation."""
    limit = BELOW.get(op)
    if limit is None:
        return 0
    if limit == 0:
        return stats.negative_count
    # Figures don't count down to any number; but where one is too low, the output is not finite.
    return nonfinite_count(output) if stats.min <= limit and output.count == stats.count else 0


def _is_inverted(op: str, one: InputValue, inputs: Sequence[InputValue]) -> bool:
    """Whether it is the base of a power with a negative exponent."""
    if op not in POWERS or one.data_index != 0:
        return False
    return any(each.data_index == 1 and each.stats is not None and each.stats.min < 0 for each in inputs)


def _fact(kind: FactKind, bad: bool, one: InputValue, numbers: Mapping[str, float], text: str = "") -> Fact:
    return Fact(kind, level(bad), {"input": one.index, **numbers}, text=text, links=(one.name,))
