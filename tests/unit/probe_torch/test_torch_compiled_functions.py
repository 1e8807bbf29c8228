"""Functions that `torch.compile` made and that call modules, or are the whole step: they train as without the debugger,
run compiled while nobody looks, and op by op while somebody does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from attached import attached  # noqa: E402
from torch import nn, optim  # noqa: E402
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack  # noqa: E402

from stepscope.core.ports import Command  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("_fresh_dynamo"),
    pytest.mark.filterwarnings("ignore::UserWarning"),  # of Dynamo, about what it can't look into
]
STEPS = 8


def compiled(function, **options):
    return torch.compile(function, backend="aot_eager", **options)


def whole(function):
    """Raises where Dynamo meets what it can't look into."""
    return compiled(function, fullgraph=True)


class Trainer:
    def __init__(self) -> None:
        torch.manual_seed(3)
        self.net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
        self.optimizer: Any = optim.SGD(self.net.parameters(), lr=0.1)

    def loss(self, x):
        return self.net(x).square().mean()

    def step(self, x):
        self.optimizer.zero_grad()
        loss = self.loss(x)
        loss.backward()
        self.optimizer.step()
        return loss

    def step_by_hand(self, x):
        loss = self.loss(x)
        loss.backward()
        with torch.no_grad():
            for parameter in self.net.parameters():
                parameter -= 0.1 * parameter.grad
                parameter.grad.zero_()
        return loss


def loss_of_an_object(trainer: Trainer):
    trainer.loss = whole(trainer.loss)
    return trainer.step


def function_of_a_module(trainer: Trainer):
    net = trainer.net
    trainer.loss = whole(lambda x: net(x).square().mean())
    return trainer.step


def module_in_a_list(trainer: Trainer):
    """Nothing tells that the function comes to a module."""
    things = [trainer]
    trainer.loss = whole(lambda x: things[0].net(x).square().mean())
    return trainer.step


def module_compiled_in_place(trainer: Trainer):
    trainer.net.compile(backend="aot_eager")
    return trainer.step


def step(trainer: Trainer):
    return compiled(trainer.step)


def step_of_compiled_parts(trainer: Trainer):
    trainer.loss = whole(trainer.loss)
    return compiled(trainer.step)


def without_optimizer(trainer: Trainer):
    trainer.optimizer = None
    trainer.loss = whole(trainer.loss)
    return trainer.step_by_hand


LOOPS = [
    loss_of_an_object, function_of_a_module, module_in_a_list, module_compiled_in_place, step, step_of_compiled_parts,
    without_optimizer,
]  # fmt: skip


def train(loop: Callable[[Trainer], Any]) -> list[float]:
    do = loop(Trainer())
    return [do(torch.rand(3, 4)).item() for _ in range(STEPS)]


@pytest.mark.parametrize("stepping", [False, True], ids=["free", "stepping"])
@pytest.mark.parametrize("loop", LOOPS)
def test_losses_and_steps_are_those_of_the_script(monkeypatch, loop, stepping) -> None:
    truth = train(loop)
    torch._dynamo.reset()
    told = []
    commands = [Command("run", steps=1)] * 3 if stepping else []
    with attached(monkeypatch, *commands) as (session, agent):
        ended = session.step_ended
        monkeypatch.setattr(session, "step_ended", lambda module=None: (told.append(module), ended(module)))
        losses = train(loop)
        assert not session.over
    assert losses == truth
    assert [one.step for one in agent.pauses] == ([0, 1, 2, 3] if stepping else [0])
    assert len(told) == STEPS - (loop is without_optimizer)  # of which the next forward tells
    assert not _get_current_dispatch_mode_stack()


@pytest.mark.parametrize("loop", [function_of_a_module, module_compiled_in_place, step_of_compiled_parts])
def test_a_pause_within_it_stands_at_the_node(monkeypatch, loop) -> None:
    truth = train(loop)
    torch._dynamo.reset()
    node = "net/0/aten.addmm"
    with attached(monkeypatch, Command("run", steps=3), Command("run_to", graph="step", node=node)) as (_, agent):
        losses = train(loop)
    assert losses == truth
    assert [(one.reason, one.step) for one in agent.pauses] == [("start", 0), ("step", 3), ("node", 4)]
    assert agent.pauses[-1].cursor.node == node
    assert "compiled_eagerly" in agent.pauses[-1].notes


def inference(make: Callable[..., Any]) -> list[float]:
    net = Trainer().net
    run = make(lambda x: net(x).sum())
    with torch.no_grad():
        return [run(torch.rand(3, 4)).item() for _ in range(STEPS)]


def test_each_call_is_a_step_of_a_script_that_only_infers(monkeypatch) -> None:
    truth = inference(whole)
    torch._dynamo.reset()
    with attached(monkeypatch, Command("run", steps=3), unit="forward") as (session, agent):
        told = []
        ended = session.step_ended
        monkeypatch.setattr(session, "step_ended", lambda module=None: (told.append(module), ended(module)))
        assert inference(whole) == truth
    assert [(one.reason, one.step) for one in agent.pauses] == [("start", 0), ("step", 3)]
    assert len(told) == STEPS


def test_what_calls_no_module_does_not_begin_the_training(monkeypatch) -> None:
    with attached(monkeypatch) as (session, agent):
        assert whole(lambda x: x * 2)(torch.ones(2)).tolist() == [2, 2]
        assert not session.begun
        train(step)
    assert [one.step for one in agent.pauses] == [0]


def test_it_stays_what_it_was(monkeypatch) -> None:
    """For who asks for the function below, or nests it."""

    def double(x):
        "Twice as much."
        return x * 2

    with attached(monkeypatch):
        made = whole(double)
        nested = whole(lambda x: made(x) + 1)
        assert torch._dynamo.eval_frame.innermost_fn(made) is double
        assert (made.__name__, made.__doc__) == ("double", "Twice as much.")
        assert nested(torch.ones(2)).tolist() == [3, 3]
        decorated = torch.compile(backend="aot_eager")(double)
        assert decorated(torch.ones(2)).tolist() == [2, 2]
    assert made(torch.ones(2)).tolist() == [2, 2]
    assert not hasattr(torch.compile, "__wrapped__")
