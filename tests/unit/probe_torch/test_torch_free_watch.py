"""Watchpoints in steps that run free: what is found there is what is found in steps that are traced and held."""

from __future__ import annotations

import math
import select
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402
from attached import attached  # noqa: E402
from free_trainings import (  # noqa: E402
    FAULTS,
    accumulated,
    branching,
    by_hand,
    catching,
    conditional,
    exchanged,
    experts,
    fp16,
    in_parts,
    in_turns,
    observed,
    passed_on,
    scaled,
    scripted,
    train,
    two_ways,
)
from torch import nn  # noqa: E402
from torch.utils import _python_dispatch  # noqa: E402

from stepscope import live_messages as live  # noqa: E402
from stepscope.core.graph import Graph  # noqa: E402
from stepscope.core.ports import Command, TensorKey  # noqa: E402
from stepscope.core.watch.recommended import recommended  # noqa: E402
from stepscope.core.watch.records import HitBatch, Rule, Selection, Watchpoint, WatchpointSet  # noqa: E402
from stepscope.probe.torch import arrays, on_device  # noqa: E402
from stepscope.probe.torch.free_looks import finite_of  # noqa: E402
from stepscope.probe.torch.free_step import FreeStep  # noqa: E402
from stepscope.probe.torch.free_watch import FreeWatch  # noqa: E402
from stepscope.probe.torch.tracer import Tracer  # noqa: E402
from stepscope.probe.torch.variables import Variables  # noqa: E402

pytestmark = pytest.mark.torch

OVERFLOW = Watchpoint(1, "tensor_overflow")
ORIGIN = Watchpoint(2, "operator_overflow")
EVERYTHING = [replace(one, id=number) for number, one in enumerate(recommended([Graph("step", [])]), 1)]
CHANGES = [
    Watchpoint(1, "weight_change_too_large", {"abs_mean_update_ratio_gt": 0.001}),
    Watchpoint(2, "weight_not_changed", {"rtol": 1e-5}, Selection("weight")),
    Watchpoint(3, "weight_change_too_small", {"abs_mean_update_ratio_lt": 1.0}, Selection("tensor")),
]
RARE = Watchpoint(3, "weight_change_too_large", {"abs_mean_update_ratio_gt": 1e6}, Selection("trained_matrix"))


def watched(monkeypatch, watchpoints, training=train, free: bool = True, on_pause=None, commands=(), **arguments):
    """All batches with hits of a training that goes on after each stop; the pauses, and how many steps were traced."""
    traced = []
    original = Tracer.new_step
    monkeypatch.setattr(Tracer, "new_step", lambda tracer: traced.append(tracer.is_pushed) or original(tracer))
    if not free:
        monkeypatch.setattr(FreeWatch, "ready", False)

    def pause(agent, report) -> None:
        if report.reason == "start":
            agent.send("watch", **live.fields(WatchpointSet(1, tuple(watchpoints))))
        if on_pause is not None:
            on_pause(agent, report)

    with attached(monkeypatch, *commands, on_pause=pause) as (_, agent):
        losses = training(**arguments)
    batches = [live.read(HitBatch, message) for message in agent.messages if message["is"] == "hits"]
    monkeypatch.undo()
    assert losses == pytest.approx(training(**arguments), nan_ok=True, abs=0)
    return batches, agent.pauses, sum(traced) - 1  # the first step begins twice


def plain(batches):
    """As it can be compared: NaN equals itself. Without what only `loss.item()` reads, in the next step."""
    return [str(hit) for batch in batches for hit in batch.hits if hit.node != "Input/loss"]


@pytest.mark.parametrize(
    "watchpoints",
    [[OVERFLOW], [ORIGIN], [OVERFLOW, ORIGIN], EVERYTHING, CHANGES],
    ids=["overflow", "origin", "both", "recommended", "changes"],
)
@pytest.mark.parametrize(
    "training", [train, by_hand, accumulated, catching, in_parts, fp16, scripted], ids=lambda one: one.__name__
)
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
def test_what_is_found_is_what_a_traced_step_would_have_told(monkeypatch, watchpoints, training) -> None:
    free, pauses, traced = watched(monkeypatch, watchpoints, training, zero_in=5)
    slow, slow_pauses, slow_traced = watched(monkeypatch, watchpoints, training, free=False, zero_in=5)
    assert plain(free) == plain(slow)
    assert [(one.reason, one.step) for one in pauses] == [(one.reason, one.step) for one in slow_pauses]
    assert free
    assert traced < slow_traced


