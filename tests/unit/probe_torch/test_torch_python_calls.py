"""Optimizers of PyTorch's own are watched where Python calls operations: nothing is missed, and nothing left behind."""

from __future__ import annotations

import math
from functools import partial

import pytest

torch = pytest.importorskip("torch")

from free_trainings import optimized, train  # noqa: E402
from test_torch_free_watch import EVERYTHING, ORIGIN, OVERFLOW, plain, watched  # noqa: E402
from torch import nn, optim  # noqa: E402
from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack  # noqa: E402

from stepscope.probe.torch.fast import FastPath  # noqa: E402
from stepscope.probe.torch.operations import operation  # noqa: E402
from stepscope.probe.torch.program import Program  # noqa: E402
from stepscope.probe.torch.python_calls import QUIET, name_of  # noqa: E402

pytestmark = pytest.mark.torch

OPTIMIZERS = {
    "SGD": partial(optim.SGD, lr=0.1),
    "SGD nesterov": partial(optim.SGD, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1),
    "SGD foreach": partial(optim.SGD, lr=0.1, momentum=0.9, foreach=True),
    "SGD fused": partial(optim.SGD, lr=0.1, momentum=0.9, fused=True),
    "Adam": partial(optim.Adam, lr=0.1, weight_decay=0.1),
    "Adam foreach": partial(optim.Adam, lr=0.1, foreach=True),
    "Adam fused": partial(optim.Adam, lr=0.1, fused=True),
    "Adam with a tensor": partial(optim.Adam, lr=torch.tensor(0.1)),
    "Adam differentiable": partial(optim.Adam, lr=0.1, differentiable=False, maximize=True),
    "AdamW": partial(optim.AdamW, lr=0.1, amsgrad=True),
    "RMSprop": partial(optim.RMSprop, lr=0.1, momentum=0.9, centered=True),
    "RMSprop foreach": partial(optim.RMSprop, lr=0.1, foreach=True),
    "Adagrad": partial(optim.Adagrad, lr=0.1),
    "Adadelta": partial(optim.Adadelta, lr=0.1),
    "Adamax": partial(optim.Adamax, lr=0.1),
    "NAdam": partial(optim.NAdam, lr=0.1),
    "RAdam": partial(optim.RAdam, lr=0.1, betas=(0.9, 0.5)),  # with others it goes another way after some steps
    "ASGD": partial(optim.ASGD, lr=0.1),
    "Rprop": partial(optim.Rprop, lr=0.1),
}
if hasattr(optim, "Adafactor"):
    OPTIMIZERS["Adafactor"] = partial(optim.Adafactor, lr=0.1)


@pytest.fixture
def seen(monkeypatch) -> list[str]:
    """The functions that were taken for an operation where Python called them."""
    found: list[str] = []
    called = FastPath._called

    def note(fast, func, types, args, kwargs):
        before = fast._at
        result = called(fast, func, types, args, kwargs)
        if fast._at == before + 1 and name_of(func) not in ("", QUIET):
            found.append(func.__name__)
        return result

    monkeypatch.setattr(FastPath, "_called", note)
    return found


@pytest.mark.parametrize("watchpoints", [[OVERFLOW, ORIGIN], EVERYTHING], ids=["both", "recommended"])
@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("large", [3e38, math.nan])
def test_what_is_found_is_what_a_traced_step_would_have_told(monkeypatch, seen, watchpoints, name, large) -> None:
    training = {"make": OPTIMIZERS[name], "large": large}
    free, pauses, traced = watched(monkeypatch, watchpoints, optimized, **training)
    assert seen
    slow, slow_pauses, slow_traced = watched(monkeypatch, watchpoints, optimized, free=False, **training)
    assert plain(free) == plain(slow)
    if math.isnan(large) and "fused" not in name:
        assert any(hit.node.startswith("Optimizer/") for batch in free for hit in batch.hits)
    assert [(one.reason, one.step) for one in pauses] == [(one.reason, one.step) for one in slow_pauses]
    assert not any(batch.warning for batch in free)
    assert traced < slow_traced


