"""Single nodes watched at the least cost, in steps that a trace has made known."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

torch = pytest.importorskip("torch")

import scenarios  # noqa: E402
from nets import Mlp, step  # noqa: E402
from torch import nn  # noqa: E402

from stepscope.core.graph.torch_ops import UNWRITTEN  # noqa: E402
from stepscope.probe.torch.fast import FastPath  # noqa: E402
from stepscope.probe.torch.program import Look, Program  # noqa: E402

pytestmark = pytest.mark.torch


@contextmanager
def _watched(fast: FastPath):
    fast.new_step()
    fast.put_on()
    try:
        yield
    finally:
        complete = fast.complete
        assert fast.take_off()
    if fast.fault is not None:
        raise fast.fault
    assert complete or fast.strayed is not None


def _looks(of):
    """What `watch` takes, from looks by name."""
    return lambda program: [Look(of[event.name]) if event.name in of else None for event in program.events]


def _runs(scenario, around_each):
    """The scenario with its own context for each step."""
    torch.manual_seed(0)
    each = iter(around_each)
    return [value.detach().clone() for value in scenario(lambda: next(each))]


@pytest.mark.parametrize("scenario", scenarios.STEADY, ids=lambda one: one.__name__)
def test_it_sees_what_a_trace_sees(scenario, watcher):
    watch = watcher(keep=True)
    truth = _runs(scenario, [watch.step() for _ in range(3)])
    noted, fast, seen = watch.nodes, FastPath(), {}

    def look(name):
        def keep(outputs, _arguments):
            seen[name] = [None if one is None else one.detach().clone() for one in outputs]

        return keep

    second = watcher()

    @contextmanager
    def learning():
        with second.step():
            yield
        fast.learn(Program(second.tracer.program))
        fast.watch(_looks({name: look(name) for name in noted}))

    values = _runs(scenario, [second.step(), learning(), _watched(fast)])
    assert all(torch.equal(one, other) for one, other in zip(truth, values, strict=True))
    assert fast.strayed is None
    assert seen.keys() == {name for name, each in noted.items() if not each.event.operation.idle}
    for name, outputs in seen.items():
        if noted[name].event.op in UNWRITTEN:  # what lies there is chance
            continue
        for one, other in zip(outputs, noted[name].outputs, strict=True):
            assert (one is None) == (other is None)
            if one is not None and one.dtype != torch.uint8:  # the working memory of a kernel
                assert torch.equal(_plain(one), _plain(other)), name


def _plain(tensor):
    return tensor.to_dense().nan_to_num()


class _Branching(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc, self.up = nn.Linear(6, 3), False

    def forward(self, x):
        x = self.fc(x)
        return x.relu() if self.up else x.tanh()


def test_a_step_that_goes_another_way_is_told_and_a_known_way_is_taken_up(watcher):
    model, watch, fast = _Branching(), watcher(), FastPath()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(4, 6), torch.tensor([0, 1, 2, 0])

    def run(context):
        with context:
            step(model, optimizer, x, y)

    run(watch.step())
    run(watch.step())
    fast.learn(Program(watch.tracer.program))
    seen = []
    ends = ("model/aten.tanh", "model/aten.relu")
    fast.watch(_looks({name: lambda outputs, _: seen.append(outputs) for name in ends}))
    run(_watched(fast))
    assert len(seen) == 1
    model.up = True
    run(_watched(fast))
    assert fast.strayed is not None
    assert fast.strayed < len(watch.tracer.program)
    assert len(seen) == 1
    run(watch.step())
    fast.learn(Program(watch.tracer.program))
    for up in (False, True, False):
        model.up = up
        run(_watched(fast))
        assert fast.strayed is None
    assert len(seen) == 4


@pytest.mark.parametrize("moment", ["at", "before"])
def test_a_fault_of_a_look_is_kept_and_the_training_goes_on(watcher, moment):
    model, watch, fast = Mlp(), watcher(), FastPath()
    x = torch.ones(2, 6)

    def run():
        return model(x).sum()

    with watch.step():
        truth = run()
    fast.learn(Program(watch.tracer.program))
    fast.watch(lambda program: [Look(**{moment: lambda *_: 1 / 0})] * len(program.events))
    fast.new_step()
    fast.put_on()
    value = run()
    assert fast.take_off()
    assert isinstance(fast.fault, ZeroDivisionError)
    assert torch.equal(truth, value)


def test_what_makes_no_value_may_come_and_go(watcher):
    model, watch, fast, seen = Mlp(), watcher(), FastPath(), []
    x = torch.ones(2, 6)
    with watch.step():
        model(x).sum().item()
    assert [event.op for event in watch.events[-2:]] == ["aten.sum", "aten._local_scalar_dense"]
    fast.learn(Program(watch.tracer.program))
    fast.watch(_looks({watch.events[-2].name: lambda outputs, _: seen.append(outputs[0].item())}))
    for read in (lambda y: y.sum(), lambda y: y.sum().item(), lambda y: y.detach().sum().view(1).item()):
        with _watched(fast):
            read(model(x))
        assert fast.strayed is None
        assert [event.name for event in fast.ran] == watch.steps[-1]
    assert seen == [seen[0]] * 3
    with _watched(fast):
        model(x).mean()
    assert fast.strayed is not None


def test_a_program_keeps_no_tensors_of_what_raised(watcher):
    watch = watcher()
    with watch.step(), pytest.raises(RuntimeError):
        torch.mm(torch.ones(2, 3), torch.ones(2, 3))
    program = Program(watch.tracer.program)
    assert program.raised == {"Script/aten.mm"}
    assert not any(event.tensors for event in program.events)


def test_without_a_program_nothing_is_seen():
    fast = FastPath()
    fast.new_step()
    fast.put_on()
    torch.ones(2).exp()
    assert fast.strayed == 0
    assert fast.take_off()
