"""Which optimizer node trains which weight by which gradient, and what writes into a parameter, in real steps."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from nets import Cnn, Mlp, images_and_labels, step  # noqa: E402
from torch.nn import functional  # noqa: E402

pytestmark = pytest.mark.torch

OPTIMIZERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9, weight_decay=0.01),
    "adam": lambda parameters: torch.optim.AdamW(parameters, foreach=False),
    "foreach": lambda parameters: torch.optim.Adam(parameters, foreach=True, weight_decay=0.01, amsgrad=True),
    "fused": lambda parameters: torch.optim.Adam(parameters, fused=True),
    "fused_sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9, fused=True),
    "rmsprop": lambda parameters: torch.optim.RMSprop(parameters, foreach=True, centered=True, momentum=0.9),
}


def graph_of(watch, model, optimizer, clip=False):
    images, labels = images_and_labels()
    for _ in range(2):
        with watch.step():
            if clip:
                optimizer.zero_grad(set_to_none=False)
                functional.cross_entropy(model(images), labels).backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
                optimizer.step()
            else:
                step(model, optimizer, images, labels)
    return watch.graph()


@pytest.mark.parametrize("clip", [False, True], ids=["", "clipped"])
@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_each_weight_has_its_own_gradient(kind: str, clip: bool, watcher):
    model, watch = Cnn(), watcher(keep=True)
    head = [*model.fc1.parameters(), *model.fc2.parameters()]
    groups = [{"params": list(model.features.parameters())}, {"params": head}]
    graph = graph_of(watch, model, OPTIMIZERS[kind](groups), clip)
    trained = {one.weight: one for one in graph.updates.trained}
    assert list(trained) == [f"model.{name}" for name, _ in model.named_parameters()]
    for name, parameter in model.named_parameters():
        one = trained[f"model.{name}"]
        noted = watch.nodes[one.gradient].outputs[one.slot]
        assert torch.equal(noted.view_as(parameter), parameter.grad), name
        writer, slot = graph.updates.last_write(f"model.{name}")
        assert torch.equal(watch.nodes[writer].outputs[slot], parameter), name
        assert one.optimizer == writer
        assert graph.updates.writers(f"model.{name}") == [writer]
        assert one.vector == (parameter.dim() < 2)


def test_averages_are_written_and_frozen_weights_are_not(watcher):
    model, watch = Cnn(), watcher()
    model.fc1.requires_grad_(False)
    graph = graph_of(watch, model, torch.optim.SGD(model.parameters(), lr=0.1))
    (writer,) = graph.updates.writers("model.features.1.running_var")
    assert graph.node(writer).op == "aten.native_batch_norm"
    assert graph.updates.writers("model.fc1.weight") == []
    assert "model.fc1.weight" not in {one.weight for one in graph.updates.trained}


def test_averages_of_a_normalisation_without_weights(watcher):
    model, watch = torch.nn.Sequential(torch.nn.BatchNorm1d(6, affine=False), Mlp()), watcher(keep=True)
    with watch.step():
        model(torch.randn(4, 6)).sum().backward()
    writer, slot = watch.graph().updates.last_write("model.0.running_var")
    assert torch.equal(watch.nodes[writer].outputs[slot], model[0].running_var)


def test_a_weight_that_is_updated_by_hand(watcher):
    weight, watch = torch.ones(3, requires_grad=True), watcher()
    for _ in range(3):
        with watch.step():
            weight.square().sum().backward()
            with torch.no_grad():
                weight -= 0.1 * weight.grad
                weight.grad = None
    (one,) = watch.graph().updates.trained
    assert (one.weight, one.optimizer) == ("weight", "Optimizer/Script/weight/aten.sub_")
