"""Parameters of no module: known from step to step, without anything of ours that hangs on them."""

from __future__ import annotations

import select
import weakref

import pytest

torch = pytest.importorskip("torch")

from attached import attached  # noqa: E402
from test_torch_free_watch import OVERFLOW, watched  # noqa: E402
from torch import nn  # noqa: E402

from stepscope.core.ports import Command  # noqa: E402
from stepscope.core.watch.records import Selection, Watchpoint  # noqa: E402

pytestmark = pytest.mark.torch


def trained(each=lambda number, w: None, optimized: bool = True, make=lambda one: one.requires_grad_()):
    torch.manual_seed(0)
    net, w, losses = nn.Linear(4, 4), make(torch.rand(4, 4)), []
    optimizer = torch.optim.SGD([*net.parameters(), w] if optimized else net.parameters(), lr=0.1)
    for number in range(1, 9):
        loss = (net(torch.rand(2, 4)) @ w).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if not optimized:
            with torch.no_grad():
                w -= 0.1 * w.grad
            w.grad = None
        losses.append(loss.item())
        del loss
        each(number, w)
    return losses


@pytest.mark.parametrize("number", [1, 2, 3, 5])
@pytest.mark.parametrize("steps", [0, 8], ids=["free", "held"])
@pytest.mark.parametrize("optimized", [True, False])
def test_they_can_be_swapped(monkeypatch, number, steps, optimized) -> None:
    def swap(now, w) -> None:
        if now == number:
            torch.utils.swap_tensors(w, (w.detach() * 0.5).requires_grad_())

    with attached(monkeypatch, *[Command("run", steps=1)] * steps) as (session, _):
        losses = trained(swap, optimized)
        assert session.over == ""
    assert losses == trained(swap, optimized)


@pytest.mark.parametrize("watchpoints", [[], [OVERFLOW]], ids=["free", "watched"])
def test_inputs_that_gradients_are_for_go_when_the_step_is_over(monkeypatch, watchpoints) -> None:
    made = []

    def training() -> list[float]:
        torch.manual_seed(0)
        net, losses = nn.Linear(4, 4), []
        for _ in range(8):
            x = torch.rand(2, 4).requires_grad_()
            made.append(weakref.ref(x))
            loss = net(x).square().mean()
            loss.backward()
            losses.append(loss.item())
        assert sum(one() is not None for one in made) == 1
        made.clear()
        return losses

    watched(monkeypatch, watchpoints, training)


@pytest.mark.parametrize("make", [nn.Parameter, lambda one: one.requires_grad_()], ids=["parameter", "tensor"])
@pytest.mark.parametrize("optimized", [True, False])
def test_their_names_stay_when_nobody_looked_for_a_while(monkeypatch, make, optimized) -> None:
    names, agents = [], []
    commands = [Command("run", steps=3), Command("resume"), Command("run", steps=1)]
    with attached(monkeypatch, *commands, on_pause=lambda agent, _: agents.append(agent)) as (session, _):

        def each(number, w) -> None:
            if number == 5:
                agents[0].send("command", kind="pause", sequence=9)
                assert select.select([agents[0].pipe.fileno()], [], [], 10)[0]
            names.append([name for name in session.tracer.parameters() if not name.startswith("net.")])

        trained(each, optimized, make)
    name = "SGD.0.2" if optimized and make is not nn.Parameter else "w"
    seen = [place for place, one in enumerate(names) if one]
    assert [] in names[seen[0] : seen[-1]]  # nobody looked
    assert all(names[place] == [name] for place in seen)


def test_they_are_watched_in_steps_that_run_free(monkeypatch) -> None:
    large = Watchpoint(1, "weight_too_large", {"max_gt": 0.0}, Selection("weight"))
    for optimized in (True, False):
        batches, *_ = watched(monkeypatch, [large], trained, optimized=optimized, make=nn.Parameter)
        assert {batch.step for batch in batches if any(hit.node == "w" for hit in batch.hits)} >= {3, 4, 5, 6, 7}
