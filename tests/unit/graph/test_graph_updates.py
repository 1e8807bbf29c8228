"""Which ops write into a parameter, and the weights with their gradients in the order of the network."""

from __future__ import annotations

from graph_samples import constant, graph, lenet, op, parameter

from stepscope.core.graph.updates import TrainedWeight


def test_the_weights_of_a_network_from_its_input_to_its_output():
    trained = lenet().updates.trained
    assert [one.weight for one in trained if not one.vector] == [
        *("conv1.weight", "conv2.weight", "fc1.weight", "fc2.weight")
    ]
    assert {one.weight for one in trained if one.vector} == {
        *("conv1.bias", "norm.gamma", "norm.beta", "fc1.bias", "fc2.bias")
    }
    gamma = next(one for one in trained if one.weight == "norm.gamma")
    assert (gamma.gradient.rpartition("/")[2], gamma.slot) == ("LayerNormGrad-op0", 1)
    assert lenet().updates.writers("norm.gamma") == [gamma.optimizer]


def test_what_only_reads_a_parameter_does_not_write_it():
    of = graph(
        parameter("w"),
        parameter("mean"),
        parameter("variance"),
        constant("c", 1.0),
        op("net/norm", "c", "w", "w", "mean", "variance", op="BatchNorm", outputs=5),
        op("net/read", "w", "c", op="Assign"),
        op("net/copy", "c", "w", op="Assign"),
        op("net/order", "^mean", "c", op="AssignAdd"),
    ).updates
    assert of.writers("w") == ["net/read"]
    assert of.writers("mean") == of.writers("variance") == ["net/norm"]
    assert of.writers("nothing") == []
    assert of.trained == ()


def test_a_weight_that_no_forward_op_reads_comes_last():
    of = graph(
        parameter("alone"),
        parameter("w"),
        constant("rate", 0.1),
        op("net/mul", "w", "rate", op="Mul"),
        op("Gradients/mul", "net/mul", op="Mul"),
        op("opt/alone", "alone", "rate", "Gradients/mul", op="ApplyGradientDescent"),
        op("opt/w", "w", "rate", "Gradients/mul", op="ApplyGradientDescent"),
    ).updates
    assert of.trained == (
        TrainedWeight("w", "Gradients/mul", 0, "opt/w", vector=False),
        TrainedWeight("alone", "Gradients/mul", 0, "opt/alone", vector=False),
    )
