"""The graph of a real step: nodes, names, edges, phases, lines of code."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from nets import Cnn, Mlp, images_and_labels, step  # noqa: E402
from torch import nn  # noqa: E402

pytestmark = pytest.mark.torch


def test_nodes_stand_under_their_module_and_phase(watcher):
    mlp, watch = Mlp(), watcher()
    optimizer = torch.optim.AdamW(mlp.parameters(), foreach=False)
    for _ in range(2):
        with watch.step():
            optimizer.zero_grad()
            loss = mlp(torch.randn(4, 6)).square().mean()
            loss.backward()
            optimizer.step()
    names = watch.steps[-1]
    assert {"mlp/fc1/aten.addmm", "mlp/aten.tanh", "mlp/fc2/aten.addmm"} <= set(names)
    assert "Gradients/mlp/fc1/AddmmBackward0/aten.mm" in names
    assert "Gradients/mlp/TanhBackward0/aten.tanh_backward" in names
    assert "Optimizer/AdamW/mlp.fc1.weight/aten.addcdiv_" in names
    phases = [event.phase for event in watch.events]
    assert phases == sorted(phases, key=["forward", "backward", "optimizer"].index)
    assert [event.position for event in watch.events] == list(range(1, len(names) + 1))
    records = watch.records()
    assert records["mlp.fc1.weight"].kind == "parameter"
    assert records["mlp.fc1.weight"].trainable
    assert records["OptState/mlp.fc1.weight/exp_avg"].trainable is False
    addcdiv = records["Optimizer/AdamW/mlp.fc1.weight/aten.addcdiv_"]
    assert addcdiv.inputs[0].source == "Optimizer/AdamW/mlp.fc1.weight/aten.mul_"  # the weight decay before it


def test_edges_of_a_convolutional_network(watcher):
    model, watch = Cnn(), watcher()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    images, labels = images_and_labels()
    with watch.step():
        step(model, optimizer, images, labels)
    sources = {record.name: [one.source for one in record.inputs] for record in watch.tracer.records()}
    assert sources["model/features.0/aten.convolution"] == [
        "Input/images",
        "model.features.0.weight",
        "model.features.0.bias",
    ]
    assert sources["model/features.2/aten.relu_"] == ["model/features.1/aten.native_batch_norm"]
    assert sources["model/features.3/aten.max_pool2d_with_indices"] == ["model/features.2/aten.relu_"]
    backward = "Gradients/model/features.2/ReluBackward0/aten.threshold_backward"
    assert sources[backward][1] == "model/features.2/aten.relu_"
    assert "Optimizer/SGD/model.fc2.bias/aten.add_" in sources
    assert "Input/labels" in sources["Script/cross_entropy/aten.nll_loss_forward"]


def test_every_node_knows_its_line(watcher):
    model, watch = Cnn(), watcher()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    images, labels = images_and_labels()
    with watch.step():
        step(model, optimizer, images, labels)
    graph = watch.graph()
    forward = graph.node("model/features.0/aten.convolution").source
    backward = graph.node("Gradients/model/features.0/ConvolutionBackward0/aten.convolution_backward").source
    assert forward[0].text == "hidden = self.features(x).flatten(1)"
    assert forward[0].function == "forward"
    assert forward[1].text == "loss = functional.cross_entropy(model(images), labels)"
    assert all(frame.user for frame in forward[:3])
    assert backward == forward
    assert graph.node("Optimizer/SGD/model.fc2.bias/aten.add_").source[0].text == "optimizer.step()"


def test_a_root_is_called_as_its_variable_or_attribute_is(watcher):
    class Trainer:
        def __init__(self) -> None:
            self.net = Mlp()
            self.parts = {"critic": Mlp()}

        def run(self) -> None:
            self.net(torch.randn(1, 6))
            self.parts["critic"](torch.randn(1, 6))

    watch, trainer, mlp = watcher(), Trainer(), Mlp()
    wrapped = nn.Sequential(mlp)
    with watch.step():
        trainer.run()
        wrapped.state_dict()
        mlp.fc1(torch.randn(1, 6))
    names = set(watch.steps[-1])
    assert {"net/fc1/aten.addmm", "parts.critic/fc1/aten.addmm", "mlp/fc1/aten.addmm"} <= names
