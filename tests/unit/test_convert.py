"""Every plain type comes out of the protocol as it went in."""

from __future__ import annotations

import math
import tracemalloc
from dataclasses import fields, replace
from typing import get_args
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from stepscope.core.errors import BadRequest
from stepscope.core.ports import (
    Command,
    CommandKind,
    Comparison,
    Cursor,
    ExecutedNode,
    ExecutionOrder,
    Farewell,
    Local,
    NodeAttributes,
    Report,
    SourceInfo,
    StackFrame,
    State,
    Tensor,
    TensorKey,
    TensorStats,
)
from stepscope.core.tensors import apply_index, compare
from stepscope.protocol import convert
from stepscope.protocol.gen import stepscope_pb2 as pb

TEXT = st.text(max_size=10)
INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
UINT64 = st.integers(0, 2**64 - 1)
REAL = st.floats()  # with NaN and the infinities
SHAPE = st.lists(st.integers(0, 2**63 - 1), max_size=4).map(tuple)

INFOS = st.builds(
    SourceInfo,
    **dict.fromkeys(("job_id", "framework", "framework_version", "device", "host", "working_directory"), TEXT),
    rank=INT32,
    rank_count=INT32,
    pid=INT64,
    command_line=st.lists(TEXT, max_size=3).map(tuple),
    step_unit=TEXT,
    stepping=st.sampled_from(["recorded", "live"]),
    started_at=REAL,
)
COMMANDS = st.builds(
    Command,
    kind=st.sampled_from(get_args(CommandKind)),
    steps=INT64,
    graph=TEXT,
    node=TEXT,
    sequence=UINT64,
    before=st.booleans(),
).map(lambda command: command if command.kind == "run" else replace(command, steps=1))
REPORTS = st.builds(
    Report,
    state=st.sampled_from([State.RUNNING, State.PAUSED]),
    step=INT64,
    reason=TEXT,
    cursor=st.none()
    | st.builds(
        Cursor, graph=TEXT, node=TEXT, position=INT64, count=INT64, moment=st.sampled_from(["before", "after"])
    ),
    recorded_steps=st.lists(INT64, max_size=3).map(tuple),
    loss=st.none() | REAL,
    step_seconds=st.none() | REAL,
    command_sequence=UINT64,
    warning=TEXT,
)
FAREWELLS = st.builds(
    Farewell,
    outcome=st.sampled_from(["finished", "terminated", "lost"]),
    detail=TEXT,
    exit_status=st.none() | INT32,
)
KEYS = st.builds(
    TensorKey,
    graph=TEXT,
    node=TEXT,
    slot=INT32,
    when=st.sampled_from(["current", "previous"]),
    input=st.none() | INT32,
)
STATS = st.builds(
    TensorStats,
    dtype=TEXT,
    shape=SHAPE,
    **{field.name: INT64 for field in fields(TensorStats) if field.type == "int"},
    **{field.name: REAL for field in fields(TensorStats) if field.type == "float"},
)
COMPARISONS = st.builds(
    Comparison, current=STATS, previous=STATS, difference=STATS, changed_count=INT64, update_ratio=REAL
)
ORDERS = st.builds(
    ExecutionOrder,
    total=INT64,
    nodes=st.lists(st.builds(ExecutedNode, graph=TEXT, node=TEXT, occurrence=INT32), max_size=4).map(tuple),
)
FRAMES = st.lists(
    st.builds(
        StackFrame,
        **dict.fromkeys(("file", "function", "text"), TEXT),
        line=INT32,
        user=st.booleans(),
        locals=st.lists(
            st.builds(Local, **dict.fromkeys(("name", "type", "text"), TEXT), shape=st.none() | SHAPE), max_size=2
        ).map(tuple),
    ),
    max_size=3,
).map(tuple)

ATTRIBUTES = st.builds(
    NodeAttributes,
    step=INT64,
    attributes=st.dictionaries(TEXT, st.recursive(st.none() | st.booleans() | INT64 | REAL | TEXT, st.lists)),
)


@pytest.mark.parametrize(
    ("name", "message", "values"),
    [
        ("info", pb.Hello, INFOS),
        ("command", pb.Command, COMMANDS),
        ("report", pb.Report, REPORTS),
        ("farewell", pb.Farewell, FAREWELLS),
        ("key", pb.TensorKey, KEYS),
        ("stats", pb.TensorStatistics, STATS),
        ("comparison", pb.TensorComparison, COMPARISONS),
        ("execution", pb.ExecutionOrder, ORDERS),
        ("frames", pb.Frames, FRAMES),
        ("attributes", pb.NodeAttributes, ATTRIBUTES),
    ],
)
@settings(deadline=None)
@given(data=st.data())
def test_what_goes_in_comes_out(name, message, values, data):
    value = data.draw(values)
    wire = getattr(convert, f"{name}_to_proto")(value).SerializeToString()
    back = getattr(convert, f"{name}_from_proto")(message.FromString(wire))
    assert type(back) is type(value)
    assert repr(back) == repr(value)  # unlike ==, takes NaN for the same as NaN


def test_the_strategies_leave_no_field_out():
    filled = {field.name for field in fields(TensorStats) if field.type in ("int", "float")}
    assert filled | {"dtype", "shape"} == {field.name for field in fields(TensorStats)}


