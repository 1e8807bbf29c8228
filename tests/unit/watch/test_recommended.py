"""What a training is offered, and on which nodes: those where a hit means something."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "graph"))
import graph_samples as make

from stepscope.core.graph import Graph, InputRef, NodeRecord, TensorType
from stepscope.core.watch.plan import evaluate
from stepscope.core.watch.recommended import recommended
from stepscope.core.watch.records import Selection
from stepscope.core.watch.selection import Watched
from stepscope.core.watch.validate import validate, warnings

ORDER = [
    "weight_initialization",
    "weight_change_too_large",
    "weight_change_too_small",
    "weight_not_changed",
    "gradient_vanishing",
    "operator_overflow",
    "tensor_overflow",
    "tensor_all_zero",
    "activation_range",
]


def network(*activations: str) -> Graph:
    """Two layers, of which `w2` was forgotten when the optimizer was made, behind one activation each."""
    first, second = (*activations, "ReLU", "ReLU")[:2]
    return make.graph(
        make.graph_input("x"),
        make.parameter("w1", trainable=True),
        make.parameter("w2", trainable=True),
        make.parameter("moment", trainable=True),
        make.parameter("mean", trainable=False),
        NodeRecord("scale", "scale", "Parameter", "parameter", outputs=[TensorType("float32", ())], trainable=True),
        NodeRecord("count", "count", "Parameter", "parameter", outputs=[TensorType("int32", (1,))], trainable=True),
        make.op("net/Cast-op0", "w1", op="Cast"),
        make.op("net/MatMul-op0", "x", "net/Cast-op0", op="MatMul"),
        make.op("net/first", "net/MatMul-op0", op=first),
        make.op("net/MatMul-op1", "net/first", "w2", op="MatMul"),
        make.op("net/second", "net/MatMul-op1", op=second),
        make.op("net/Sub-op0", "net/second", "mean", op="Sub"),
        make.op("net/Mul-op0", "net/Sub-op0", "scale", "count", op="Mul"),
        NodeRecord(
            "net/Shape-op0", "net/Shape-op0", "Shape", inputs=[InputRef("w1")], outputs=[TensorType("int64", (2,))]
        ),
        make.op("Gradients/net/MatMul-op2", "net/Mul-op0", "w2", op="MatMul"),
        make.op("Default/optimizer-SGD/Mul-op1", "w1", op="Mul"),
        make.op("update", "w1", "moment", "x", "Gradients/net/MatMul-op2", op="ApplyMomentum"),
    )


def test_the_whole_set_in_order() -> None:
    found = recommended([network("Tanh", "Sigmoid")])
    assert [one.condition for one in found] == [*ORDER, "activation_range"]
    assert [one.name for one in found if one.name] == ["tanh", "sigmoid"]
    assert all(one.recommended and one.enabled and one.id == 0 for one in found)


def test_thresholds_are_allowed_and_of_use() -> None:
    for one in [*recommended([network("Tanh", "Sigmoid")]), *recommended([network("ReLU")])]:
        assert validate(one.condition, one.parameters) == dict(one.parameters)
        assert warnings(one.condition, one.parameters) == []


def test_the_ranges_of_activations() -> None:
    tanh, sigmoid = (one.parameters for one in recommended([network("Tanh", "Sigmoid")]) if one.name)
    assert (tanh["range_start_inclusive"], tanh["range_end_inclusive"]) == (math.tanh(-8.8), math.tanh(8.8))
    assert sigmoid["range_start_inclusive"] == pytest.approx(1 / (1 + math.exp(16.2)), rel=1e-12)
    assert sigmoid["range_end_inclusive"] == pytest.approx(1 / (1 + math.exp(-16.2)), rel=1e-15)
    assert tanh["range_percentage_lt"] == sigmoid["range_percentage_lt"] == 0.1
    (relu,) = (one.parameters for one in recommended([network("ReLU")]) if one.name)
    assert relu == {"range_start_inclusive": -1.0, "range_end_inclusive": 0.0, "range_percentage_gt": 99.9}


def test_initial_weights_are_not_offered_after_the_first_step() -> None:
    assert "weight_initialization" not in [one.condition for one in recommended([network()], step=1)]


def test_only_what_has_something_to_watch() -> None:
    forward = make.graph(make.graph_input("x"), make.op("net/Add-op0", "x", "x"))
    assert [one.condition for one in recommended([forward])] == ["operator_overflow", "tensor_overflow"]
    assert recommended([]) == []
    assert [one.condition for one in recommended([forward, network()])] == ORDER


def test_a_parameter_forgotten_by_the_optimizer_is_trainable() -> None:
    """Not the optimizer's own state, which MindSpore also calls trainable; nor a lone number, nor what isn't float."""
    graph = network()
    assert Watched(graph, Selection("weight")).names() == ["w1"]
    assert Watched(graph, Selection("trainable")).names() == ["w1", "w2"]
    (unchanged,) = (one for one in recommended([graph]) if one.condition == "weight_not_changed")
    assert Watched(graph, unchanged.selection).names() == ["w1", "w2"]


def test_vectors_may_start_as_zeros_and_stay_as_they_are() -> None:
    bias = NodeRecord("b", "b", "Parameter", "parameter", outputs=[TensorType("float32", (3,))], trainable=True)
    graph = make.graph(
        make.parameter("w", trainable=True),
        bias,
        make.op("net/Add-op0", "w", "b"),
        make.op("update0", "w", "m", "x", "net/Add-op0", op="ApplyMomentum"),
        make.op("update1", "b", "m", "x", "net/Add-op0", op="ApplyMomentum"),
    )
    watched = {one.condition: Watched(graph, one.selection).names() for one in recommended([graph])}
    assert watched["weight_initialization"] == ["w"]
    assert watched["weight_change_too_small"] == watched["weight_not_changed"] == ["w"]
    assert watched["weight_change_too_large"] == ["w", "b"]
    (change,) = (one for one in recommended([graph]) if one.condition == "weight_change_too_large")
    assert not evaluate(change.condition, [0.01], previous=[0.0], **change.parameters).hit
    assert evaluate(change.condition, [0.01], previous=[0.0], abs_mean_update_ratio_gt=1.0).hit


def test_nothing_has_to_change_in_a_graph_without_an_optimizer() -> None:
    graph = make.graph(make.parameter("w", trainable=True), make.op("net/MatMul-op0", "w", op="MatMul"))
    assert not {"weight_change_too_small", "weight_not_changed"} & {one.condition for one in recommended([graph])}


def test_zeros_are_looked_for_where_layers_compute() -> None:
    """Not in masks, sizes, casts, the optimizer's arithmetic: those are zero in healthy trainings too."""
    (zeros,) = (one for one in recommended([network()]) if one.condition == "tensor_all_zero")
    assert Watched(network(), zeros.selection).names() == [
        "net/MatMul-op0",
        "net/first",
        "net/MatMul-op1",
        "net/second",
        "Gradients/net/MatMul-op2",
    ]


