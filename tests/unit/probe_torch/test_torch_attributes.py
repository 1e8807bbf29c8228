"""The attributes of a node are told with the step that they are of: never those of another step as the present ones."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from attached import attached  # noqa: E402
from torch import nn  # noqa: E402

from stepscope import live_messages as live  # noqa: E402
from stepscope.core.errors import UnknownNode  # noqa: E402
from stepscope.core.ports import Command  # noqa: E402
from stepscope.core.watch.records import Rule, Selection, Watchpoint, WatchpointSet  # noqa: E402

pytestmark = pytest.mark.torch

UPDATE = "Optimizer/SGD/net.fc1.weight/aten.add_"
BEFORE_UPDATE = Command("run_to", graph="step", node=UPDATE, before=True)
NO_ARRAYS = live.ArrayFiles(Path())
STEP, NODE, GO_ON = Command("run"), Command("next_node"), Command("resume")


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2, self.other_way = nn.Linear(4, 3, bias=False), nn.Linear(3, 1, bias=False), False

    def forward(self, x):
        y = self.fc1(x)
        return self.fc2(y.tanh() if self.other_way else y).sum()


def train(steps: int = 8, other_way_from: int = 99, infinite_in: int = 99) -> None:
    """The learning rate is the number of the step."""
    net = Net()
    optimizer = torch.optim.SGD(net.parameters())
    for number in range(1, steps + 1):
        net.other_way = number >= other_way_from
        optimizer.param_groups[0]["lr"] = float(number)
        optimizer.zero_grad()
        net(torch.ones(2, 4) * (math.inf if number == infinite_in else 1)).backward()
        optimizer.step()


def ask(agent, node: str = UPDATE, graph: str = "step"):
    return live.answer_of(agent.ask("attributes", graph=graph, node=node), "attributes", NO_ARRAYS)


def told_at_pauses(
    monkeypatch, commands, watchpoints=(), hold_bytes=1 << 20, **arguments
) -> list[tuple[int, int, str]]:
    """At each pause from step 2 on: the step that it stands in, the one that the attributes are of, and the reason."""
    told = []

    def look(agent, report) -> None:
        if report.reason == "start":
            agent.send("watch", **live.fields(WatchpointSet(1, tuple(watchpoints))))
        if report.step >= 2:
            told.append((report, ask(agent)))

    with attached(monkeypatch, *commands, on_pause=look, hold_bytes=hold_bytes):
        train(**arguments)
    assert told
    assert [answer.attributes for _, answer in told] == [{"alpha": -float(answer.step)} for _, answer in told]
    return [(report.step, answer.step, report.reason) for report, answer in told]


def test_of_a_node_that_ran_they_are_those_of_the_present_step(monkeypatch) -> None:
    told = told_at_pauses(monkeypatch, [Command("run", steps=3), STEP, BEFORE_UPDATE, NODE, STEP])
    assert [(step, of) for step, of, _ in told] == [(3, 3), (4, 4), (5, 5), (5, 5), (5, 5)]


def test_they_outlive_the_values(monkeypatch) -> None:
    told = told_at_pauses(monkeypatch, [Command("run", steps=3), STEP], hold_bytes=1)
    assert [(step, of) for step, of, _ in told] == [(3, 3), (4, 4)]


def test_of_a_node_that_has_not_run_they_are_older(monkeypatch) -> None:
    told = told_at_pauses(monkeypatch, [Command("run", steps=3), NODE, STEP])
    assert [(step, of) for step, of, _ in told] == [(3, 3), (4, 3), (4, 4)]


@pytest.mark.parametrize("in_the_changed_step", [[NODE], [BEFORE_UPDATE], [NODE, NODE, BEFORE_UPDATE, NODE]])
def test_a_graph_out_of_two_steps_has_the_numbers_of_both(monkeypatch, in_the_changed_step) -> None:
    commands = [Command("run", steps=3), *in_the_changed_step, STEP, NODE, STEP]
    told = told_at_pauses(monkeypatch, commands, other_way_from=4)
    assert {step for step, _, _ in told} == {3, 4, 5}
    assert all(of <= step for step, of, _ in told)
    assert [of for step, of, reason in told if reason == "step"] == [3, 4, 5]


def test_of_a_step_that_ran_free_they_are_those_of_the_traced_one(monkeypatch) -> None:
    net_alone = Selection("none", rules=(Rule("net", on=True, scope=True),))
    told = told_at_pauses(monkeypatch, [GO_ON], [Watchpoint(1, "tensor_overflow", {}, net_alone)], infinite_in=6)
    assert [(step, reason) for step, _, reason in told[:1]] == [(6, "watchpoint")]
    assert told[0][1] <= 2


def test_of_a_node_with_hits_in_a_step_that_ran_free_they_are_its_own(monkeypatch) -> None:
    told = told_at_pauses(monkeypatch, [GO_ON], [Watchpoint(1, "tensor_overflow")], infinite_in=6)
    assert told[0] == (6, 6, "watchpoint")


def test_what_is_not_there(monkeypatch) -> None:
    refused = []

    def look(agent, report) -> None:
        for names in ({"node": "nowhere"}, {"graph": "none"}):
            with pytest.raises(UnknownNode):
                ask(agent, **names)
            refused.append(names)

    with attached(monkeypatch, STEP, on_pause=look):
        train(3)
    assert len(refused) == 4
