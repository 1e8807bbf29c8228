"""What breaks watchers: compiled code, forks, modes of the user's, exceptions, threads, memory that lives on."""

from __future__ import annotations

import gc
import os
import sys
import threading
import weakref

import pytest

torch = pytest.importorskip("torch")

from nets import Mlp, step  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack  # noqa: E402

from stepscope.probe.torch import stacks  # noqa: E402
from stepscope.probe.torch.tracer import Tracer  # noqa: E402

pytestmark = pytest.mark.torch


class _Counting:
    """A backend of `torch.compile` that counts compilations and calls."""

    def __init__(self) -> None:
        self.compiled = self.called = 0

    def __call__(self, module, _example_inputs):
        self.compiled += 1

        def run(*args):
            self.called += 1
            return module.forward(*args)

        return run


@pytest.mark.usefixtures("_fresh_dynamo")
def test_compiled_code_is_seen_inside_and_stays_compiled(watcher):
    counting, net, watch = _Counting(), Mlp(), watcher()
    model = torch.compile(net, backend=counting)
    x = torch.randn(2, 6)
    plain = [model(x), model(x)]
    assert (counting.compiled, counting.called) == (1, 2)
    with watch.step():
        traced = model(x)
    assert (counting.compiled, counting.called) == (1, 2)
    assert "model/fc1/aten.addmm" in watch.steps[-1]
    after = model(x)
    assert (counting.compiled, counting.called) == (1, 3)
    assert all(torch.equal(one, traced) for one in (*plain, after))


@pytest.mark.usefixtures("_fresh_dynamo")
def test_code_that_is_compiled_only_within_a_traced_step_compiles_too(watcher):
    counting, net, watch = _Counting(), Mlp(), watcher()
    x = torch.randn(2, 6)
    plain = net(x)
    with watch.step():
        model = torch.compile(net, backend=counting)
        traced = model(x)
    after = [model(x) for _ in range(4)]
    assert counting.compiled == 2  # with the hooks of the traced step, and without
    assert counting.called >= 4
    assert all(torch.equal(plain, one) for one in (traced, *after))


