"""When a tensor is bad in the way of another one that was hit: by its figures alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from stepscope.core.ports import TensorStats
from stepscope.core.tensors import Figures
from stepscope.core.watch.conditions import CONDITIONS, OVERFLOW
from stepscope.core.watch.engine import Given, Measured, decide
from stepscope.core.watch.records import ErrorKind, ParameterCheck

Why = Literal["nan", "inf", "hit"]


class Judge:
    """Not finite or, where the condition of a hit is about values (`of_values`), past the same thresholds."""

    def __init__(
        self, condition: str = "tensor_overflow", params: Iterable[ParameterCheck] = (), error: Iterable[ErrorKind] = ()
    ) -> None:
        self._condition = CONDITIONS[condition]
        self._given = [Given(one.name, one.value) for one in params]
        looks_at_finite = self._condition.code != OVERFLOW and not self._condition.needs_inputs
        self.of_values = looks_at_finite and not {"nan", "inf"} & set(error)

    @property
    def compares(self) -> bool:
        """With the step before: what a weight was changed by is no question of where a value comes from."""
        return self._condition.needs_previous and self.of_values

    def why(self, stats: TensorStats) -> Why | None:
        """In which way these figures are bad; None where they are not."""
        if not self.of_values:
            infinite = stats.positive_inf_count + stats.negative_inf_count
            return "nan" if stats.nan_count else "inf" if infinite else None
        return "hit" if decide(self._condition.code, self._given, Measured(_figures(stats))).hit else None


def _figures(stats: TensorStats) -> Figures:
    return Figures(
        stats.count,
        stats.nan_count,
        stats.positive_inf_count,
        stats.negative_inf_count,
        stats.zero_count,
        stats.negative_count,
        stats.positive_count,
        stats.min,
        stats.max,
        stats.mean,
        stats.abs_mean,
        stats.std,
    )