def _calls_of(make) -> list[tuple]:
    """Of the operations in an optimizer's second step that are called by their own bindings: what Python gave, and what
    the dispatcher got."""
    given, got = [], []

    class Python(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            before = len(got)
            result = func(*args, **(kwargs or {}))
            for called, *arguments in got[before:] if name_of(func) else ():
                if operation(called).name == f"aten.{name_of(func)}":
                    given.append(((args, kwargs or {}), called, arguments))
            return result

    class Dispatcher(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            got.append((func, args, kwargs or {}))
            return func(*args, **(kwargs or {}))

    parameters = [nn.Parameter(torch.rand(3, 2)), nn.Parameter(torch.rand(2))]
    optimizer = make(parameters)
    for number in range(2):
        for parameter in parameters:
            parameter.grad = torch.rand_like(parameter)
        if number == 0:
            optimizer.step()
    with Dispatcher(), Python():
        optimizer.step()
    return given


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_arguments_are_told_as_the_dispatcher_gets_them(name) -> None:
    calls = _calls_of(OPTIMIZERS[name])
    assert calls
    for (args, kwargs), func, (wanted, named) in calls:
        known = operation(func)
        tensors, written, _ = known.read(*known.dispatched(args, kwargs))
        wanted_tensors, wanted_written, _ = known.read(wanted, named)
        assert list(map(id, tensors)) == list(map(id, wanted_tensors))
        assert written == wanted_written


def test_arguments_by_name_and_sizes_one_by_one() -> None:
    x, y = torch.rand(2), torch.rand(2)
    aten = torch.ops.aten
    assert operation(aten.add.Tensor).dispatched((), {"input": x, "other": y, "alpha": 2}) == ((x, y), {"alpha": 2})
    assert operation(aten.addcdiv_.default).dispatched((x,), {"tensor2": y, "tensor1": x}) == ((x, x, y), {})
    assert operation(aten._foreach_add_.Scalar).dispatched(([x], torch.tensor(2.0)), {}) == (([x], 2.0), {})
    args, kwargs = operation(aten.repeat.default).dispatched((x, 1, 2, 3), {})
    assert operation(aten.repeat.default).read(args, kwargs)[0] == [x]


def test_a_name_is_that_of_an_operation_only_where_nothing_else_can_be_called() -> None:
    assert name_of(torch.Tensor.lerp_) == "lerp_"
    assert name_of(torch._foreach_add_) == "_foreach_add_"
    for quiet in (torch.Tensor.item, torch.is_complex, torch.Tensor.grad.__get__, torch.Tensor.device.__get__):
        assert name_of(quiet) is QUIET
    for python in (torch.norm, torch.Tensor.norm, torch.Tensor.__rdiv__, torch.Tensor.grad.__set__, nn.Linear):
        assert name_of(python) == ""


class OwnStep(optim.Optimizer):
    """One of the user's, which calls what it likes."""

    def __init__(self, parameters) -> None:
        super().__init__(parameters, {})

    @torch.no_grad()
    def step(self, closure=None):
        for parameter in self.param_groups[0]["params"]:
            parameter.sub_(parameter.grad, alpha=0.1)


class AndMore(optim.SGD):
    """Does something of its own beside what PyTorch's does."""

    def __init__(self, parameters) -> None:
        super().__init__(parameters, lr=0.1, momentum=0.9)

    def step(self, closure=None):
        with torch.no_grad():
            self.param_groups[0]["params"][0].mul_(0.5).mul_(2)
        super().step(closure)


class Adding(TorchFunctionMode):
    """One of the user's, which does something of its own."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        return result.mul_(1) if getattr(func, "__name__", "") == "addcdiv_" else result


def within(context) -> list[float]:
    """Each step of the optimizer within a context of the user's."""

    def make(parameters):
        optimizer = optim.Adam(parameters, lr=0.1)
        step = optimizer.step

        def step_within() -> None:
            with context():
                step()

        optimizer.step = step_within
        return optimizer

    return optimized(make, large=math.nan)


def with_closure(zero_in: int = 5) -> list[float]:
    net, losses = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1)), []
    for parameter in net.parameters():
        nn.init.constant_(parameter, 0.5)
    optimizer = optim.Adam(net.parameters(), lr=0.1)
    for number in range(1, 9):

        def closure(scale=number != zero_in):
            optimizer.zero_grad()
            loss = (net(torch.ones(3, 4)) / scale).square().mean()
            loss.backward()
            return loss

        loss = optimizer.step(closure)
        losses.append(loss.item())
    return losses


