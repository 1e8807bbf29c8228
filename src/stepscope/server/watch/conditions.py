"""The table of conditions as the web API shows it."""

from __future__ import annotations

import math
from functools import cache

from stepscope.core.watch.conditions import CONDITIONS, Condition, Parameter
from stepscope.server.watch.models import ConditionList, ConditionParameter, ConditionView, Texts


@cache
def conditions() -> ConditionList:
    return ConditionList(conditions=[_condition(each) for each in CONDITIONS.values()])


def _condition(condition: Condition) -> ConditionView:
    return ConditionView(
        id=condition.id,
        abbreviation=condition.abbreviation,
        category=condition.category,
        name=Texts.model_validate(condition.name),
        description=Texts.model_validate(condition.description),
        advice=[Texts.model_validate(each) for each in condition.advice],
        parameters=[_parameter(each) for each in condition.parameters],
        initial_only=condition.initial_only,
        needs_previous=condition.needs_previous,
        needs_inputs=condition.needs_inputs,
        base=condition.base,
    )


def _parameter(parameter: Parameter) -> ConditionParameter:
    return ConditionParameter(
        name=parameter.name,
        label=Texts.model_validate(parameter.label),
        unit=parameter.unit,
        role=parameter.role,
        hidden=parameter.hidden,
        default=parameter.default,
        low=_finite(parameter.low),
        high=_finite(parameter.high),
        low_inclusive=parameter.low_inclusive,
        needs=list(parameter.needs),
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