def test_gradients_are_looked_at_between_layers_and_where_they_end() -> None:
    """Not those of vectors, some of which are zero by nature, and not what else a backward pass computes."""
    graph = make.graph(
        make.graph_input("x"),
        make.parameter("w"),
        NodeRecord("b", "b", "Parameter", "parameter", outputs=[TensorType("float32", (3,))]),
        make.op("net/MatMul-op0", "x", "w", op="MatMul"),
        make.op("net/Add-op0", "net/MatMul-op0", "b"),
        make.op("Gradients/loss/MaskedFill-op0", "net/Add-op0", op="MaskedFill"),
        make.op("Gradients/net/MatMul-op1", "Gradients/loss/MaskedFill-op0", "w", op="MatMul"),
        make.op("Gradients/net/MatMul-op2", "Gradients/loss/MaskedFill-op0", "x", op="MatMul"),
        make.op("Gradients/net/ReduceSum-op0", "Gradients/loss/MaskedFill-op0", op="ReduceSum"),
        make.op("clip/Mul-op0", "Gradients/net/MatMul-op2", op="Mul"),
        make.op("update0", "w", "m", "x", "clip/Mul-op0", op="ApplyMomentum"),
        make.op("update1", "b", "m", "x", "Gradients/net/ReduceSum-op0", op="ApplyMomentum"),
    )
    (vanishing,) = (one for one in recommended([graph]) if one.condition == "gradient_vanishing")
    assert Watched(graph, vanishing.selection).names() == ["Gradients/net/MatMul-op1", "clip/Mul-op0"]


def test_without_an_optimizer_trainable_parameters_are_the_weights() -> None:
    graph = make.graph(make.parameter("w", trainable=True), make.op("net/MatMul-op0", "w", op="MatMul"))
    assert Watched(graph, Selection("weight")).names() == ["w"]
    assert Watched(graph, Selection("trainable")).names() == ["w"]


def test_a_real_training() -> None:
    graph = make.lenet()
    counts = {one.condition: Watched(graph, one.selection).count for one in recommended([graph])}
    assert list(counts) == ORDER
    assert counts["weight_change_too_large"] == len(graph.nodes(category="weight")) == 9
    assert counts["weight_initialization"] == counts["weight_not_changed"] == 4
    assert 0 < counts["gradient_vanishing"] < len(graph.nodes(category="gradient"))
    assert counts["activation_range"] == 2
    assert counts["tensor_overflow"] == Watched(graph, Selection("tensor")).count
    (zeros,) = (one for one in recommended([graph]) if one.condition == "tensor_all_zero")
    ops = [graph.node(name).op for name in Watched(graph, zeros.selection).names()]
    assert set(ops) == {"Conv2D", "ReLU", "MatMul", "Conv2DBackpropInput"}


def test_a_graph_that_is_only_known_once_it_has_run_is_offered_everything() -> None:
    before = make.graph(make.parameter("w", trainable=True))
    assert [one.condition for one in recommended([before])] == [*ORDER, "activation_range", "activation_range"]
    assert "weight_initialization" not in {one.condition for one in recommended([before], step=1)}