def raising(zero_in: int = 7) -> list[float]:
    """The optimizer raises amid its step in step 5, where its state has another shape; the script goes on."""
    torch.manual_seed(3)
    net, losses = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1)), []
    optimizer = optim.Adam(net.parameters(), lr=0.1)
    for number in range(1, 10):
        optimizer.zero_grad()
        loss = net(torch.rand(3, 4) / (number != zero_in)).square().mean()
        loss.backward()
        state = optimizer.state[net[1].weight]
        kept = state.get("exp_avg")
        if number == 5:
            state["exp_avg"] = torch.zeros(7)
        with torch.device("cpu"):
            stacks = _get_current_function_mode_stack(), _get_current_dispatch_mode_stack()
            try:
                optimizer.step()
            except RuntimeError:
                assert number == 5
                state["exp_avg"] = kept
                assert (_get_current_function_mode_stack(), _get_current_dispatch_mode_stack()) == stacks
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize(
    ("training", "where_python_calls"),
    [
        (partial(optimized, OwnStep), False),
        (partial(optimized, AndMore, large=math.nan), False),
        (with_closure, False),
        (raising, True),
        (partial(train, zero_in=5), True),
        (partial(within, Adding), False),
        (partial(within, torch._C.DisableTorchFunction), False),
        (partial(within, lambda: torch.device("cpu")), True),
    ],
    ids=["own step", "and more", "closure", "raising", "usual", "mode", "no modes", "device"],
)
@pytest.mark.parametrize("watchpoints", [[OVERFLOW, ORIGIN], EVERYTHING], ids=["both", "recommended"])
def test_only_what_is_known_is_watched_where_python_calls(
    monkeypatch, seen, watchpoints, training, where_python_calls
) -> None:
    free, *_ = watched(monkeypatch, watchpoints, training)
    assert bool(seen) == where_python_calls
    slow, *_ = watched(monkeypatch, watchpoints, training, free=False)
    assert plain(free) == plain(slow)
    assert free


def test_what_hooks_of_the_user_do_after_an_optimizer_is_no_part_of_it(monkeypatch, seen) -> None:
    def make(parameters):
        optimizer = optim.Adam(parameters, lr=0.1)
        optimizer.register_step_post_hook(lambda one, *_: one.param_groups[0]["params"][0].data.clamp_(-9, 9))
        return optimizer

    free, _, traced = watched(monkeypatch, [OVERFLOW, ORIGIN], optimized, make=make, large=math.nan)
    assert seen
    assert not any(batch.warning for batch in free)
    assert traced == 2
    slow, *_ = watched(monkeypatch, [OVERFLOW, ORIGIN], optimized, free=False, make=make, large=math.nan)
    assert plain(free) == plain(slow)


def test_a_step_of_no_module_is_none_of_pytorchs(monkeypatch) -> None:
    space = {"torch": torch}
    exec("class Own(torch.optim.SGD):\n    def step(self):\n        torch.optim.SGD.step(self)", space)
    assert space["Own"].step.__module__ is None
    watched(monkeypatch, [OVERFLOW], optimized, make=partial(space["Own"], lr=0.1))


def test_an_optimizer_that_ends_amid_its_operations_has_gone_another_way(watcher) -> None:
    parameters = [nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(3))]
    optimizer, watch, unseen = optim.SGD(parameters, lr=0.1), watcher(), []
    fast = FastPath(lambda: unseen.append(1))

    def begin(left_out=None) -> None:
        for parameter in parameters:
            parameter.grad = None if parameter is left_out else torch.ones_like(parameter)

    begin()
    with watch.step():
        optimizer.step()
    fast.learn(Program(watch.tracer.program, exits=[len(watch.events)]))
    for left_out, told in ((None, []), (parameters[1], [1])):
        begin(left_out)
        fast.new_step()
        fast.put_on()
        with fast.optimizing():
            optimizer.step()
        assert fast.take_off()
        assert fast.strayed is None
        assert unseen == told
