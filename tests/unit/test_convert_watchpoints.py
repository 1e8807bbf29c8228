"""Watchpoints and hits come out of the protocol as they went in, in as many parts as it takes."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.core.errors import BadRequest
from stepscope.core.watch.records import (
    Base,
    ErrorKind,
    Hit,
    HitBatch,
    ParameterCheck,
    Rule,
    Selection,
    Watchpoint,
    WatchpointSet,
)
from stepscope.protocol import watchpoints as wire
from stepscope.protocol.gen import stepscope_pb2 as pb

TEXT = st.text(max_size=8)
INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
UINT64 = st.integers(0, 2**64 - 1)
REAL = st.floats(allow_nan=False)

RULES = st.builds(Rule, path=TEXT, on=st.booleans(), scope=st.booleans(), graph=TEXT)
SELECTIONS = st.builds(
    Selection,
    base=st.sampled_from(get_args(Base)),
    ops=st.lists(TEXT, max_size=2).map(tuple),
    rules=st.lists(RULES, max_size=3).map(tuple),
)
WATCHPOINTS = st.builds(
    Watchpoint,
    id=INT32,
    condition=TEXT,
    parameters=st.dictionaries(TEXT, REAL, max_size=3),
    selection=SELECTIONS,
    name=TEXT,
    enabled=st.booleans(),
    recommended=st.booleans(),
)
SETS = st.builds(WatchpointSet, revision=UINT64, watchpoints=st.lists(WATCHPOINTS, max_size=3).map(tuple))
PARAMS = st.builds(ParameterCheck, name=TEXT, value=REAL, hit=st.booleans(), actual=st.none() | REAL)
HITS = st.builds(
    Hit,
    step=st.just(7),
    graph=TEXT,
    node=TEXT,
    slot=INT32,
    watchpoint=INT32,
    params=st.lists(PARAMS, max_size=2).map(tuple),
    error=st.sets(st.sampled_from(get_args(ErrorKind))).map(frozenset),
    position=INT64,
)
BATCHES = st.builds(
    HitBatch, step=st.just(7), revision=UINT64, hits=st.lists(HITS, max_size=7).map(tuple), warning=TEXT
)


@given(SETS)
@settings(max_examples=50, deadline=None)
def test_a_set_of_watchpoints(watchpoints):
    assert wire.watchpoints_from_proto(wire.watchpoints_to_proto(watchpoints)) == watchpoints


@given(BATCHES)
@settings(max_examples=50, deadline=None)
def test_a_batch_of_hits(batch):
    assert wire.hits_from_proto(wire.hits_to_proto(batch)) == batch


def test_a_watchpoint_with_a_tick_on_each_of_130_000_nodes_goes_in_parts_that_fit():
    rules = tuple(
        Rule(f"Default/network/layers.{number}/attention/MatMul-op{number}", True) for number in range(100_000)
    )
    watchpoints = WatchpointSet(3, (Watchpoint(1, "tensor_overflow", selection=Selection("none", rules=rules)),))
    chunks = list(wire.watchpoints_to_proto(watchpoints))
    assert len(chunks) > 1
    assert max(chunk.ByteSize() for chunk in chunks) < 4 << 20
    assert [chunk.finished for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    assert wire.watchpoints_from_proto(chunks) == watchpoints


def test_many_hits_go_in_parts_that_fit():
    hit = Hit(5, "graph_0", "Default/" + "x" * 300, 0, 1, (ParameterCheck("max_gt", 1.0, True, 2.0),), position=3)
    batch = HitBatch(5, 9, (hit,) * 10_000, "many")
    parts = list(wire.hits_to_proto(batch))
    assert len(parts) > 1
    assert max(part.ByteSize() for part in parts) < 4 << 20
    assert wire.hits_from_proto(parts) == batch


@pytest.mark.parametrize(
    ("chunks", "says"),
    [
        ([pb.Chunk(buffer=b"\xff\xff")], "can't be read"),
        (
            [pb.Chunk(buffer=pb.WatchpointSet(watchpoints=[pb.Watchpoint(base="new")]).SerializeToString())],
            "does not know the selection 'new'",
        ),
    ],
)
def test_a_set_that_makes_no_sense(chunks, says):
    with pytest.raises(BadRequest, match=says):
        wire.watchpoints_from_proto(chunks)


def test_an_error_that_is_not_known():
    with pytest.raises(BadRequest, match="'new'"):
        wire.hits_from_proto([pb.Hits(hits=[pb.Hit(errors=["new"])])])
