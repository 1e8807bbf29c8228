"""What is installed when, and that no fault of the debugger's reaches the training."""

from __future__ import annotations

import gc
import itertools
import os
import re
import weakref

import pytest

torch = pytest.importorskip("torch")

from attached import attached  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.modules import module as global_hooks  # noqa: E402
from torch.utils import _python_dispatch  # noqa: E402

from stepscope.core.ports import Command  # noqa: E402
from stepscope.probe.torch.losses import Losses  # noqa: E402
from stepscope.probe.torch.session import FIRST_STEPS, Session, Terminated  # noqa: E402
from stepscope.probe.torch.telling import Telling  # noqa: E402
from stepscope.probe.torch.values import Memory  # noqa: E402

pytestmark = pytest.mark.torch


def train(steps: int, each=lambda number: None) -> list[float]:
    torch.manual_seed(3)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(net.parameters())
    losses = []
    for number in range(steps):
        optimizer.zero_grad()
        loss = net(torch.ones(2, 4) * number).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        each(number)
    return losses


def installed() -> tuple[int, int, int]:
    """Dispatch modes, and hooks on the forward of all modules."""
    return (
        len(_python_dispatch._get_current_dispatch_mode_stack()),
        len(global_hooks._global_forward_pre_hooks),
        len(global_hooks._global_forward_hooks),
    )


ALONE = train(8)


def test_a_free_run_has_nothing_installed_after_its_first_steps(monkeypatch) -> None:
    seen = []
    with attached(monkeypatch) as (_, agent):
        assert train(8, lambda number: seen.append(installed())) == ALONE
    assert [pause.reason for pause in agent.pauses] == ["start"]
    assert all(each[0] == 1 for each in seen[: FIRST_STEPS - 1])
    assert seen[FIRST_STEPS - 1 :] == [(0, 0, 0)] * (8 - FIRST_STEPS + 1)


def test_the_mode_goes_when_it_runs_free_again(monkeypatch) -> None:
    seen = []
    with attached(monkeypatch, Command("run", steps=4)) as (_, agent):
        assert train(8, lambda number: seen.append(installed()[0])) == ALONE
    assert [(pause.reason, pause.step) for pause in agent.pauses] == [("start", 0), ("step", 4)]
    assert seen == [1, 1, 1, 0, 0, 0, 0, 0]  # the steps 1 and 2 are traced, 3 and 4 are held


@pytest.mark.parametrize(("rank", "count", "told"), [("3", "8", (3, 8)), ("node-3", "", (0, 1)), ("-1", "x", (0, 1))])
def test_the_rank_is_a_number_or_none(monkeypatch, rank: str, count: str, told: tuple[int, int]) -> None:
    monkeypatch.setenv("RANK", rank)
    monkeypatch.setenv("WORLD_SIZE", count)
    with attached(monkeypatch) as (_, agent):
        train(1)
    info = agent.messages[0]["info"]
    assert (info["rank"], info["rank_count"]) == told


@pytest.mark.parametrize("scaled_twice", [False, True])
def test_the_loss_is_told_as_it_was_before_it_was_scaled(monkeypatch, scaled_twice: bool) -> None:
    net = nn.Linear(4, 1)
    optimizer, scaler = torch.optim.SGD(net.parameters(), lr=0.1), torch.amp.GradScaler("cpu")
    with attached(monkeypatch, Command("run")) as (_, agent):
        loss = net(torch.ones(2, 4)).mean()
        scaled = scaler.scale(loss)
        if scaled_twice:
            scaled, _ = scaler.scale(loss), scaler.scale(loss + 1)
            loss = scaled
        scaled.backward()
        scaler.step(optimizer)
    assert agent.pauses[-1].loss == loss.item()