@pytest.mark.parametrize(("zero_in", "name"), [(9, "Input/first"), (10, "Input/second")])
def test_an_input_is_looked_at_before_anything_reads_it(monkeypatch, zero_in, name) -> None:
    free, *_ = watched(monkeypatch, [OVERFLOW, ORIGIN], observed, zero_in=zero_in)
    slow, *_ = watched(monkeypatch, [OVERFLOW, ORIGIN], observed, free=False, zero_in=zero_in)
    assert plain(free) == plain(slow)
    assert [hit.node for hit in free[0].hits] == [name, "Script/aten.mul_"]


@pytest.mark.usefixtures("_fresh_dynamo")
def test_an_operation_that_calls_functions_is_let_through(monkeypatch) -> None:
    free, *_ = watched(monkeypatch, [OVERFLOW, ORIGIN], conditional)
    slow, *_ = watched(monkeypatch, [OVERFLOW, ORIGIN], conditional, free=False)
    assert plain(free) == plain(slow)
    assert free


def test_of_two_ways_only_one_is_watched(monkeypatch) -> None:
    """Until a step parts from the way that is expected, its nodes are taken for those of that one."""
    only_b = Watchpoint(1, "tensor_overflow", {}, Selection("none", rules=(Rule("b", on=True, scope=True),)))
    free, *_ = watched(monkeypatch, [only_b], two_ways)
    slow, *_ = watched(monkeypatch, [only_b], two_ways, free=False)
    by_step = {batch.step: set(map(str, batch.hits)) for batch in slow if batch.hits}
    assert by_step.keys() >= {6, 8, 10, 12}
    for batch in free:
        found, wanted = set(map(str, batch.hits)), by_step.get(batch.step, set())
        assert found == wanted or (found < wanted and "first nodes were not checked" in batch.warning)
    assert {batch.step for batch in free if batch.hits} == by_step.keys()
    assert any("first nodes were not checked" in batch.warning for batch in free)


@pytest.mark.parametrize(
    "watchpoint",
    [replace(CHANGES[0], selection=Selection("weight")), replace(OVERFLOW, selection=Selection("trainable"))],
    ids=lambda one: one.condition,
)
def test_weights_that_only_every_other_step_watches(monkeypatch, watchpoint) -> None:
    """Which have a value of the step before all the same."""
    free, *_ = watched(monkeypatch, [watchpoint], in_turns)
    slow, *_ = watched(monkeypatch, [watchpoint], in_turns, free=False)
    known = [[batch for batch in each if batch.step > 8] for each in (free, slow)]  # both ways are
    assert plain(known[0]) == plain(known[1])
    assert known[0]


@pytest.mark.parametrize("device", [False, True], ids=["here", "on a device"])
@pytest.mark.parametrize("free", [False, True], ids=["held", "free"])
def test_a_number_that_an_operation_is_given_in_this_step_is_an_input(monkeypatch, free, device) -> None:
    """Which were finite in the step that was traced."""
    if device:
        as_on_a_device(monkeypatch)
    batches, *_ = watched(monkeypatch, [OVERFLOW, ORIGIN], scaled, free=free)
    hits = [(hit.node, hit.watchpoint) for batch in batches for hit in batch.hits if hit.step == 5]
    assert ("Script/aten.mul", 1) in hits
    assert ("Script/aten.mul", 2) not in hits
    assert ("Script/aten.log", 2) in hits


def test_a_parameter_is_the_one_that_the_module_has_now(monkeypatch) -> None:
    exchange = Watchpoint(1, "weight_change_too_large", {"abs_mean_update_ratio_gt": 0.3}, Selection("weight"))
    free, *_ = watched(monkeypatch, [exchange], exchanged, zero_in=5)
    changed = {hit.node for batch in free for hit in batch.hits if hit.step == 4}  # which ends with the next forward
    assert {"net.fc1.weight", "net.fc2.weight"} <= changed


@pytest.mark.parametrize("training", [by_hand, train], ids=lambda one: one.__name__)
def test_parameters_are_named_once(monkeypatch, training) -> None:
    named: list[None] = []
    begin = Variables.begin
    monkeypatch.setattr(Variables, "begin", lambda *all: named.append(None) or begin(*all))
    _, _, traced = watched(monkeypatch, [RARE], training)
    assert len(named) == traced + 1  # the first step begins twice


