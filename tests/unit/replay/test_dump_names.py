"""The names of nodes in graph files, and the same nodes' names in the dump."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest

from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.replay.mindspore.names import Renamer, mangle

LENET_ADAM = Path(__file__).parents[2] / "data" / "lenet_adam.pb.gz"


def rename(renamer: Renamer, *names: str) -> list[str]:
    graph = pb.GraphProto(node=[pb.NodeProto(full_name=name) for name in names])
    renamer.rename(graph)
    return [node.full_name for node in graph.node]


def test_each_name_is_counted_from_zero_in_the_order_of_the_nodes():
    assert rename(Renamer(), "Default/MatMul-op7", "Default/Add-op8", "Default/MatMul-op3") == [
        "Default/MatMul-op0",
        "Default/Add-op0",
        "Default/MatMul-op1",
    ]


def test_the_count_goes_on_over_all_graphs_of_the_process():
    renamer = Renamer()
    assert rename(renamer, "Default/MatMul-op0", "Default/Add-op1") == ["Default/MatMul-op0", "Default/Add-op0"]
    assert rename(renamer, "Default/MatMul-op0") == ["Default/MatMul-op1"]
    assert rename(renamer, "Default/Add-op0", "Default/MatMul-op1") == ["Default/Add-op1", "Default/MatMul-op2"]
    assert rename(Renamer(), "Default/MatMul-op5") == ["Default/MatMul-op0"]  # and over no other process


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Default/Return", "Default/Return-op0"),  # no number as yet
        ("", "-op0"),
        ("Default/conv-op3/MatMul-op9", "Default/conv-op3/MatMul-op0"),  # only the last one is the number
        ("Default/co-operate", "Default/co-op0"),  # MindSpore looks for the same characters
    ],
)
def test_odd_names(name, expected):
    assert rename(Renamer(), name) == [expected]


def test_a_graph_of_mindspore_has_numbers_without_gaps():
    graph = pb.ModelProto.FromString(gzip.decompress(LENET_ADAM.read_bytes())).graph
    before = [node.full_name for node in graph.node]
    Renamer().rename(graph)
    after = [node.full_name for node in graph.node]
    assert len(set(after)) == len(after)
    assert [name.rpartition("-op")[0] for name in after] == [name.rpartition("-op")[0] or name for name in before]
    for prefix, count in Counter(name.rpartition("-op")[0] for name in after).items():
        assert [name for name in after if name.rpartition("-op")[0] == prefix] == [
            f"{prefix}-op{number}" for number in range(count)
        ]


@pytest.mark.parametrize(
    ("name", "mangled"),
    [
        ("Default/net-Net/fc1.x y\\z-op0", "Default_net-Net_fc1_x_y_z-op0"),
        ("▸n.d.bias", "▸n_d_bias"),
        ("Параметр/а", "Параметр_а"),
        ("plain_name-op0", "plain_name-op0"),
    ],
)
def test_names_as_they_stand_in_file_names(name, mangled):
    assert mangle(name) == mangled
