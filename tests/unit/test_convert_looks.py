"""Questions about a tensor and their answers come out of the protocol as they went in."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

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
    Reduction,
    Sought,
    TensorFacts,
    ZeroSlices,
)
from stepscope.core.ports import Tensor, TensorKey
from stepscope.core.tensors.formats import FORMATS, decode
from stepscope.protocol import convert, looks
from stepscope.protocol.gen import stepscope_pb2 as pb

TEXT = st.text(max_size=10)
NUMBER = st.integers(0, 2**62)
COUNT = st.integers(1, 2**62)
REAL = st.floats()
SHAPE = st.lists(NUMBER, max_size=4).map(tuple)
OF = st.sampled_from(get_args(Of))
INDEX = st.none() | TEXT
KEYS = st.builds(TensorKey, TEXT, TEXT, st.integers(0, 9), input=st.none() | st.integers(0, 9))

QUESTIONS = {
    HistogramQuestion: st.builds(HistogramQuestion, OF, INDEX, COUNT),
    HeatmapQuestion: st.builds(HeatmapQuestion, COUNT, COUNT, st.sampled_from(get_args(Reduction)), OF, INDEX),
    PlaceQuestion: st.builds(PlaceQuestion, st.sampled_from(get_args(Sought)), st.none() | NUMBER, OF, INDEX),
    BeyondQuestion: st.builds(BeyondQuestion, st.floats(allow_nan=False), INDEX),
    FactsQuestion: st.builds(FactsQuestion, OF),
}
ANSWERS = {
    HistogramQuestion: st.builds(
        Histogram, TEXT, NUMBER, SHAPE, NUMBER, REAL, REAL, REAL, REAL, SHAPE, NUMBER, NUMBER, NUMBER
    ),
    PlaceQuestion: st.one_of(
        st.builds(Place, SHAPE, NUMBER, NUMBER, TEXT), st.builds(Place, st.none(), st.none(), NUMBER, TEXT)
    ),
    BeyondQuestion: st.builds(Beyond, NUMBER, NUMBER),
    FactsQuestion: st.builds(
        TensorFacts,
        st.none() | SHAPE,
        st.lists(st.builds(ZeroSlices, st.integers(0, 1), NUMBER, NUMBER), max_size=2).map(tuple),
        NUMBER,
        NUMBER,
    ),
}


@st.composite
def heatmaps(draw) -> Heatmap:
    shape = draw(st.tuples(st.integers(0, 4), st.integers(0, 4)))
    cells = draw(hnp.arrays(np.float32, shape, elements=st.floats(width=32)))
    flags = draw(hnp.arrays(np.uint8, shape))
    return Heatmap(draw(TEXT), draw(NUMBER), draw(st.tuples(NUMBER, NUMBER)), draw(REAL), draw(REAL), cells, flags)


def over_the_wire(message):
    return type(message).FromString(message.SerializeToString())


@pytest.mark.parametrize("kind", QUESTIONS, ids=lambda kind: kind.__name__)
@given(st.data())
def test_a_question(kind, data):
    key, question = data.draw(KEYS), data.draw(QUESTIONS[kind])
    assert looks.query_from_proto(over_the_wire(looks.query_to_proto(key, question))) == (key, question)


@pytest.mark.parametrize("kind", [*ANSWERS, HeatmapQuestion], ids=lambda kind: kind.__name__)
@given(st.data())
def test_an_answer(kind, data):
    answer = data.draw(heatmaps() if kind is HeatmapQuestion else ANSWERS[kind])
    found = looks.answer_from_proto(over_the_wire(looks.answer_to_proto(answer)), data.draw(QUESTIONS[kind]))
    assert type(found) is type(answer)
    np.testing.assert_equal(vars(found), vars(answer))


@pytest.mark.parametrize(
    "query",
    [
        pb.LookQuery(),
        pb.LookQuery(histogram=pb.HistogramQuery(bins=0)),
        pb.LookQuery(heatmap=pb.HeatmapQuery(rows=1, columns=-1)),
    ],
    ids=["nothing", "no bins", "no columns"],
)
def test_a_question_that_can_not_be(query):
    with pytest.raises(BadRequest):
        looks.query_from_proto(query)


@pytest.mark.parametrize(
    "message",
    [
        pb.TensorLook(),
        pb.TensorLook(beyond=pb.Beyond(count=1, of=2)),
        pb.TensorLook(heatmap=pb.Heatmap(shape=[2, 2], rows=2, columns=2, cells=b"1234", flags=b"1")),
        pb.TensorLook(heatmap=pb.Heatmap(shape=[2], rows=1, columns=1, cells=b"1234", flags=b"1")),
        pb.TensorLook(heatmap=pb.Heatmap(shape=[2, 2], rows=-1, columns=-1, cells=b"1234", flags=b"1")),
    ],
    ids=["nothing", "another answer", "too few cells", "one dimension", "negative"],
)
def test_an_answer_that_can_not_be(message):
    with pytest.raises(BadRequest):
        looks.answer_from_proto(message, HeatmapQuestion(2, 2))


def test_an_error_keeps_its_field_and_its_code():
    error = BadRequest("dimension 0 is wrong", field="index", code="wrong")
    found = convert.failure_from_proto(over_the_wire(convert.failure_to_proto(error)))
    assert (type(found), str(found)) == (BadRequest, "dimension 0 is wrong")
    assert (found.field, found.code) == ("index", "wrong")


@pytest.mark.parametrize("name", ["bfloat16", "float8_e5m2"])
def test_bits_are_sent_as_their_values(name):
    bits = np.arange(256).astype(FORMATS[name]).reshape(16, 16).T
    found = convert.tensor_from_proto(convert.tensor_to_proto(Tensor(bits, name, bits.shape, 1)))
    assert (found.dtype, found.array.dtype) == (name, np.float32)
    np.testing.assert_array_equal(found.array, decode(bits, name))