@pytest.mark.parametrize("watchpoints", [[OVERFLOW, ORIGIN], EVERYTHING], ids=["both", "recommended"])
@pytest.mark.parametrize("fault", FAULTS)
def test_no_fault_is_passed_over_by_what_only_passes_it_on(monkeypatch, watchpoints, fault) -> None:
    free, *_ = watched(monkeypatch, watchpoints, passed_on, fault=fault)
    slow, *_ = watched(monkeypatch, watchpoints, passed_on, free=False, fault=fault)
    assert plain(free) == plain(slow)
    assert free


@pytest.mark.parametrize(
    "watchpoints", [[OVERFLOW, ORIGIN], EVERYTHING, CHANGES], ids=["both", "recommended", "changes"]
)
@pytest.mark.parametrize("training", [train, by_hand, in_parts, fp16], ids=lambda one: one.__name__)
def test_tensors_on_a_device_are_judged_there(monkeypatch, watchpoints, training) -> None:
    as_on_a_device(monkeypatch)
    free, *_ = watched(monkeypatch, watchpoints, training, zero_in=5)
    slow, *_ = watched(monkeypatch, watchpoints, training, free=False, zero_in=5)
    assert verdicts(free) == verdicts(slow)


@pytest.mark.parametrize("watchpoints", [[OVERFLOW, ORIGIN], [OVERFLOW, RARE]], ids=["overflow", "changes"])
def test_a_device_is_waited_for_once_a_step(monkeypatch, watchpoints) -> None:
    fetched = as_on_a_device(monkeypatch)
    batches, *_ = watched(monkeypatch, watchpoints)
    assert batches == []
    _first, *others = [size for size in fetched if size]  # the parameters, before the first step that runs free
    assert len(others) == 6
    assert min(others) > 30


def as_on_a_device(monkeypatch) -> list[int]:
    """Every tensor; what is returned tells of each transfer how many tensors it was about."""
    fetched, fetch = [], on_device.fetch
    monkeypatch.setattr(on_device, "lies_here", lambda tensor: False)
    monkeypatch.setattr(on_device, "fetch", lambda rows: fetched.append(len(rows)) or fetch(rows))
    monkeypatch.setattr(arrays, "plain", lambda tensor: None)
    return fetched


def verdicts(batches):
    """Without the figures, whose last digits differ."""
    return [
        (hit.step, hit.node, hit.slot, hit.watchpoint, hit.position, hit.error, [one.hit for one in hit.params])
        for batch in batches
        for hit in batch.hits
        if hit.node != "Input/loss"
    ]


