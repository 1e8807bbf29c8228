"""Which module a node belongs to, in the forward pass and back: told by hooks on each module, and by the tracer."""

from __future__ import annotations

import sys

import pytest

torch = pytest.importorskip("torch")

import scenarios  # noqa: E402
from nets import Cnn, Mlp  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from stepscope.probe.torch import naming  # noqa: E402

pytestmark = pytest.mark.torch

NETWORKS = {
    "mlp": (Mlp, (4, 6)),
    "cnn": (Cnn, (4, 1, 8, 8)),
    "transformer": (scenarios.Transformer, (2, 4, 6)),
    "views": (scenarios.InPlaceAndViews, (4, 6)),
    "function": (scenarios.WithFunction, (4, 6)),
    "lstm": (lambda: scenarios.Recurrent(nn.LSTM), (4, 3, 6)),
}


@pytest.mark.parametrize("network", NETWORKS)
def test_backward_nodes_belong_to_the_module_whose_forward_made_them(network, watcher):
    """Ground truth: autograd's count when each module begins and ends; what it made in between is the module's."""
    make, shape = NETWORKS[network]
    net = make()
    truth: dict[int, str] = {}  # sequence number → path of the innermost module
    running, counted = [""], [torch.autograd._get_sequence_nr()]

    def claim() -> None:
        count = torch.autograd._get_sequence_nr()
        truth.update(dict.fromkeys(range(counted[0], count), running[-1]))
        counted[0] = count

    def begin(path: str):
        def hook(*_):
            claim()
            running.append(path)

        return hook

    def end(*_):
        claim()
        running.pop()

    for name, module in net.named_modules():
        module.register_forward_pre_hook(begin(naming.module_path("net", name)))
        module.register_forward_hook(end)
    watch = watcher()
    said: dict[int, str] = {}

    def note(event):
        node = torch._C._current_autograd_node()
        if event.phase == "backward" and node is not None and "AccumulateGrad" not in node.name():
            said[node._sequence_nr()] = event.module

    watch.tracer._after = note
    with watch.step():
        loss = net(torch.randn(shape)).square().sum()
        loss.backward()
    checked = {number: (said[number], truth[number]) for number in said.keys() & truth.keys()}
    assert len(checked) >= 3
    assert {number: pair for number, pair in checked.items() if pair[0] != pair[1]} == {}


def test_accumulated_gradients_belong_to_the_module_of_the_parameter(watcher):
    net, watch = Mlp(), watcher()
    with watch.step():
        net(torch.randn(2, 6)).sum().backward()
    assert "Gradients/net/fc1/AccumulateGrad/aten.detach" in watch.steps[-1]
    assert "Gradients/net/fc2/AccumulateGrad/aten.detach" in watch.steps[-1]


@pytest.mark.parametrize("reentrant", [False, True])
def test_recomputed_nodes_are_told_apart(reentrant, watcher):
    net, watch = scenarios.Checkpointed(reentrant), watcher()
    with watch.step():
        net(torch.randn(2, 6)).sum().backward()
    names = watch.steps[-1]
    assert "Recompute/net/inner/aten.t" in names
    assert "Gradients/net/inner/AddmmBackward0/aten.mm" in names
    assert "Recompute/net/aten.sin" in names
    assert "net/aten.sin" in names
    assert {event.phase for event in watch.events if event.name.startswith("Recompute/")} == {"recompute"}


def test_second_derivatives_stand_below_the_gradients_of_gradients(watcher):
    watch = watcher()
    scenarios.double_backward(watch.step)
    assert any(name.startswith("Gradients/Gradients/critic/") for name in watch.steps[-1])


def test_wrappers_leave_no_trace_in_names(watcher):
    class Wrapper(nn.Module):
        def __init__(self, module):
            super().__init__()
            self.module = module

        def forward(self, x):
            return self.module(x)

    model, watch = Wrapper(Mlp()), watcher()
    with watch.step():
        model(torch.randn(2, 6)).sum().backward()
    assert "model/fc1/aten.addmm" in watch.steps[-1]
    assert "model.fc1.weight" in watch.records()


def test_a_module_made_on_the_way_hangs_below_its_caller(watcher):
    class Net(nn.Module):
        def forward(self, x):
            return nn.GELU()(x) + nn.Tanh()(x)

    net, watch = Net(), watcher()
    x = torch.randn(2)
    for _ in range(2):
        with watch.step():
            net(x)
    assert watch.steps[0] == watch.steps[1] == ["net/GELU/aten.gelu", "net/Tanh/aten.tanh", "net/aten.add"]


def test_an_error_inside_a_module_leaves_no_scope_behind(watcher):
    net, watch = Mlp(), watcher()
    with watch.step():
        with pytest.raises(RuntimeError):
            net(torch.randn(2, 7))
        torch.ones(2).exp()
    assert "Script/aten.exp" in watch.steps[-1]


