"""Steps that end inside of compiled code or of a backward pass, as recipes of PyTorch's own have it, or under a mode of
the user's: there modes can't come and go."""

from __future__ import annotations

from functools import partial

import pytest

torch = pytest.importorskip("torch")

from attached import attached  # noqa: E402
from test_torch_free_watch import OVERFLOW, plain, watched  # noqa: E402
from torch import nn, optim  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack  # noqa: E402

from stepscope.core.ports import Command  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("_fresh_dynamo"),
    pytest.mark.filterwarnings("ignore::UserWarning"),  # of Dynamo, about what it can't look into
]
UPDATE = "Optimizer/SGD/net.weight/aten.add_"


def compiled_step(optimizer):
    return torch.compile(lambda: optimizer.step(), backend="eager")


def compiled_method(optimizer):
    optimizer.step = torch.compile(optimizer.step, backend="eager")
    return lambda: optimizer.step()


def train(compiled, zero_in: int = 99, steps: int = 8) -> list[float]:
    torch.manual_seed(3)
    net, losses = nn.Linear(4, 1), []
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    step = compiled(optimizer)
    for number in range(1, steps + 1):
        optimizer.zero_grad()
        loss = net(torch.rand(3, 4) / (number != zero_in)).square().mean()
        loss.backward()
        step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("compiled", [compiled_step, compiled_method])
@pytest.mark.parametrize("hold", [False, True], ids=["free", "stepping"])
def test_the_training_goes_on_as_without(monkeypatch, compiled, hold) -> None:
    truth = train(compiled)
    commands = [Command("run", steps=2), Command("run_to", graph="step", node=UPDATE), Command("run", steps=3)]
    with attached(monkeypatch, *(commands if hold else ())) as (session, agent):
        losses = train(compiled)
        assert not session.over
        assert [(one.reason, one.step) for one in agent.pauses[1:]] == (
            [("step", 2), ("node", 3), ("step", 5)] if hold else []
        )
    assert losses == truth
    assert not _get_current_dispatch_mode_stack()


@pytest.mark.parametrize("compiled", [compiled_step, compiled_method])
def test_watchpoints_find_the_step(monkeypatch, compiled) -> None:
    batches, pauses, _ = watched(monkeypatch, [OVERFLOW], partial(train, compiled), zero_in=5)
    assert (pauses[1].reason, pauses[1].step) == ("watchpoint", 5)
    first = next(hit for batch in batches for hit in batch.hits if batch.step == 5)
    assert first.node == "Script/aten.div"
    assert not _get_current_dispatch_mode_stack()


def in_backward(zero_in: int = 5) -> list[float]:
    """Each weight has an optimizer of its own, which runs as soon as there is a gradient."""
    torch.manual_seed(3)
    net, losses = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1)), []
    for parameter in net.parameters():
        optimizer = optim.SGD([parameter], lr=0.1)
        parameter.register_post_accumulate_grad_hook(
            lambda _, one=optimizer: one.step() or one.zero_grad()  # bound at once
        )
    for number in range(1, 9):
        loss = net(torch.rand(3, 4) / (number != zero_in)).square().mean()
        loss.backward()
        losses.append(loss.item())
    return losses


class Passing(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def under_a_mode(zero_in: int = 5) -> list[float]:
    def compiled(optimizer):
        def step() -> None:
            with Passing():
                optimizer.step()

        return step

    return train(compiled, zero_in)


def compiled_forward(zero_in: int = 5) -> list[float]:
    """Of which nothing would be seen inside where it ran as it is compiled."""

    def backend(graph, _inputs):
        def opaque(*inputs):
            with torch.utils._python_dispatch._disable_current_modes():
                return graph.forward(*inputs)

        return opaque

    torch.manual_seed(3)
    net, losses = nn.Linear(4, 1), []
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    forward = torch.compile(lambda x: net(x / x.sum()), backend=backend)
    for number in range(1, 9):
        optimizer.zero_grad()
        loss = forward(torch.rand(3, 4) * (number != zero_in)).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("training", [in_backward, under_a_mode, compiled_forward])
def test_nothing_is_missed_and_nothing_stays(monkeypatch, training) -> None:
    free, pauses, traced = watched(monkeypatch, [OVERFLOW], training)
    assert not _get_current_dispatch_mode_stack()
    slow, slow_pauses, slow_traced = watched(monkeypatch, [OVERFLOW], training, free=False)
    assert plain(free) == plain(slow)
    assert [(one.reason, one.step) for one in pauses] == [(one.reason, one.step) for one in slow_pauses]
    assert any(hit.node == "Script/aten.div" for batch in free for hit in batch.hits)
    assert traced < slow_traced


def test_a_fault_in_settling_lets_the_training_go(monkeypatch) -> None:
    truth = train(lambda optimizer: optimizer.step)
    with attached(monkeypatch) as (session, _agent):
        monkeypatch.setattr(session, "settle", lambda: 1 / 0)
        assert train(lambda optimizer: optimizer.step) == truth
        assert "ZeroDivisionError" in session.over
    assert not _get_current_dispatch_mode_stack()
