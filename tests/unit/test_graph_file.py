"""A graph comes out of its file as it went in."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from stepscope.core.graph.records import InputRef, NodeRecord, TensorType
from stepscope.graph_file import dump, load

TEXT = st.text(max_size=8)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXT
NUMBERS = hnp.integer_dtypes(endianness="=") | hnp.floating_dtypes(endianness="=") | hnp.boolean_dtypes()
ARRAYS = hnp.arrays(NUMBERS, hnp.array_shapes(max_side=3))
VALUES = st.recursive(
    SCALARS | ARRAYS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple) | st.dictionaries(TEXT, inner, max_size=2)
    ),
    max_leaves=4,
)
TYPES = st.builds(TensorType, TEXT, st.none() | st.lists(st.integers(-1, 2**40), max_size=4).map(tuple))
RECORDS = st.builds(
    NodeRecord,
    id=TEXT,
    name=TEXT,
    op=TEXT,
    kind=st.sampled_from(["op", "parameter", "input", "constant"]),
    inputs=st.lists(st.builds(InputRef, TEXT, st.integers(0, 99), st.booleans()), max_size=3),
    outputs=st.lists(TYPES, max_size=3).map(tuple),
    attributes=st.dictionaries(TEXT, VALUES, max_size=2),
    stack=TEXT,
    trainable=st.none() | st.booleans(),
    value=VALUES,
)


@settings(deadline=None, max_examples=100)
@given(records=st.lists(RECORDS, max_size=4))
def test_what_is_dumped_is_loaded(tmp_path_factory, records):
    path = tmp_path_factory.getbasetemp() / "graph.json"
    dump(records, path)
    assert repr(list(load(path))) == repr(records)  # unlike ==, takes NaN for the same as NaN, and arrays, too


def test_what_has_no_word_in_json_becomes_its_text(tmp_path):
    dump([NodeRecord("1", "a", "op", value=slice(1, 2), attributes={"n": np.float32(0.5), "z": 1 + 2j})],
         tmp_path / "graph")  # fmt: skip
    (record,) = load(tmp_path / "graph")
    assert record.value == "slice(1, 2, None)"
    assert record.attributes == {"n": 0.5, "z": "(1+2j)"}


def test_a_stack_that_many_nodes_have_is_written_once(tmp_path):
    dump([NodeRecord(str(number), "a", "op", stack="deep" * 1000) for number in range(100)], tmp_path / "graph")
    assert (tmp_path / "graph").stat().st_size < 12_000


def test_another_version_is_refused(tmp_path):
    dump([], tmp_path / "graph")
    content = json.loads((tmp_path / "graph").read_text())
    (tmp_path / "graph").write_text(json.dumps(content | {"version": 99}))
    with pytest.raises(ValueError, match="version 99"):
        list(load(tmp_path / "graph"))
