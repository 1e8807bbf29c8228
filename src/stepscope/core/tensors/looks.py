"""Answers to the questions of `core.looks`, from the values alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from stepscope.core.looks import (
    Beyond,
    BeyondQuestion,
    FactsQuestion,
    Heatmap,
    HeatmapQuestion,
    Histogram,
    HistogramQuestion,
    Place,
    PlaceQuestion,
    Question,
    TensorFacts,
)
from stepscope.core.tensors.facts import facts
from stepscope.core.tensors.heatmap import heatmap
from stepscope.core.tensors.histogram import histogram
from stepscope.core.tensors.part import Part, Value
from stepscope.core.tensors.places import beyond, place

A = TypeVar("A")


def look(question: Question[A], value: Value) -> A:
    """The answer to a question about a tensor; `value` gives its current and its previous value where needed.

    Raises BadRequest (with `field` "index" for a part that can't be) and whatever `value` raises.
    """
    with np.errstate(all="ignore"):
        return cast(A, _ANSWERS[type(question)](question, value))


def _histogram(question: HistogramQuestion, value: Value) -> Histogram:
    return histogram(Part.of(question.of, value, question.index), question.bins)


def _heatmap(question: HeatmapQuestion, value: Value) -> Heatmap:
    part = Part.of(question.of, value, question.index)
    return heatmap(part, question.rows, question.columns, question.reduce)


def _place(question: PlaceQuestion, value: Value) -> Place:
    return place(Part.of(question.of, value, question.index), question.what, question.after)


def _beyond(question: BeyondQuestion, value: Value) -> Beyond:
    return beyond(Part.of("difference", value, question.index), question.threshold)


def _facts(question: FactsQuestion, value: Value) -> TensorFacts:
    return facts(Part.of(question.of, value))


_ANSWERS: dict[type, Callable[[Any, Value], object]] = {
    HistogramQuestion: _histogram,
    HeatmapQuestion: _heatmap,
    PlaceQuestion: _place,
    BeyondQuestion: _beyond,
    FactsQuestion: _facts,
}