def test_what_is_none_stays_off_the_wire():
    report = convert.report_to_proto(Report(State.PAUSED))
    assert not any(report.HasField(name) for name in ("cursor", "loss", "step_seconds"))
    assert not convert.farewell_to_proto(Farewell("lost")).HasField("exit_status")
    assert not convert.key_to_proto(TensorKey("g", "n")).HasField("input")
    assert not convert.command_to_proto(Command("resume")).HasField("steps")


def test_hello_names_the_versions():
    hello = convert.info_to_proto(SourceInfo("job", "torch"), stepscope_version="1.2.3")
    assert (hello.protocol_version, hello.stepscope_version) == (convert.PROTOCOL_VERSION, "1.2.3")


def test_text_that_is_no_text_does_not_stop_anything():
    info = SourceInfo("job", "torch", command_line=("caf\udce9.py",), working_directory="/\udcff")
    back = convert.info_from_proto(convert.info_to_proto(info))
    assert (back.command_line, back.working_directory) == (("caf?.py",), "/?")
    assert convert.farewell_from_proto(convert.farewell_to_proto(Farewell("lost", "\udce9"))).detail == "?"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (convert.info_from_proto, pb.Hello(job_id="job")),
        (convert.command_from_proto, pb.Command()),
        (convert.report_from_proto, pb.Report(step=3)),
        (convert.farewell_from_proto, pb.Farewell()),
        (convert.report_from_proto, pb.Report.FromString(b"\xa0\x06\xc8\x01")),  # state = 200, of a later version
    ],
)
def test_what_this_version_does_not_know_is_refused(function, message):
    with pytest.raises(BadRequest):
        function(message)


# ---------------------------------------------------------------- tensors


@st.composite
def tensors(draw):
    names = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
    dtype = np.dtype(draw(st.sampled_from(names.split()))).newbyteorder(draw(st.sampled_from("<>")))
    array = draw(hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)))
    array = array.transpose(draw(st.permutations(range(array.ndim))))
    array = array[(*(slice(None, None, draw(st.sampled_from([1, -1, 2]))) for _ in range(array.ndim)), ...)]
    return Tensor(array, dtype=draw(TEXT), shape=array.shape, step=draw(INT64))


def transferred(parts):
    return [pb.TensorPart.FromString(part.SerializeToString()) for part in parts]


@settings(deadline=None)
@given(tensors(), st.sampled_from([16, 48, convert.PART_BYTES]))
def test_a_tensor_goes_in_parts(tensor, size):
    with mock.patch.object(convert, "PART_BYTES", size):
        parts = transferred(convert.tensor_to_proto(tensor))
    assert all(len(part.content) <= size for part in parts)
    assert [part.finished for part in parts] == [False] * (len(parts) - 1) + [True]
    assert parts[0].storage_dtype == tensor.array.dtype.name
    assert (
        b"".join(part.content for part in parts) == tensor.array.astype(tensor.array.dtype.newbyteorder("<")).tobytes()
    )
    back = convert.tensor_from_proto(parts)
    assert (back.dtype, back.shape, back.step) == (tensor.dtype, tensor.shape, tensor.step)
    assert back.array.dtype == tensor.array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(back.array, tensor.array)


@pytest.mark.parametrize("index", [None, "0", "..., ::-1", "1, 2, 3", "5:", ":, 1:3"])
def test_a_part_of_a_tensor_is_described_by_its_index(index):
    whole = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    part = Tensor(apply_index(whole, index), "bfloat16", whole.shape, 4)
    back = convert.tensor_from_proto(convert.tensor_to_proto(part), index)
    assert back.shape == (3, 4, 5)
    assert back.array.shape == part.array.shape
    np.testing.assert_array_equal(back.array, part.array)


def test_a_large_tensor_is_copied_a_part_at_a_time():
    array = np.zeros((4000, 2000), np.float32).T
    tracemalloc.start()
    try:
        sizes = [len(part.content) for part in convert.tensor_to_proto(Tensor(array, "float32", array.shape, 0))]
        assert tracemalloc.get_traced_memory()[1] < 4 * convert.PART_BYTES
    finally:
        tracemalloc.stop()
    assert sum(sizes) == array.nbytes
    assert min(sizes[:-1]) > convert.PART_BYTES * 0.9


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([None]), np.zeros(1, "V2"), np.zeros(1, "M8[s]")])
def test_what_holds_no_numbers_is_not_sent(array):
    with pytest.raises(BadRequest):
        list(convert.tensor_to_proto(Tensor(array, "?", array.shape, 0)))


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [pb.TensorPart(storage_dtype="float32", shape=[1], content=bytes(4))],
        [pb.TensorPart(storage_dtype="float32", shape=[2], content=bytes(4), finished=True)],
        [pb.TensorPart(storage_dtype="float32", shape=[-1, -1], content=bytes(4), finished=True)],
        [pb.TensorPart(storage_dtype="float32", shape=[2**62, 2**62], content=bytes(4), finished=True)],
        [pb.TensorPart(storage_dtype="object", shape=[1], content=bytes(8), finished=True)],
        [pb.TensorPart(storage_dtype="i4,(9999999,)i8", shape=[1], content=bytes(8), finished=True)],
        [pb.TensorPart(shape=[1], content=bytes(8), finished=True)],
    ],
)
def test_tensors_that_do_not_fit_their_description_are_refused(parts):
    with pytest.raises(BadRequest):
        convert.tensor_from_proto(parts)


def test_real_figures_survive():
    result = compare([1.0, math.nan, math.inf], [2.0, math.nan, -math.inf])
    assert convert.comparison_from_proto(convert.comparison_to_proto(result)) == result
