"""All conditions that are watched on one tensor, answered from one pass over its data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from stepscope.core.tensors import all_finite, measure
from stepscope.core.tensors.arrays import as_array
from stepscope.core.watch.conditions import CHANGES, INITIAL, NOT_CHANGED, OPERATOR_OVERFLOW
from stepscope.core.watch.engine import NON_FINITE, NOTHING, Given, Measured, decide, range_of, tolerance_of
from stepscope.core.watch.quiet import is_quiet, rules_of
from stepscope.core.watch.records import Check
from stepscope.core.watch.validate import lookup, numbers


class _Question(NamedTuple):
    code: int
    given: tuple[Given, ...]
    range: int | None  # which of the ranges of the plan is its own
    tolerance: int | None


class Plan:
    """What to do with a tensor; made once for all tensors that the same watchpoints cover.

    `needs_previous`: some condition compares with the step before. `needs_inputs`: one looks at the node's inputs.
    `only_overflow`: all ask for no more than whether there are NaN or infinities. `ranges` and `tolerances` are those
    that `measure` has to be asked for.
    """

    def __init__(self, asked: Sequence[tuple[str, Mapping[str, float]]]) -> None:
        """asked: condition and parameters of each watchpoint, as `validate` returns them."""
        self._setup([(lookup(id).code, [Given(*each) for each in given.items()]) for id, given in asked])

    @classmethod
    def of_codes(cls, asked: Sequence[tuple[int, Sequence[Given]]]) -> Plan:
        """The same for conditions as the protocol has them, those of old clients included."""
        plan = cls(())
        plan._setup(asked)
        return plan

    def _setup(self, asked: Sequence[tuple[int, Sequence[Given]]]) -> None:
        self._questions = []
        self.ranges: list[tuple[float, float]] = []
        self.tolerances: list[tuple[float, float]] = []
        for code, given in asked:
            its_range = _number(self.ranges, range_of(given))
            its_tolerance = _number(self.tolerances, tolerance_of(given) if code == NOT_CHANGED else None)
            self._questions.append(_Question(code, tuple(given), its_range, its_tolerance))
        self.needs_previous = any(one.code in CHANGES for one in self._questions)
        self.only_overflow = all(one.code in NON_FINITE and not one.given for one in self._questions)
        self._nothing = [NOTHING] * len(self._questions)
        told = [rules_of(one.code, one.given) for one in self._questions]
        self._quiet = None if None in told else [rule for rules in told for rule in rules or ()]
        self.needs_inputs = any(one.code == OPERATOR_OVERFLOW for one in self._questions)

    def check(
        self,
        x: ArrayLike,
        previous: ArrayLike | None = None,
        *,
        dtype: str = "",
        initial: bool = False,
        inputs_finite: Callable[[], bool | None] = lambda: None,
        error_on_no_value: bool = False,
    ) -> list[Check]:
        """One answer for each watchpoint, in their order.

        x: any array of numbers; dtype: as for `measure`. previous: the value of the step before, where there is one and
            `needs_previous`; compared element by element in C order where it has as many of them, whatever its shape.
        initial: this is the state before the first step.
        inputs_finite: asked at most once, and only where an output is not finite: are all inputs of the node? None
            where that is not known; then operator_overflow does not hit.
        error_on_no_value: report tensors without elements.
        Raises BadRequest for what holds no numbers.
        """
        if self.only_overflow and not (initial or error_on_no_value) and all_finite(x, dtype):
            return self._nothing
        figures, has_previous, fits = _NOTHING, False, False
        if any(initial == (one.code == INITIAL) for one in self._questions):
            values = np.asarray(x)
            before = None if previous is None or not self.needs_previous else np.asarray(previous)
            has_previous = before is not None and before.size > 0
            fits = has_previous and before is not None and before.size == values.size
            if before is not None and fits and before.shape != values.shape:
                before = before.reshape(values.shape)
            figures = measure(values, before if fits else None, self.ranges, self.tolerances, dtype)
        measured = Measured(figures, has_previous, fits, inputs_finite=inputs_finite)
        return self.judge(measured, initial=initial, error_on_no_value=error_on_no_value)

    def is_quiet(self, x: ArrayLike, previous: ArrayLike | None = None, dtype: str = "") -> bool:
        """Whether `check` would surely report nothing, found with less work; never before the first step."""
        if self.only_overflow:
            return all_finite(x, dtype)
        if self._quiet is None:
            return False
        before = None if previous is None else np.asarray(previous)
        return is_quiet(self._quiet, np.asarray(x), before, dtype, self.needs_previous)

    def judge(self, measured: Measured, *, initial: bool = False, error_on_no_value: bool = False) -> list[Check]:
        """The same of figures, in which `ranges` and `tolerances` were asked for."""
        figures = measured.figures
        return [
            decide(
                one.code,
                one.given,
                measured
                if one.range is None and one.tolerance is None  # most conditions need neither
                else measured._replace(
                    in_range=_at(figures.in_range, one.range), close=_at(figures.close, one.tolerance)
                ),
                initial=initial,
                error_on_no_value=error_on_no_value,
            )
            for one in self._questions
        ]


def evaluate(
    condition: str,
    x: Any,
    previous: Any = None,
    *,
    initial: bool = False,
    inputs: Sequence[Any] | None = None,
    error_on_no_value: bool = False,
    **parameters: float,
) -> Check:
    """What a condition says of an array, without any training: the engine that watchpoints use.

    x, previous, inputs: the value of a tensor, that of the step before, and those that its node read
        (for "operator_overflow"; without them it never hits); arrays of numpy, PyTorch, JAX or MindSpore.
    initial: the state before the first step, the only one in which "weight_initialization" is evaluated.
    parameters: those of the condition. They are taken as they come: limits that watchpoints have to keep, such as
        0 to 100 for a percentage, are not looked at, an end of a range that is not given is infinite, and without any
        threshold nothing is compared.
    error_on_no_value: report an array without elements, instead of passing over it.
    Raises BadRequest (a ValueError) for unknown conditions and parameters, and for what are no numbers.
    """
    given = numbers(lookup(condition), parameters)
    finite = None if inputs is None else all(all_finite(as_array(one)) for one in inputs)
    plan = Plan([(condition, given)])
    before = None if previous is None else as_array(previous)
    (check,) = plan.check(
        as_array(x),
        before,
        initial=initial,
        inputs_finite=lambda: finite,
        error_on_no_value=error_on_no_value,
    )
    return check


def _number(known: list[tuple[float, float]], wanted: tuple[float, float] | None) -> int | None:
    """The place of `wanted` in the list, to which it is added where it is new."""
    if wanted is None:
        return None
    if wanted not in known:
        known.append(wanted)
    return known.index(wanted)


def _at(values: Sequence[Any], index: int | None) -> Any:
    return values[index] if index is not None and index < len(values) else None


_NOTHING = measure(np.empty(0, np.float32))
