"""The graph of a real step: nodes, names, edges, phases, lines of code."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from nets import Cnn, Mlp, images_and_labels, step  # noqa: E402
from torch import nn  # noqa: E402

from stepscope.core.watch.recommended import recommended  # noqa: E402

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


def test_categories_and_the_sets_that_are_recommended_to_watch(watcher):
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(1, 2, 3)
            self.frozen = nn.Linear(8, 8).requires_grad_(False)
            self.forgotten = nn.Linear(8, 8)
            self.head = nn.Linear(8, 3)

        def forward(self, x):
            hidden = self.conv(x).relu().flatten(1)
            return self.head(self.forgotten(self.frozen(hidden)).tanh())

    model, watch = Net(), watcher()
    optimizer = torch.optim.Adam([*model.conv.parameters(), *model.frozen.parameters(), *model.head.parameters()])
    for _ in range(2):
        with watch.step():
            step(model, optimizer, torch.randn(2, 1, 4, 4), torch.tensor([0, 1]))
    graph = watch.graph()
    assert graph.has_optimizer
    assert set(graph.nodes(category="weight")) == {
        "model.conv.weight",
        "model.conv.bias",
        "model.head.weight",
        "model.head.bias",
    }
    assert graph.nodes(category="activation") == [
        "model/aten.relu",
        "model/aten.tanh",
        "Script/cross_entropy/aten._log_softmax",
    ]
    assert all(name.startswith("Gradients/") for name in graph.nodes(category="gradient"))
    watched = {base: _names(graph, base) for base in ("trainable", "matrix", "layer", "layer_gradient")}
    assert watched["trainable"] == {
        *graph.nodes(category="weight"),
        "model.forgotten.weight",
        "model.forgotten.bias",
    }
    assert watched["matrix"] == {"model.conv.weight", "model.forgotten.weight", "model.head.weight"}
    assert {"model/conv/aten.convolution", "model/head/aten.addmm", "model/aten.relu"} <= watched["layer"]
    assert watched["layer_gradient"] == {
        "Gradients/model/conv/ConvolutionBackward0/aten.convolution_backward",
        "Gradients/model/forgotten/AddmmBackward0/aten.mm",
        "Gradients/model/head/AddmmBackward0/aten.mm",  # to the layer before
        "Gradients/model/head/AddmmBackward0/aten.mm_1",  # of the weight
    }
    assert graph.watchable.of_ops(["relu"]).sum() == 1
    folded = set(graph.nodes(folded=True)) - set(graph.nodes())
    assert {"model/head/aten.t", "model/aten.view", "Gradients/model/head/AccumulateGrad/aten.detach"} <= folded
    names = {one.name or one.condition for one in recommended([graph])}
    assert {"weight_initialization", "weight_not_changed", "gradient_vanishing", "tanh", "relu"} <= names


def _names(graph, base):
    mask = graph.watchable.category(base)
    return {name for name, chosen in zip(graph.watchable.names, mask.tolist(), strict=True) if chosen}
