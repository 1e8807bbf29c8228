"""Records as a GraphProto, and out of it again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from stepscope.core.graph.graph import Graph
from stepscope.core.graph.records import InputRef, NodeRecord, TensorType
from stepscope.protocol.graphs import records, to_proto
from stepscope.protocol.values import value_to_proto, value_type

TEXT = st.text(max_size=6)
NAMES = st.text(min_size=1, max_size=6)
SLOT = st.integers(0, 2**31 - 1)
DTYPES = ["", "float32", "bfloat16", "int64", "bool", "uint16", "complex64", "complex128", "float8_e4m3fn"]
TYPES = st.builds(
    TensorType, st.sampled_from(DTYPES), st.none() | st.lists(st.integers(-1, 2**40), max_size=3).map(tuple)
)
NUMBERS = hnp.integer_dtypes(endianness="<") | hnp.floating_dtypes(endianness="<", sizes=(16, 32, 64))
ARRAYS = hnp.arrays(NUMBERS | hnp.boolean_dtypes(), hnp.array_shapes(min_dims=0, max_side=3, max_dims=2))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | TEXT | ARRAYS,
    lambda one: st.lists(one, max_size=2) | st.lists(one, max_size=2).map(tuple) | st.dictionaries(TEXT, one),
    max_leaves=4,
)


@st.composite
def graphs(draw) -> list[NodeRecord]:
    """Records as `records` makes them: a parameter's id is its name, a constant's type that of its value."""
    ids = draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    kinds = [draw(st.sampled_from(["parameter", "input", "constant", "op"])) for _ in ids]
    order = {"parameter": 0, "input": 0, "constant": 1, "op": 2}
    return [
        draw(record(one, kind, ids)) for one, kind in sorted(zip(ids, kinds, strict=True), key=lambda p: order[p[1]])
    ]


@st.composite
def record(draw, identity: str, kind: str, ids: list[str]) -> NodeRecord:
    if kind == "constant":
        value = draw(VALUES)
        return NodeRecord(
            identity, draw(NAMES), "Constant", "constant", outputs=(value_type(value_to_proto(value)),), value=value
        )
    if kind != "op":
        outputs = (draw(TYPES),)
        trainable = draw(st.none() | st.booleans())
        return NodeRecord(identity, identity, kind.capitalize(), kind, outputs=outputs, trainable=trainable)
    return NodeRecord(
        identity,
        draw(NAMES),
        "aten." + draw(TEXT),
        inputs=draw(st.lists(st.builds(InputRef, st.sampled_from(ids), SLOT, st.booleans()), max_size=3)),
        outputs=draw(st.lists(TYPES, max_size=3).map(tuple)),
        attributes=draw(st.dictionaries(TEXT, VALUES, max_size=2)),
        stack=draw(TEXT),
    )


@settings(deadline=None, max_examples=200)
@given(graph=graphs())
def test_what_goes_in_comes_out(graph):
    back = list(records(to_proto("step", graph).SerializeToString()))
    plain = [replace(one, attributes=dict(one.attributes)) for one in back]
    assert repr(plain) == repr(graph)  # unlike ==, takes NaN for the same as NaN, and arrays, too


ROW = [
    NodeRecord("w", "m.fc.weight", "Parameter", "parameter", outputs=(TensorType("float32", (2, 2)),), trainable=True),
    NodeRecord("1", "m/aten.unbind", "aten.unbind", inputs=[InputRef("w")], outputs=(TensorType("float32", (2,)),) * 2),
    NodeRecord("2", "m/aten.relu", "aten.relu", inputs=[InputRef("1", 1)], outputs=(TensorType("float32", (2,)),)),
]


def test_an_input_is_found_by_its_id_and_its_slot():
    graph = Graph("step", records(to_proto("step", ROW)))
    (unbound,) = graph.node("m/aten.unbind").inputs
    assert unbound.node == "m.fc.weight"
    (port,) = graph.node("m/aten.relu").inputs
    assert (port.node, port.slot) == ("m/aten.unbind", 1)
    assert graph.node("m/aten.unbind").outputs[1].consumers == (("m/aten.relu", 0),)


@pytest.mark.parametrize(
    "more",
    [
        NodeRecord("2", "m/aten.exp", "aten.exp"),
        NodeRecord("w2", "m.fc.weight", "Parameter", "parameter"),
        NodeRecord("3", "", "aten.exp"),
    ],
)
def test_records_that_can_not_be_told_apart_are_refused(more):
    with pytest.raises(ValueError, match="names and ids of their own"):
        to_proto("step", [*ROW, more])


def test_what_the_protocol_has_no_type_for_has_none():
    strange = NodeRecord("3", "m/aten.x", "aten.x", outputs=(TensorType("float7", (1,)),), attributes={"a": {1, 2}})
    (back,) = records(to_proto("step", [strange]))
    assert back.outputs == (TensorType("", (1,)),)
    assert back.attributes["a"] == "{1, 2}"
