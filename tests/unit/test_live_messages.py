"""The messages of a live training: everything comes out at one end of the pipe as it went in at the other."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from stepscope import live_messages as live
from stepscope.core import coding, looks
from stepscope.core.errors import BadRequest, NotAvailable, StepscopeError, UnknownNode
from stepscope.core.ports import (
    Command,
    Comparison,
    Cursor,
    ExecutedNode,
    ExecutionOrder,
    Local,
    NodeAttributes,
    Report,
    StackFrame,
    State,
    Tensor,
    TensorKey,
    TensorStats,
)
from stepscope.core.tensors import look
from stepscope.core.watch.records import HitBatch, WatchpointSet

st.register_type_strategy(
    ExecutionOrder,
    st.builds(ExecutionOrder, st.integers(), st.lists(st.from_type(ExecutedNode), max_size=4).map(tuple)),
)
st.register_type_strategy(
    NodeAttributes,
    st.builds(
        NodeAttributes,
        st.integers(),
        st.dictionaries(st.text(), st.none() | st.floats() | st.integers() | st.lists(st.text())),
    ),
)


def through_the_pipe(fields: live.Message) -> live.Message:
    message: live.Message = json.loads(json.dumps({"is": "something", **fields}))
    return message


def same(one, other) -> bool:
    """Equality that takes NaN for the same as NaN."""
    return type(one) is type(other) and (one == other or ("nan" in repr(one) and encode(one) == encode(other)))


def encode(value) -> str:
    return json.dumps(coding.encode(value))


@pytest.mark.parametrize("of", [Report, HitBatch, Command, WatchpointSet])
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_what_is_told_arrives_as_it_was(of, data):
    value = data.draw(st.from_type(of))
    back = live.read(of, through_the_pipe(live.fields(value)))
    assert same(back, value)


KEY = TensorKey("step", "m/fc1/aten.addmm", 1, "previous", 2)
STATS = TensorStats("float32", (2, 3), 4, 6, float("nan"), 1.0, 0.5, 0.5, 0.1, 1, 2, 3, 0, 0, 0)


class Answering:
    """Says what the test wants said, and notes what it was asked."""

    def __init__(self, answer=None, error: Exception | None = None) -> None:
        self.asked: list[tuple] = []
        self._answer, self._error = answer, error

    def __getattr__(self, what):
        def method(**arguments):
            self.asked.append((what, arguments))
            if self._error is not None:
                raise self._error
            return self._answer

        return method


def ask(values, folder, what, **arguments):
    query = through_the_pipe(live.query_fields(7, what, **arguments))
    message = through_the_pipe(live.answer_fields(query, values, live.ArrayFiles(folder)))
    assert message["id"] == 7
    return live.answer_of(message, what, live.ArrayFiles(folder), arguments.get("question"))


@pytest.mark.parametrize(
    ("what", "arguments", "of"),
    [
        ("stats", {"key": KEY}, TensorStats),
        ("compare", {"key": TensorKey("step", "n")}, Comparison),
        ("execution", {"offset": 3, "limit": 10}, ExecutionOrder),
        ("frames", {}, tuple[StackFrame, ...]),
        ("attributes", {"graph": "step", "node": "m/aten.add"}, NodeAttributes),
    ],
)
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_a_question_and_its_answer_arrive_as_they_were(tmp_path_factory, what, arguments, of, data):
    value = data.draw(st.from_type(of))
    values = Answering(value)
    assert same(ask(values, tmp_path_factory.getbasetemp(), what, **arguments), value)
    assert values.asked == [(what, arguments)]


@settings(deadline=None, max_examples=40)
@given(
    array=hnp.arrays(
        hnp.boolean_dtypes() | hnp.integer_dtypes(endianness="=") | hnp.floating_dtypes(endianness="="),
        hnp.array_shapes(min_dims=0, min_side=0, max_dims=3),
    )
)
def test_a_tensor_arrives_and_its_file_is_gone(tmp_path_factory, array):
    folder = tmp_path_factory.mktemp("data")
    tensor = Tensor(array, "bfloat16", (9, 9), 3)
    values = Answering(tensor)
    back = ask(values, folder, "tensor", key=KEY, index="0, :")
    assert values.asked == [("tensor", {"key": KEY, "index": "0, :"})]
    assert back.array.dtype == array.dtype
    assert back.array.shape == array.shape
    assert back.array.tobytes() == array.tobytes()
    assert (back.dtype, back.shape, back.step) == ("bfloat16", (9, 9), 3)
    assert list(folder.iterdir()) == []


def test_a_single_element_is_an_array_without_dimensions(tmp_path):
    back = ask(Answering(Tensor(np.float32(2.5), "float32", (4,), 1)), tmp_path, "tensor", key=KEY, index="0")
    assert isinstance(back.array, np.ndarray)
    assert (back.array.dtype, back.array.shape, float(back.array)) == (np.float32, (), 2.5)


def test_a_large_tensor_is_mapped_and_its_file_is_gone_too(tmp_path):
    array = np.arange(1 << 19, dtype=np.float64)
    back = ask(Answering(Tensor(array[::2], "float64", (4,), 1)), tmp_path, "tensor", key=KEY, index=None)
    assert isinstance(back.array, np.memmap)
    assert list(tmp_path.iterdir()) == []
    assert np.array_equal(back.array, array[::2])


QUESTIONS = (
    looks.HistogramQuestion("difference", "0", 3),
    looks.HeatmapQuestion(2, 2, "extreme", index="1:, ..."),
    looks.PlaceQuestion("nan", after=2),
    looks.BeyondQuestion(0.5),
    looks.FactsQuestion("previous"),
)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: type(question).__name__)
def test_a_question_about_a_tensor_is_answered_as_here(tmp_path, question):
    array = np.array([[1.0, np.nan, 3.0], [0.5, -np.inf, 2.0]], np.float32)

    def at(when):
        return Tensor(array * (2 if when == "current" else 1), "float32", array.shape, 5)

    values = Answering(look(question, at))
    back = ask(values, tmp_path, "look", key=KEY, question=question)
    assert values.asked == [("look", {"key": KEY, "question": question})]
    assert type(back) is type(look(question, at))
    assert repr(back) == repr(look(question, at))
    assert list(tmp_path.iterdir()) == []


def test_no_kind_of_question_is_left_out_here():
    assert {type(question) for question in QUESTIONS} == set(looks.Question.__subclasses__())


@pytest.mark.parametrize(
    "error",
    [
        NotAvailable("released: over the budget", code="released"),
        BadRequest("dimension 0 has 3 elements", field="index"),
        UnknownNode("no node 'm/x'", ["m/y", "m/z"]),
    ],
)
def test_a_refusal_arrives_as_the_same_error(tmp_path, error):
    with pytest.raises(type(error)) as raised:
        ask(Answering(error=error), tmp_path, "stats", key=KEY)
    assert str(raised.value) == str(error)
    assert (raised.value.field, raised.value.code) == (error.field, error.code)


def test_a_fault_of_the_probe_is_told_and_does_not_raise_there(tmp_path):
    with pytest.raises(StepscopeError, match=r"ZeroDivisionError: by nothing") as raised:
        ask(Answering(error=ZeroDivisionError("by nothing")), tmp_path, "stats", key=KEY)
    assert raised.value.kind == "internal"
    with pytest.raises(StepscopeError, match=r"AttributeError|TypeError"):
        ask(Answering(answer=object()), tmp_path, "stats", key=KEY)  # no plain value


@pytest.mark.parametrize(
    "message",
    [
        {"what": "dream"},
        {"what": "stats"},
        {"what": "stats", "key": {"graph": "g"}},
        {"what": "stats", "key": {"graph": "g", "node": "n", "when": "tomorrow"}},
        {"what": "execution", "offset": "0", "limit": 1},
        {"what": "look", "key": {"graph": "g", "node": "n"}, "question": {"name": "Oracle", "fields": {}}},
        {},
    ],
)
def test_what_is_no_question_gets_a_refusal(tmp_path, message):
    values = Answering(STATS)
    answer = live.answer_fields({"id": 3, **message}, values, live.ArrayFiles(tmp_path))
    assert answer["id"] == 3
    assert answer["failure"]
    assert values.asked == []


@pytest.mark.parametrize(
    "broken",
    [{"state": "asleep"}, {"step": 1.5}, {"cursor": []}, {"recorded_steps": 3}, {"cursor": {"graph": "g"}}],
)
def test_what_is_no_report_is_a_clear_error(broken):
    message = {**live.fields(Report(State.PAUSED)), **broken}
    with pytest.raises(BadRequest, match="no Report"):
        live.read(Report, message)


def test_a_message_of_another_release_is_understood_as_far_as_it_goes():
    message = live.fields(Report(State.PAUSED, 3, cursor=Cursor("step", "a", 1, 9, "before")))
    del message["warning"]
    message["cursor"]["mood"] = "good"
    assert live.read(Report, message) == Report(State.PAUSED, 3, cursor=Cursor("step", "a", 1, 9, "before"))


def test_files_of_other_folders_are_not_read(tmp_path):
    secret = tmp_path / "secret.npy"
    np.save(secret, np.arange(3))
    inner = tmp_path / "inner"
    inner.mkdir()
    with pytest.raises(BadRequest, match="can't be read"):
        live.ArrayFiles(inner).take("../secret.npy")
    assert secret.exists()


def test_frames_keep_what_is_known_of_each_variable(tmp_path):
    frame = StackFrame("/a.py", 3, "f", "x = 1", True, (Local("x", "Tensor", (2, 3)), Local("n", "int", None, "4")))
    assert ask(Answering((frame, replace(frame, user=False, locals=()))), tmp_path, "frames")[0] == frame