class _Wrapper(torch.Tensor):
    """Without memory of its own, on the processor as it says."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    __torch_dispatch__ = classmethod(lambda cls, func, types, args=(), kwargs=None: NotImplemented)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
def test_a_finite_result_of_any_layout_passes_and_no_other(dtype) -> None:
    passes = finite_of(dtype)
    for bad in (math.nan, math.inf, -math.inf):
        for place in ((0, 0, 0, 0), (1, 2, 4, 6), (0, 1, 2, 3)):
            x = torch.rand(2, 3, 5, 7).to(dtype)
            layouts = [x, x.to(memory_format=torch.channels_last), x.transpose(1, 3), x[:, :, ::2]]
            is_numpys = dtype is not torch.bfloat16
            assert [passes(one) for one in layouts] == [True, is_numpys, is_numpys, is_numpys]
            x[place] = bad
            assert not any(passes(one) for one in (x, x.to(memory_format=torch.channels_last), x.transpose(1, 3)))
    assert passes(torch.zeros(0, 3, dtype=dtype))
    assert passes(nn.Parameter(torch.zeros(2, dtype=dtype)).detach())
    gone = torch.zeros(8, dtype=dtype)
    gone.untyped_storage().resize_(0)
    other = torch.zeros(2, dtype=torch.int64)
    strange = [gone, other, torch.zeros(2, 2, dtype=dtype).to_sparse(), torch.zeros(2, dtype=dtype, device="meta")]
    strange += [_Wrapper(torch.zeros(2, dtype=dtype)), None, 1.0, [torch.zeros(2, dtype=dtype)]]
    assert not any(map(passes, strange))
    torch.vmap(lambda one: strange.append(passes(one)) or one)(torch.zeros(2, 3, dtype=dtype))
    assert strange[-1] is False


def test_the_first_node_that_overflows_is_the_first_hit(monkeypatch) -> None:
    looked = {}

    def look(agent, report) -> None:
        if report.reason != "watchpoint" or looked:
            return

        def ask(node, **key):
            return agent.ask("stats", key=TensorKey("step", node, **key))

        looked["log"] = ask("net/aten.log")
        looked["its input"] = ask("net/aten.log", input=0)
        looked["a weight"] = ask("net.fc1.weight")
        looked["a node without hits"] = ask("net/fc1/aten.addmm")
        looked["order"] = agent.ask("execution", offset=0, limit=999)["answer"]["nodes"]

    batches, pauses, traced = watched(monkeypatch, [ORIGIN, OVERFLOW], zero_in=5, on_pause=look)
    first = batches[0]
    assert (pauses[1].reason, pauses[1].step, first.step) == ("watchpoint", 5, 5)
    assert (first.hits[0].node, first.hits[0].watchpoint) == ("net/aten.log", 2)
    assert traced == 2
    assert looked["log"]["answer"]["negative_inf_count"] == 16
    assert looked["its input"]["answer"]["zero_count"] == 16
    assert looked["a weight"]["answer"]["shape"] == [8, 4]
    assert "ran free" in looked["a node without hits"]["failure"]["message"]
    names = [one["node"] if isinstance(one, dict) else one[1] for one in looked["order"]]
    assert names[first.hits[0].position - 1] == "net/aten.log"


def test_only_what_is_watched_is_installed(monkeypatch) -> None:
    seen = []

    def each(number: int) -> None:
        seen.append([type(one).__name__ for one in _python_dispatch._get_current_dispatch_mode_stack()])

    batches, _, traced = watched(monkeypatch, [OVERFLOW], each=each)
    assert (batches, traced) == ([], 2)
    assert seen[:8] == [["Tracer"], *[["FastPath"]] * 7]


def test_watchpoints_may_change_while_it_runs(monkeypatch) -> None:
    seen, agents = [], []
    sets = {3: (OVERFLOW, RARE), 5: (ORIGIN,), 6: (), 7: (OVERFLOW,)}

    def each(number: int) -> None:
        seen.append(len(_python_dispatch._get_current_dispatch_mode_stack()))
        if number in sets and not agents[0].closed:
            agents[0].send("watch", **live.fields(WatchpointSet(number, sets[number])))
            assert select.select([agents[0].pipe.fileno()], [], [], 10)[0]

    batches, pauses, traced = watched(
        monkeypatch, [OVERFLOW], each=each, on_pause=lambda agent, report: agents.append(agent), steps=10, zero_in=9
    )
    assert traced == 2
    assert seen[:10] == [1, 1, 1, 1, 1, 1, 0, 1, 1, 1]
    assert [one.step for one in pauses] == [0, 9, 10]
    assert batches[0].revision == 7


def test_a_weight_can_be_compared_with_the_step_before(monkeypatch) -> None:
    looked = []

    def look(agent, report) -> None:
        if report.reason == "watchpoint" and report.step == 5:
            looked.append(agent.ask("compare", key=TensorKey("step", "net.fc1.weight")))
        if report.reason == "watchpoint" and report.step == 5:
            looked.append(agent.ask("compare", key=TensorKey("step", "OptState/net.fc1.weight/exp_avg")))

    watched(monkeypatch, [OVERFLOW, RARE], zero_in=5, on_pause=look)
    assert looked[0]["answer"]["previous"]["step"] == 4
    assert looked[0]["answer"]["difference"]["max"] != 0 or looked[0]["answer"]["current"]["nan_count"]
    assert "failure" in looked[1]  # nobody watches it, so nothing of the step before was kept


def test_the_step_after_a_pause_is_compared_with_one_that_ran_free(monkeypatch) -> None:
    """Asked to pause while it runs, it holds one step more."""
    looked = []

    def pause_it(number: int) -> None:
        if number == 4 and not asked:
            asked.append(number)
            agents[0].send("command", **live.fields(Command("pause", sequence=9)))
            while not agents[0].pipe.pending():
                pass

    agents, asked = [], []

    def look(agent, report) -> None:
        agents.append(agent)
        if report.reason == "pause":
            looked.append(report.step)
            looked.append(agent.ask("compare", key=TensorKey("step", "net.fc1.weight")))
            looked.append(agent.ask("stats", key=TensorKey("step", "net/fc1/aten.addmm")))

    batches, _, _ = watched(monkeypatch, [OVERFLOW, RARE], on_pause=look, each=pause_it)
    step, comparison, figures = looked[:3]
    assert comparison["answer"]["current"]["step"] == step
    assert comparison["answer"]["previous"]["step"] == step - 1
    assert figures["answer"]["step"] == step
    assert not any(hit.error for batch in batches for hit in batch.hits)


def test_a_new_way_is_told_then_traced_then_known(monkeypatch) -> None:
    agents = {}
    for zero_in, found in ((8, "net/aten.exp"), (10, "net/aten.exp")):
        batches, pauses, traced = watched(
            monkeypatch,
            [OVERFLOW],
            branching,
            on_pause=lambda agent, report, at=zero_in: agents.setdefault(at, agent),
            ways="aaaabbabbb",
            zero_in=zero_in,
        )
        told = [message.get("notes", []) for message in agents[zero_in].messages if message["is"] == "report"]
        assert [list(notes) for notes in told if notes] == [["partly_watched"]]
        # Traced are the steps 1 and 2, and 6, after the first b; from there on both ways are known.
        assert traced == 3
        assert [(one.reason, one.step) for one in pauses] == [
            ("start", 0),
            *[("watchpoint", step) for step in range(zero_in, 11)],
        ]
        assert batches[0].hits[0].node == found


def test_hits_are_of_the_nodes_of_the_way_that_it_turns_out_to_be(monkeypatch) -> None:
    """The overflow comes before the ways differ in their operations."""
    for ways, expert in (("aaabbaab", "second"), ("aaabbaaa", "first"), ("aaabbaba", "first")):
        free, pauses, _ = watched(monkeypatch, [OVERFLOW, ORIGIN], experts, ways=ways, zero_in=8)
        slow, *_ = watched(monkeypatch, [OVERFLOW, ORIGIN], experts, free=False, ways=ways, zero_in=8)
        assert [(one.reason, one.step) for one in pauses] == [("start", 0), ("watchpoint", 8)]
        assert plain(free) == plain(slow)
        assert f"net/{expert}/aten.addmm" in [hit.node for hit in free[0].hits]


def test_a_way_that_is_never_the_same_is_traced_more_and_more(monkeypatch) -> None:
    class Random(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc, self.depth = nn.Linear(4, 4), 1

        def forward(self, x):
            for _ in range(self.depth):
                x = self.fc(x)
            return x.sum()

    def training() -> list[float]:
        torch.manual_seed(3)
        net, losses = Random(), []
        optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
        for number in range(40):
            net.depth = 1 + number
            optimizer.zero_grad()
            loss = net(torch.ones(2, 4) * 0.1)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    _, _, traced = watched(monkeypatch, [OVERFLOW], training)
    assert traced == 40 - 6 + 1  # strays after 2, and then after 1, 2, 4, 8, 16 traced ones


@pytest.mark.parametrize(
    ("owner", "name"),
    [(FreeWatch, "begin"), (FreeWatch, "end"), (FreeWatch, "learn"), (FreeStep, "next"), (FreeStep, "keep")],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_fault_of_ours_costs_the_debugger_only(monkeypatch, capsys, owner, name: str) -> None:
    def broken(*args, **kwargs):
        raise RuntimeError("planted")

    monkeypatch.setattr(owner, name, broken)
    _, pauses, _ = watched(monkeypatch, [OVERFLOW, *CHANGES], zero_in=5)
    assert "planted" in capsys.readouterr().err
    assert not _python_dispatch._get_current_dispatch_mode_stack()
    assert all(one.step < 5 for one in pauses)


def test_values_are_those_of_the_moment(monkeypatch) -> None:
    """A node's output that is overwritten later in the step is kept as the node gave it."""
    looked = {}

    def look(agent, report) -> None:
        if report.reason == "watchpoint" and not looked:
            for node in ("net/norm/aten.native_batch_norm", "net/aten.relu_"):
                looked[node] = agent.ask("stats", key=TensorKey("step", node))["answer"]

    large = Watchpoint(1, "tensor_too_large", {"max_gt": 0.1}, Selection("tensor"))
    watched(monkeypatch, [large], on_pause=look)
    before, after = (looked[node] for node in ("net/norm/aten.native_batch_norm", "net/aten.relu_"))
    assert before["min"] < 0 == after["min"]
    assert before["max"] == after["max"]
    assert np.isfinite(before["mean"])
