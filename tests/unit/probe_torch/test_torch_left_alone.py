"""What is the script's own, and stays so: its modules, its exceptions, its processes."""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
import signal
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from attached import attached  # noqa: E402
from free_trainings import by_hand  # noqa: E402
from torch import nn, optim  # noqa: E402
from torch.utils.data import _utils  # noqa: E402

from stepscope.core.ports import Command  # noqa: E402

pytestmark = pytest.mark.torch


def trained(each=lambda number, loss: None, steps: int = 6) -> list[float]:
    torch.manual_seed(1)
    net, losses = nn.Linear(3, 1), []
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    for number in range(1, steps + 1):
        try:
            optimizer.zero_grad()
            loss = net(torch.rand(2, 3)).square().mean()
            each(number, loss)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        except (KeyboardInterrupt, RuntimeError) as error:
            losses.append(type(error).__name__)
    return losses


def copied(number: int, net: nn.Module) -> None:
    twin = copy.deepcopy(net)
    loaded = pickle.loads(pickle.dumps(net))
    x = torch.ones(2, 4)
    assert torch.equal(twin(x), net(x))
    assert torch.equal(loaded(x), net(x))
    assert not any((one._forward_hooks, one._forward_pre_hooks) != ({}, {}) for one in net.modules())


@pytest.mark.parametrize("unit", ["run", "forward"])
def test_nothing_hangs_on_its_modules(monkeypatch, unit) -> None:
    truth = by_hand(each=copied)
    with attached(monkeypatch, unit=unit) as (session, _):
        assert by_hand(each=copied) == truth
        assert not session.over


def test_what_it_exports_is_what_it_would_be(monkeypatch) -> None:
    programs: list[list[str]] = []

    def exports(number: int, net: nn.Module) -> None:
        graph = torch.export.export(net, (torch.ones(2, 4),)).graph
        programs.append([str(node.target) for node in graph.nodes])

    by_hand(each=exports)
    truth, programs = programs, []
    with attached(monkeypatch) as (session, _):
        by_hand(each=exports)
        assert not session.over
    assert programs == truth


class Listing(nn.Linear):
    def parameters(self, recurse):
        """In a way of its own."""
        raise AssertionError("asked for by the debugger")


def test_what_a_class_has_made_its_own_is_not_called(monkeypatch) -> None:
    net = nn.Sequential(Listing(3, 1))
    with attached(monkeypatch) as (session, agent):
        for _ in range(4):
            net(torch.ones(2, 3)).mean().backward()
        assert not session.over
    assert [one.step for one in agent.pauses] == [0]


class TimeIsUp(Exception):
    pass


def time_is_up(*_args):
    raise TimeIsUp


@pytest.mark.parametrize("command", [Command("run", steps=3), Command("run_to", graph="step", node="net/aten.addmm")])
def test_a_signal_handler_may_raise(monkeypatch, command) -> None:
    """As those do that save what there is before a time limit."""

    def remind(agent, report) -> None:
        if report.reason != "start":
            os.kill(os.getpid(), signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, time_is_up)
    try:
        with attached(monkeypatch, command, Command("run"), on_pause=remind) as (session, _):
            with pytest.raises(TimeIsUp):
                trained()
            assert not session.over
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_a_signal_handler_may_raise_while_a_node_is_looked_at(monkeypatch) -> None:
    def look(event) -> None:
        signal.raise_signal(signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, time_is_up)
    try:
        with attached(monkeypatch, Command("run", steps=3)) as (session, _):
            monkeypatch.setattr(session.tracer, "_after", look)
            with pytest.raises(TimeIsUp):
                trained(steps=1)
            assert session.tracer.fault is None
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_steps_are_told_after_a_forward_was_interrupted(monkeypatch) -> None:
    """Which no hook of a module's tells of."""

    class Interrupted(nn.Module):
        def forward(self, x):
            if x.sum() < 0:
                raise KeyboardInterrupt
            return x

    ended = []
    with attached(monkeypatch, unit="forward") as (session, _):
        end = session.step_ended
        monkeypatch.setattr(session, "step_ended", lambda module=None: (ended.append(1), end(module)))
        net = nn.Sequential(nn.Linear(2, 2), Interrupted())
        for number in range(8):
            with contextlib.suppress(KeyboardInterrupt), torch.no_grad():
                net[0].weight.fill_(-1 if number == 4 else 1)
                net[0].bias.zero_()
                net(torch.ones(1, 2))
        assert not session.over
    assert len(ended) == 7


def interrupting_at(step: int):
    def interrupt(agent, report) -> None:
        if report.step == step:
            os.kill(os.getpid(), signal.SIGINT)

    return interrupt


def test_an_error_after_a_caught_ctrl_c_stays_what_it_is(monkeypatch) -> None:
    def fails(number, loss):
        if number == 5:
            loss.register_hook(lambda _: (_ for _ in ()).throw(RuntimeError("out of memory")))

    with attached(monkeypatch, Command("run", steps=2), on_pause=interrupting_at(2)) as (session, _):
        losses = trained(fails)
        assert not session.over
    assert [one for one in losses if isinstance(one, str)] == ["KeyboardInterrupt", "RuntimeError"]
    assert losses.index("KeyboardInterrupt") == 1


def test_the_step_after_a_caught_ctrl_c_is_one_of_its_own(monkeypatch) -> None:
    commands = [Command("run", steps=2), Command("run", steps=1)]
    counts = []

    def look(agent, report) -> None:
        counts.append((report.step, len(session.tracer.events)))
        interrupting_at(2)(agent, report)

    with attached(monkeypatch, *commands, Command("run", steps=1), on_pause=look) as (session, _):
        trained()
        assert not session.over
    steps, nodes = zip(*counts, strict=True)
    assert steps[:3] == (0, 2, 4)  # the command that came with Ctrl-C is read after the step
    assert nodes[2] == nodes[1]


@pytest.mark.parametrize(
    ("worker", "child", "grad", "unit", "begins"),
    [
        (True, True, True, "run", False),
        (False, True, True, "run", True),
        (False, True, False, "run", False),
        (False, True, False, "forward", True),
        (False, False, False, "run", True),
    ],
)
def test_a_process_that_works_on_data_is_not_held_up(monkeypatch, worker, child, grad, unit, begins) -> None:
    monkeypatch.setattr(_utils.worker, "_worker_info", SimpleNamespace() if worker else None)
    monkeypatch.setattr("multiprocessing.parent_process", lambda: SimpleNamespace() if child else None)
    with attached(monkeypatch, unit=unit) as (session, agent), torch.set_grad_enabled(grad):
        nn.Linear(2, 2)(torch.ones(1, 2))
        assert session.begun == begins
    assert len(agent.pauses) == begins