class _Users(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


def test_a_mode_of_the_users_around_the_step_goes_on_seeing_everything(watcher):
    watch, users = watcher(), _Users()
    with users, watch.step():
        torch.ones(2).exp()
    assert users.seen == ["aten.ones.default", "aten.exp.default"]
    assert watch.steps[-1] == ["Script/aten.ones", "Script/aten.exp"]


def test_to_come_and_go_below_a_mode_of_the_users_does_not_disturb_it():
    tracer, users = Tracer(), _Users()
    with users:
        tracer.push()
        torch.ones(2)
        assert tracer.pop()
        torch.ones(2).exp()
        tracer.push()
    assert _get_current_dispatch_mode_stack() == [tracer]
    torch.ones(2).log()
    assert tracer.pop()
    assert [event.name for event in tracer.events] == ["Script/aten.ones", "Script/aten.ones_1", "Script/aten.log"]
    assert users.seen == ["aten.ones.default", "aten.ones.default", "aten.exp.default"]
    tracer.close()


def test_a_forked_child_sees_nothing_and_computes_the_same(watcher):
    watch = watcher()
    with watch.step():
        x = torch.arange(4.0)
        child = os.fork()
        if child == 0:
            before = len(watch.events)
            same = torch.equal(x + 1, torch.tensor([1.0, 2.0, 3.0, 4.0]))
            os._exit(0 if same and len(watch.events) == before else 1)
        _, status = os.waitpid(child, 0)
        x.exp()
    assert os.waitstatus_to_exitcode(status) == 0
    assert watch.steps[-1][-1] == "Script/aten.exp"


def test_a_fault_of_a_callback_is_kept_and_the_training_goes_on():
    def fail(event):
        if event.op == "aten.tanh":
            raise ValueError("ours")

    def train(model):
        step(model, torch.optim.SGD(model.parameters(), lr=0.1), torch.ones(2, 6), torch.tensor([0, 1]))
        return [*model.parameters()]

    torch.manual_seed(1)
    truth = train(Mlp())
    torch.manual_seed(1)
    model, tracer = Mlp(), Tracer(before=fail)
    tracer.push()
    values = train(model)
    assert tracer.pop()
    assert isinstance(tracer.fault, ValueError)
    assert all(torch.equal(one, other) for one, other in zip(truth, values, strict=True))
    tracer.close()


class _Stop(BaseException):
    pass


@pytest.mark.parametrize("phase", ["forward", "backward", "optimizer"])
def test_what_ends_the_training_leaves_from_any_phase(phase):
    def stop(event):
        if event.phase == phase:
            raise _Stop

    model, tracer = Mlp(), Tracer(before=stop)
    tracer.follow_optimizers()
    tracer.push()
    with pytest.raises(_Stop):
        step(model, torch.optim.SGD(model.parameters(), lr=0.1), torch.ones(2, 6), torch.tensor([0, 1]))
    assert tracer.pop()
    tracer.close()
    step(model, torch.optim.SGD(model.parameters(), lr=0.1), torch.ones(2, 6), torch.tensor([0, 1]))


def test_another_thread_is_not_seen(watcher):
    watch = watcher()
    with watch.step():
        thread = threading.Thread(target=lambda: Mlp()(torch.ones(2, 6)))
        thread.start()
        thread.join()
        torch.ones(2)
    assert watch.steps[-1] == ["Script/aten.ones"]


def test_a_graph_made_before_the_trace_has_no_module(watcher):
    model, watch = Mlp(), watcher()
    loss = model(torch.ones(2, 6)).sum()
    with watch.step():
        loss.backward()
    assert "Gradients/Script/AddmmBackward0/aten.mm" in watch.steps[-1]
    assert not any("fc1/Addmm" in name for name in watch.steps[-1])


def test_inputs_are_called_as_the_loop_calls_them(watcher):
    model, watch = Mlp(), watcher()
    batch = {"ids": torch.randn(2, 6), "target": torch.tensor([0, 1])}
    pair = [torch.randn(2, 6), torch.tensor([1, 1])]
    with watch.step():
        torch.nn.functional.cross_entropy(model(batch["ids"]), batch["target"])
        torch.nn.functional.cross_entropy(model(pair[0]), pair[1])
    inputs = {name for name, record in watch.records().items() if record.kind == "input"}
    assert inputs == {"Input/ids", "Input/target", "Input/pair.0", "Input/pair.1"}


def test_the_tracer_keeps_no_tensor_of_the_step_alive(watcher):
    model, watch = Mlp(), watcher()

    def run():
        hidden = model.fc1(torch.ones(2, 6))
        gone = weakref.ref(hidden)
        model.fc2(hidden[:, :5])
        return gone

    with watch.step():
        gone = run()
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("raised_by", ["the operation", "before", "after"])
def test_what_is_raised_within_an_operation_leaves_no_tensor_behind(raised_by):
    def stop(event):
        if event.op == "aten.mm":
            raise _Stop

    def run():
        hidden = torch.ones(2, 4) * 2
        gone = weakref.ref(hidden)
        with pytest.raises((RuntimeError, _Stop)):
            hidden @ torch.ones(3 if raised_by == "the operation" else 4, 3)
        return gone

    tracer = Tracer(**{raised_by: stop} if raised_by != "the operation" else {})
    tracer.push()
    gone = run()
    assert tracer.pop()
    gc.collect()
    assert [event.op for event in tracer.events].count("aten.mm") == 1
    assert gone() is None
    assert all(event.frame is None and event.args == () for event in tracer.events)
    tracer.close()


def test_reading_variables_of_a_frame_leaves_no_copy_behind():
    def run():
        value = torch.ones(1)
        found = stacks.local_variables(sys._getframe())
        assert found["value"] is value
        gone = weakref.ref(value)
        del value, found
        return gone()

    assert run() is None


def test_what_the_users_code_has_of_its_variables_is_left_alone():
    def run():
        value = 3
        mine = locals()
        stacks.local_variables(sys._getframe())
        return mine, value

    mine, _ = run()
    assert mine["value"] == 3
