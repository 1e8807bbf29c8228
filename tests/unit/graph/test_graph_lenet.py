"""A real graph file of MindSpore 2.10, against what MindSpore's own .ir text of the same graph says."""

from __future__ import annotations

import pytest
from graph_samples import lenet

from stepscope.core.graph import Graph, Resolved, TensorType

NET = "Default/network-WithLossCell/_backbone-LeNet"
GRAD = f"Gradients/{NET}"
WEIGHTS = ["conv1.weight", "fc2.weight", "fc1.weight", "norm.gamma", "conv1.bias", "conv2.weight", "norm.beta"]
WEIGHTS += ["fc1.bias", "fc2.bias"]


@pytest.fixture(scope="module")
def graph() -> Graph:
    return lenet()


def test_counts(graph: Graph) -> None:
    summary = graph.summary()
    assert (summary.nodes + summary.folded, summary.parameters, summary.inputs, summary.constants) == (97, 31, 2, 46)
    assert summary.has_optimizer
    assert len(graph) == 97 + 33 + 46


def test_weights_are_those_that_adam_updates(graph: Graph) -> None:
    assert graph.nodes(category="weight") == WEIGHTS


def test_the_gradient_of_a_weight_is_found_by_its_edge_whatever_its_name_says(graph: Graph) -> None:
    # The compiler merged equal scopes: the gradient of conv1's bias is called after fc2.
    adam = graph.node("Default/optimizer-Adam/Adam-op1")
    assert adam.inputs[0].node == "conv1.bias"
    assert adam.inputs[9].node == f"{GRAD}/fc2-Dense/Grad_BiasAdd/BiasAddGrad-op0"
    (activation,) = (port for port in graph.node(adam.inputs[9].node).inputs if port.index == 0)
    assert activation.node == f"{GRAD}/relu-ReLU/Grad_ReLU/ReluGrad-op1"


def test_adam(graph: Graph) -> None:
    adam = graph.node("Default/optimizer-Adam/Adam-op1")
    assert [(port.index, port.data_index, port.control) for port in adam.inputs] == [
        *((index, index, False) for index in range(10)),
        (10, None, True),
    ]
    assert adam.attributes == {
        "IsFeatureMapOutput": True,
        "IsFeatureMapInputList": (3, 4, 6, 7, 8, 9),
        "side_effect_mem": True,
        "use_nesterov": False,
        "use_locking": False,
    }
    assert [output.type for output in adam.outputs] == [TensorType("float32", (4,))] * 3
    names = ["conv1.bias", "moment1.conv1.bias", "moment2.conv1.bias"]
    assert [graph.resolve(adam.name, slot) for slot in range(3)] == [Resolved("parameter", name, 0) for name in names]


def test_shapes_of_tuples_are_those_of_the_ir(graph: Graph) -> None:
    norm = graph.node(f"{NET}/norm-LayerNorm/LayerNorm-op0")
    assert [output.type.shape for output in norm.outputs] == [(8, 4, 6, 6), (8, 4, 6, 1), (8, 4, 6, 1)]
    assert graph.output_types(norm.name) == tuple(output.type for output in norm.outputs)
    back = graph.node(f"{GRAD}/norm-LayerNorm/Grad_LayerNorm/LayerNormGrad-op0")
    assert [output.type.shape for output in back.outputs] == [(8, 4, 6, 6), (6,), (6,)]


def test_inputs_through_loads_tuples_and_splits(graph: Graph) -> None:
    norm = graph.node(f"{NET}/norm-LayerNorm/LayerNorm-op0")
    assert [port.node for port in norm.inputs] == [
        f"{NET}/conv2-Conv2d/Conv2D-op0",
        "norm.gamma",
        "norm.beta",
        "Default_data-2",
        "Default_data-2",
        "Default_data-3",
    ]
    assert [graph.node(port.node).value for port in norm.inputs[3:]] == [-1, -1, 1e-7]
    back = graph.node(f"{GRAD}/norm-LayerNorm/Grad_LayerNorm/LayerNormGrad-op0")
    assert [(port.node, port.slot) for port in back.inputs[:4]] == [
        (f"{NET}/conv2-Conv2d/Conv2D-op0", 0),
        ("Expand/_SplitWithSize/Slice-op1", 0),
        (norm.name, 2),
        (norm.name, 1),
    ]


def test_scalars_and_constants(graph: Graph) -> None:
    loss = "Default/network-WithLossCell/_loss_fn-SoftmaxCrossEntropyWithLogits"
    assert graph.node(f"{loss}/SparseSoftmaxCrossEntropyWithLogits-op0").outputs[0].type == TensorType("float32", ())
    assert graph.node("global_step").outputs[0].type == TensorType("int32", (1,))
    assert graph.node("Default_data-10").value == (8, 8, 3, 3)
    assert graph.node("Default_data-7").value is None  # a constant tensor: its value is not in the file


def test_source(graph: Graph) -> None:
    concat = graph.node("Default/Concat-op1")
    assert [(frame.file.rpartition("/")[2], frame.line, frame.function, frame.user) for frame in concat.source[:3]] == [
        ("gen_ops_def.py", 8158, "cat", False),
        ("lenet.py", 29, "construct", True),
        ("cell_wrapper.py", 122, "construct", False),
    ]
    assert concat.source[1].text == "x = ops.cat((x, y), axis=1)"
    # The split that undoes the concatenation comes from the same line of the script.
    assert graph.nodes(line="lenet.py:29") == [
        "Default/Concat-op1",
        "Expand/_SplitWithSize/Slice-op0",
        "Expand/_SplitWithSize/Slice-op1",
    ]
    assert graph.node(f"{GRAD}/relu-ReLU/Grad_ReLU/ReluGrad-op0").source[1].text == "x = self.relu(self.fc1(x))"


def test_scopes(graph: Graph) -> None:
    root = graph.scope()
    assert [(child.name, child.nodes) for child in root.children] == [("Default", 28), ("Gradients", 17), ("Expand", 2)]
    assert root.graph_inputs == 2
    net = graph.scope(NET)
    assert [child.name for child in net.children] == [
        *("conv1-Conv2d", "relu-ReLU", "conv2-Conv2d", "norm-LayerNorm"),
        *("pool-MaxPool2d", "flatten-Flatten", "fc1-Dense", "fc2-Dense"),
    ]
    (conv,) = (child for child in graph.scope(f"{NET}/conv1-Conv2d").children if child.op == "Conv2D")
    assert [(badge.name, badge.kind) for badge in conv.badges] == [("inputs0", "input"), ("conv1.weight", "parameter")]


def test_activations_and_gradients(graph: Graph) -> None:
    assert graph.nodes(category="activation") == [f"{NET}/relu-ReLU/ReLU-op0", f"{NET}/relu-ReLU/ReLU-op1"]
    assert len(graph.nodes(category="gradient")) == 17


def test_the_loss_comes_from_the_logits(graph: Graph) -> None:
    lineage = graph.lineage("Default/Depend-op1")
    assert lineage.name.endswith("_loss_fn-SoftmaxCrossEntropyWithLogits/SparseSoftmaxCrossEntropyWithLogits-op0")
    assert {node.name for node in lineage.nodes if node.distance == -1} == {f"{NET}/fc2-Dense/BiasAdd-op0", "inputs1"}