class _Interrupted(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Mlp()
        self.part.fc2.register_forward_pre_hook(self._interrupt)
        self.by: BaseException | None = None

    def _interrupt(self, _module, _args):
        by, self.by = self.by, None
        if by is not None:
            raise by

    def forward(self, x):
        try:
            return self.part(x)
        except SystemExit:
            return x.sin()


@pytest.mark.parametrize("by", [KeyboardInterrupt(), ValueError()], ids=lambda by: type(by).__name__)
def test_what_a_script_catches_leaves_no_scope_behind(by, watcher):
    net, watch, x = _Interrupted(), watcher(), torch.ones(2, 6)
    with watch.step():
        net.by = by
        with pytest.raises(type(by)):
            net(x)
        x.exp()
        net(x).mean().backward()
    names = watch.steps[-1]
    assert "Script/aten.exp" in names
    assert {"net/part/fc1/aten.addmm_1", "net/part/fc2/aten.addmm", "Script/aten.mean"} <= set(names)
    assert "Gradients/net/part/fc2/AddmmBackward0/aten.mm" in names


def test_what_a_module_catches_leaves_the_scopes_of_its_parts(watcher):
    net, watch, x = _Interrupted(), watcher(), torch.ones(2, 6)
    with watch.step():
        net.by = SystemExit()
        net(x)
    assert watch.steps[-1][-1] == "net/aten.sin"


@pytest.mark.parametrize("by", [KeyboardInterrupt, RuntimeError])
@pytest.mark.parametrize("where", ["its step", "a hook of the script's"])
def test_the_step_of_an_optimizer_is_over_when_it_raises(by, where, watcher):
    class Failing(torch.optim.SGD):
        def step(self, closure=None):
            if fails and where == "its step":
                raise by
            return super().step(closure)

    def hook(*_):
        if fails and where != "its step":
            raise by

    net, watch = Mlp(), watcher()
    optimizer = Failing(net.parameters(), lr=0.1)
    optimizer.register_step_pre_hook(hook)
    for _ in range(2):
        with watch.step():
            net(torch.ones(2, 6)).sum().backward()
            fails = True
            with pytest.raises(by):
                optimizer.step()
            torch.ones(2).exp()
            fails = False
            optimizer.step()
            torch.ones(2).log()
        names = watch.steps[-1]
        assert {"Script/aten.exp", "Script/aten.log", "Optimizer/Failing/net.fc1.weight/aten.add_"} <= set(names)


def test_two_models_of_one_variable_and_two_optimizers_of_one_class(watcher):
    watch = watcher()
    models = [("first", Mlp()), ("second", Mlp())]
    optimizers = [torch.optim.SGD(one.parameters(), lr=0.1) for _, one in models]
    for _ in range(2):
        with watch.step():
            for _, model in models:
                functional.cross_entropy(model(torch.randn(2, 6)), torch.tensor([0, 1])).backward()
            for optimizer in optimizers:
                optimizer.step()
    names = watch.steps[-1]
    assert {"model/fc1/aten.addmm", "model_1/fc1/aten.addmm"} <= set(names)
    assert "Optimizer/SGD/model.fc1.weight/aten.add_" in names
    assert "Optimizer/SGD_1/model_1.fc1.weight/aten.add_" in names


def test_hooks_are_there_only_while_a_step_is_traced(watcher):
    from torch.nn.modules import module as global_hooks

    watch = watcher()
    with watch.step():
        assert global_hooks._global_forward_pre_hooks
    assert not global_hooks._global_forward_pre_hooks
    assert not global_hooks._global_forward_hooks


class _Nest(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x) + 1


def _nested(depth):
    net = nn.Linear(2, 2)
    for _ in range(depth):
        net = _Nest(net)
    return net


def _least_limit(call):
    """The recursion limit that is set is just enough for the call."""
    for limit in range(500, 2000, 20):
        try:
            sys.setrecursionlimit(limit)
            return call(), limit
        except RecursionError:
            continue
    raise AssertionError("no limit is enough")


def test_modules_nested_as_deep_as_python_allows_are_traced(watcher):
    net, watch, usual = _nested(200), watcher(), sys.getrecursionlimit()
    x = torch.ones(1, 2)
    try:
        plain, limit = _least_limit(lambda: net(x))
        with watch.step():
            traced = net(x)
        assert sys.getrecursionlimit() == limit
    finally:
        sys.setrecursionlimit(usual)
    assert torch.equal(plain, traced)
    assert len(watch.events) > 200


def test_a_recursion_limit_that_the_script_sets_is_left_to_it(watcher):
    watch, limit = watcher(), sys.getrecursionlimit()
    try:
        for set_to in (limit + 77, limit + 78):
            with watch.step():
                assert sys.getrecursionlimit() > limit
                sys.setrecursionlimit(set_to)
            assert sys.getrecursionlimit() == set_to
    finally:
        sys.setrecursionlimit(limit)


def test_what_a_closure_does_without_gradients_is_not_the_optimizers(watcher):
    model, watch = Mlp(), watcher()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def closure():
        optimizer.zero_grad()
        loss = model(torch.ones(2, 6)).sum()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        return loss

    for _ in range(2):
        with watch.step():
            optimizer.step(closure)
    assert "Gradients/clip_grad_norm_/aten._foreach_mul_" in watch.steps[-1]
    assert "Optimizer/SGD/model.fc1.weight/aten.add_" in watch.steps[-1]
    assert not any(name.startswith("Optimizer/SGD/aten.") for name in watch.steps[-1])
