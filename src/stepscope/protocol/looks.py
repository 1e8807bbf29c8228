"""The questions and answers of `core.looks` as messages of the protocol and back, under the rules of `convert`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

import numpy as np

from stepscope.core.errors import BadRequest
from stepscope.core.looks import (
    Beyond,
    BeyondQuestion,
    FactsQuestion,
    Heatmap,
    HeatmapQuestion,
    Histogram,
    HistogramQuestion,
    Of,
    Place,
    PlaceQuestion,
    Question,
    Reduction,
    Sought,
    TensorFacts,
    ZeroSlices,
)
from stepscope.core.ports import TensorKey
from stepscope.protocol.convert import key_from_proto, key_to_proto, named
from stepscope.protocol.gen import stepscope_pb2 as pb

A = TypeVar("A")

_OF: dict[Of, pb.LookQuery.Of] = {
    "current": pb.LookQuery.CURRENT,
    "previous": pb.LookQuery.PREVIOUS,
    "difference": pb.LookQuery.DIFFERENCE,
}
_REDUCTIONS: dict[Reduction, pb.HeatmapQuery.Reduction] = {
    "mean": pb.HeatmapQuery.MEAN,
    "min": pb.HeatmapQuery.MIN,
    "max": pb.HeatmapQuery.MAX,
    "extreme": pb.HeatmapQuery.EXTREME,
}
_SOUGHT: dict[Sought, pb.PlaceQuery.Sought] = {
    "nonfinite": pb.PlaceQuery.NONFINITE,
    "nan": pb.PlaceQuery.NAN,
    "inf": pb.PlaceQuery.INF,
    "max": pb.PlaceQuery.MAX,
    "min": pb.PlaceQuery.MIN,
}


def query_to_proto(key: TensorKey, question: Question[Any]) -> pb.LookQuery:
    query = pb.LookQuery(key=key_to_proto(key), index=getattr(question, "index", None))
    if not isinstance(question, BeyondQuestion):
        query.of = _OF[question.of]  # type: ignore[attr-defined]
    if isinstance(question, HistogramQuestion):
        query.histogram.bins = question.bins
    elif isinstance(question, HeatmapQuestion):
        query.heatmap.rows, query.heatmap.columns = question.rows, question.columns
        query.heatmap.reduce = _REDUCTIONS[question.reduce]
    elif isinstance(question, PlaceQuestion):
        query.place.what = _SOUGHT[question.what]
        if question.after is not None:
            query.place.after = question.after
    elif isinstance(question, BeyondQuestion):
        query.beyond.threshold = question.threshold
    else:
        query.facts.SetInParent()
    return query


def query_from_proto(query: pb.LookQuery) -> tuple[TensorKey, Question[Any]]:
    of = named(_OF, query.of, "value of a tensor")
    index = query.index if query.HasField("index") else None
    what = query.WhichOneof("what")
    question: Question[Any]
    if what == "histogram":
        question = HistogramQuestion(of, index, _positive(query.histogram.bins, "bins"))
    elif what == "heatmap":
        rows, columns = _positive(query.heatmap.rows, "rows"), _positive(query.heatmap.columns, "columns")
        question = HeatmapQuestion(rows, columns, named(_REDUCTIONS, query.heatmap.reduce, "reduction"), of, index)
    elif what == "place":
        after = query.place.after if query.place.HasField("after") else None
        question = PlaceQuestion(named(_SOUGHT, query.place.what, "place"), after, of, index)
    elif what == "beyond":
        question = BeyondQuestion(query.beyond.threshold, index)
    elif what == "facts":
        question = FactsQuestion(of)
    else:
        raise BadRequest("this version of stepscope does not know what is asked about a tensor")
    return key_from_proto(query.key), question


def answer_to_proto(answer: object) -> pb.TensorLook:
    if isinstance(answer, Histogram):
        return pb.TensorLook(histogram=pb.Histogram(**vars(answer)))
    if isinstance(answer, Heatmap):
        rows, columns = answer.cells.shape
        cells, flags = answer.cells.astype("<f4", copy=False).tobytes(), answer.flags.tobytes()
        return pb.TensorLook(
            heatmap=pb.Heatmap(**vars(answer) | {"rows": rows, "columns": columns, "cells": cells, "flags": flags})
        )
    if isinstance(answer, Place):
        return pb.TensorLook(place=pb.Place(**vars(answer)))
    if isinstance(answer, Beyond):
        return pb.TensorLook(beyond=pb.Beyond(count=answer.count, of=answer.of))
    assert isinstance(answer, TensorFacts)
    return pb.TensorLook(
        facts=pb.TensorFacts(
            finite=answer.first_nonfinite is None,
            first_nonfinite=answer.first_nonfinite,
            zero_slices=[pb.TensorFacts.ZeroSlices(axis=x.axis, zero=x.zero, of=x.of) for x in answer.zero_slices],
            at_min=answer.at_min,
            at_max=answer.at_max,
        )
    )


def answer_from_proto(message: pb.TensorLook, question: Question[A]) -> A:
    """Raises BadRequest for the answer to another question, and for a heat map whose bytes don't fit."""
    what = message.WhichOneof("what")
    if what != _FIELDS[type(question)]:
        raise BadRequest(f"{what} came where {_FIELDS[type(question)]} was asked")
    return cast(A, _READERS[what](getattr(message, what)))


def _histogram(message: pb.Histogram) -> Histogram:
    fields = {descriptor.name: getattr(message, descriptor.name) for descriptor in message.DESCRIPTOR.fields}
    return Histogram(**fields | {"shape": tuple(message.shape), "counts": tuple(message.counts)})


def _heatmap(message: pb.Heatmap) -> Heatmap:
    shape = message.rows, message.columns
    size = shape[0] * shape[1]
    if min(shape) < 0 or len(message.shape) != 2 or (len(message.cells), len(message.flags)) != (4 * size, size):
        raise BadRequest(f"{len(message.cells)} and {len(message.flags)} bytes came for a heat map of {shape}")
    cells = np.frombuffer(message.cells, "<f4").reshape(shape).astype(np.float32, copy=False)
    flags = np.frombuffer(message.flags, np.uint8).reshape(shape)
    height, width = message.shape
    return Heatmap(message.dtype, message.step, (height, width), message.low, message.high, cells, flags)


def _place(message: pb.Place) -> Place:
    if not message.HasField("flat"):
        return Place(None, None, message.count, message.value)
    return Place(tuple(message.position), message.flat, message.count, message.value)


def _beyond(message: pb.Beyond) -> Beyond:
    return Beyond(message.count, message.of)


def _facts(message: pb.TensorFacts) -> TensorFacts:
    first = None if message.finite else tuple(message.first_nonfinite)
    slices = tuple(ZeroSlices(each.axis, each.zero, each.of) for each in message.zero_slices)
    return TensorFacts(first, slices, message.at_min, message.at_max)


def _positive(number: int, what: str) -> int:
    if number < 1:
        raise BadRequest(f"{what} have to be 1 or more, not {number}")
    return number


_FIELDS: Mapping[type, str] = {
    HistogramQuestion: "histogram",
    HeatmapQuestion: "heatmap",
    PlaceQuestion: "place",
    BeyondQuestion: "beyond",
    FactsQuestion: "facts",
}
_READERS: Mapping[str, Any] = {
    "histogram": _histogram,
    "heatmap": _heatmap,
    "place": _place,
    "beyond": _beyond,
    "facts": _facts,
}