def test_a_scaled_loss_without_a_backward_pass_keeps_no_graph(monkeypatch) -> None:
    class Keeps(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.kept = kept = _Kept()
            graphs.append(weakref.ref(kept))
            return x * 2

    class _Kept:
        pass

    graphs: list[weakref.ref[_Kept]] = []
    net, scaler = nn.Linear(4, 1), torch.amp.GradScaler("cpu")
    with attached(monkeypatch):
        scaler.scale(Keeps.apply(net(torch.ones(2, 4))).mean())
        gc.collect()
        assert [graph() for graph in graphs] == [None]


def test_the_end_leaves_the_pipe_to_the_end_of_the_process(monkeypatch) -> None:
    with attached(monkeypatch) as (session, agent):
        train(1)
        descriptor = agent.pipe.fileno()
        session.end("")
        assert agent.pipe.fileno() == -1
        os.close(descriptor)
        agent._thread.join(10)
    assert agent.messages[-1] == {"is": "bye", "step": 1, "error": ""}


def test_everything_is_taken_back(monkeypatch) -> None:
    before = (torch.autograd._engine_run_backward, torch.optim.Optimizer.__init__, torch.amp.GradScaler.step)
    with attached(monkeypatch):
        train(2)
        assert torch.autograd._engine_run_backward is not before[0]
    after = (torch.autograd._engine_run_backward, torch.optim.Optimizer.__init__, torch.amp.GradScaler.step)
    assert after == before
    assert installed() == (0, 0, 0)


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (Session, "begin"),
        (Session, "_begin_step"),
        (Session, "_end_step"),
        (Losses, "backward_of"),
        (Telling, "update"),
        (Telling, "tell"),
        (Memory, "begin"),
        (Memory, "before"),
        (Memory, "after"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
@pytest.mark.parametrize("call", [1, 3])
def test_a_fault_of_ours_costs_the_debugger_only(monkeypatch, capsys, owner, name: str, call: int) -> None:
    original, calls = getattr(owner, name), []

    def broken(*args, **kwargs):
        calls.append(name)
        if len(calls) == call:
            raise RuntimeError("planted")
        return original(*args, **kwargs)

    monkeypatch.setattr(owner, name, broken)
    with attached(monkeypatch, *[Command("run")] * 4):
        assert train(8) == ALONE
        assert installed() == (0, 0, 0)
    if len(calls) >= call:
        assert "planted" in capsys.readouterr().err


def test_terminate_comes_out_of_the_operation(monkeypatch) -> None:
    with attached(monkeypatch, Command("run"), Command("next_node"), Command("terminate")), pytest.raises(Terminated):
        train(8)
    assert installed() == (0, 0, 0)


def test_ctrl_c_within_code_of_ours_leaves_gradients_on(monkeypatch) -> None:
    def interrupted(session, module=None):
        torch._C._set_grad_enabled(False)  # as `no_grad` does, whose end does not come any more
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "step_ended", interrupted)
    with attached(monkeypatch), pytest.raises(KeyboardInterrupt):
        train(8)
    assert torch.is_grad_enabled()


def test_stepping_through_a_step_and_past_its_end(monkeypatch) -> None:
    commands = [Command("run", steps=2), *[Command("next_node")] * 200, Command("resume")]
    with attached(monkeypatch, *commands) as (_, agent):
        assert train(8) == ALONE
    nodes = [pause for pause in agent.pauses if pause.reason == "node"]
    third = [pause.cursor.position for pause in nodes if pause.step == 3]
    assert third == list(range(1, len(third) + 1))
    assert nodes[len(third)].step == 4
    assert nodes[len(third)].cursor.position == 1
    told = [message for message in agent.messages if message["is"] == "graph"]
    assert len(told) <= 4  # not again with each node


def test_steps_of_a_wgan_hold_what_its_optimizers_used(monkeypatch) -> None:
    looked = {}

    def look(agent, report) -> None:
        if report.reason == "step":
            nodes = [one["node"] for one in agent.ask("execution", offset=0, limit=9999)["answer"]["nodes"]]
            parts = [re.match(r"(Optimizer/)?[^/]+", node)[0] for node in nodes if not node.startswith("Script")]
            looked[report.step] = [part for part, _ in itertools.groupby(parts)]

    # There is no loader. Steps 3 to 5 run free.
    with attached(monkeypatch, Command("run"), Command("run"), Command("run", steps=5), on_pause=look):
        generator, critic = nn.Linear(4, 6), nn.Linear(6, 1)
        of_generator = torch.optim.SGD(generator.parameters(), 0.01)
        of_critic = torch.optim.Adam(critic.parameters())
        for _ in range(8):
            for _ in range(2):
                of_critic.zero_grad()
                critic(generator(torch.randn(5, 4)).detach()).mean().backward()
                of_critic.step()
            of_generator.zero_grad()
            critic(generator(torch.randn(5, 4))).mean().backward()
            of_generator.step()
    learns = ["generator", "critic", "Gradients"]
    whole = [*learns, "Optimizer/Adam", *learns, "Optimizer/Adam", *learns, "Optimizer/SGD"]
    assert looked == {1: whole, 2: whole, 7: whole}


def test_back_and_forth(monkeypatch) -> None:
    commands = [Command("run", steps=2), *[Command("next_node")] * 3]
    commands += [Command(kind) for kind in ("previous_node", "previous_node", "next_node", "next_node", "next_node")]
    with attached(monkeypatch, *commands) as (_, agent):
        assert train(8) == ALONE
    positions = [pause.cursor.position for pause in agent.pauses if pause.reason == "node"]
    assert positions == [1, 2, 3, 2, 1, 2, 3, 4]


def test_a_node_that_does_not_come(monkeypatch) -> None:
    with attached(monkeypatch, Command("run"), Command("run_to", graph="step", node="nowhere")) as (_, agent):
        assert train(8) == ALONE
    assert [(pause.reason, pause.step) for pause in agent.pauses[1:]] == [("step", 1), ("not_reached", 2)]


def test_values_beyond_the_budget_are_released(monkeypatch) -> None:
    refused = []

    def look(agent, report) -> None:
        if report.reason == "step":
            order = agent.ask("execution", offset=0, limit=9999)["answer"]["nodes"]
            for one in order:
                node = one["node"] if isinstance(one, dict) else one[1]
                answer = agent.ask("stats", key=_key(node))
                refused.append(answer.get("failure", {}).get("message", ""))

    from stepscope.core.ports import TensorKey

    def _key(node):
        return TensorKey("step", node)

    with attached(monkeypatch, Command("run", steps=3), on_pause=look, hold_bytes=400):
        assert train(8) == ALONE
    assert "released" in refused[0]
    assert refused[-1] == ""


def test_a_graph_is_told_once_where_steps_are_alike(monkeypatch) -> None:
    with attached(monkeypatch, *[Command("run")] * 6) as (_, agent):
        assert train(8) == ALONE
    told = [place for place, message in enumerate(agent.messages) if message["is"] == "graph"]
    pauses = [place for place, message in enumerate(agent.messages) if message["is"] == "report"]
    assert all(place < pauses[3] for place in told)
