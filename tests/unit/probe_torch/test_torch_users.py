"""Objects of the user's are looked at without running any of their code."""

from __future__ import annotations

import enum
import threading
from collections.abc import Mapping

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402
from attached import attached  # noqa: E402
from test_torch_free_watch import OVERFLOW, RARE, watched  # noqa: E402
from torch import nn  # noqa: E402
from torch.overrides import TorchFunctionMode  # noqa: E402

from stepscope.core.ports import Command  # noqa: E402
from stepscope.probe.torch import frames, users  # noqa: E402

pytestmark = pytest.mark.torch

CALLED: list[str] = []


def note(name):
    def noting(self, *args, **kwargs):
        CALLED.append(name)
        raise AssertionError(name)

    return noting


ASKED = ("__getattribute__", "__getattr__", "__repr__", "__str__", "__eq__", "__hash__", "__len__", "__iter__")
ASKED += ("__bool__", "__getitem__", "__contains__", "keys", "values", "items", "__format__", "__call__")


def touchy(*bases, but=()):
    members = {name: note(name) for name in ASKED if name not in but}
    members |= {name: property(note(name)) for name in ("__class__", "__dict__", "shape", "dtype") if name not in but}
    return type("Touchy", bases, members)


class Key(str):
    __str__ = __repr__ = __eq__ = note("of a key")
    __hash__ = str.__hash__


class Colour(enum.Enum):
    RED = 1

    __repr__ = __str__ = note("of an enum")


class Net(nn.Module):
    """Whoever asks for its parts in the usual way runs its code."""

    def __init__(self) -> None:
        super().__init__()
        self.fc, self.parts = nn.Linear(4, 4), nn.ModuleList([nn.Linear(4, 4)])
        self.register_buffer("scale", torch.ones(4))

    modules = named_modules = parameters = named_parameters = buffers = named_buffers = children = note("of a module")
    __iter__ = __len__ = __eq__ = __repr__ = note("of a module")
    __hash__ = nn.Module.__hash__

    def forward(self, x):
        return self.parts[0](self.fc(x) * self.scale)


class Optimizer(torch.optim.SGD):
    __eq__ = __repr__ = note("of an optimizer")


def variables() -> dict:
    mapping = touchy(Mapping, but=("__getattribute__", "__getattr__", "__dict__"))
    return {
        "an_object": touchy(object, but=("__getattribute__",))(),
        "another": object.__new__(touchy(object)),
        "a_list": touchy(list, but=("__getattribute__",))([torch.ones(1)]),
        "a_dict": touchy(dict, but=("__getattribute__",))(a=torch.ones(1)),
        "a_tuple": touchy(tuple, but=("__getattribute__",))(),
        "a_string": touchy(str, but=("__getattribute__",))("text"),
        "a_number": touchy(int, but=("__getattribute__",))(3),
        "an_array": np.zeros(2).view(touchy(np.ndarray, but=("__getattribute__",))),
        "a_mapping": mapping(),
        "keys": {Key("a"): torch.ones(1)},
        "colour": Colour.RED,
    }


def test_no_code_of_theirs_runs_while_a_step_is_traced_or_shown(watcher) -> None:
    net, steps = Net(), watcher()
    optimizer = Optimizer(net.fc.parameters(), lr=0.1)
    CALLED.clear()

    def train(an_object, another, a_list, a_dict, a_tuple, a_string, a_number, an_array, a_mapping, keys, colour):
        x = torch.rand(2, 4)
        net(x).sum().backward()
        optimizer.step()
        shown.extend(frames.frames(threading.get_ident()))

    shown: list = []
    for _ in range(2):
        with steps.step():
            train(**variables())
    assert CALLED == []
    names = set(steps.records())
    assert {"net.fc.weight", "net.parts.0.bias", "net.scale", "net/fc/aten.addmm"} <= names
    local = {one.name: one for frame in shown for one in frame.locals}
    assert (local["a_string"].text, local["a_number"].text, local["an_array"].shape) == ("'text'", "3", (2,))
    assert local["colour"].text == "Colour.RED"


def test_random_numbers_stay_the_users(monkeypatch) -> None:
    class Tasks(Mapping):
        def __getitem__(self, key):
            return torch.randn(4, 6)

        def __iter__(self):
            return iter("ab")

        def __len__(self):
            return 2

    def training() -> list[float]:
        torch.manual_seed(0)
        net, tasks, losses = nn.Linear(6, 3), Tasks(), []
        for _ in range(4):
            noise = torch.from_numpy(np.full((4, 6), 0.1, np.float32))
            loss = net(tasks["a"] + noise).square().mean()
            loss.backward()
            losses.append(loss.item())
        return losses

    with attached(monkeypatch, *[Command("run", steps=1)] * 3) as (session, _):
        losses = training()
        assert session.over == ""
    assert losses == training()


@pytest.mark.filterwarnings("ignore:`torch.jit", "ignore:Converting a tensor to a Python boolean")
def test_modules_are_told_as_pytorch_does() -> None:
    class Shared(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)
            self.b.weight, self.c, self.none = self.a.weight, self.a, None
            self.register_parameter("absent", None)
            self.itself = [self]

    block = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    script = torch.jit.script(nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.BatchNorm1d(2))))
    traced = torch.jit.trace(block, torch.rand(3, 2))
    normed = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
    for net in (Shared(), script, nn.Sequential(script, nn.Linear(2, 2)), traced, normed):
        assert [name for name, _ in users.named_modules(net)] == [name for name, _ in net.named_modules()]
        for kind, wanted in (("_parameters", net.named_parameters()), ("_buffers", net.named_buffers())):
            assert [name for name, _ in users.named_tensors(net, kind)] == [name for name, _ in wanted]


class Seeing(TorchFunctionMode):
    """What Python calls of PyTorch, by name."""

    def __init__(self) -> None:
        super().__init__()
        self.called: list[str] = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.called.append(getattr(func, "__name__", ""))
        return func(*args, **(kwargs or {}))


class Told(torch.Tensor):
    """Is asked what it makes of each call."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        CALLED.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs)


def seen_from_python(directly: bool) -> list[list[str]]:
    """`directly`: the backward pass is no call that a mode sees, so that all of it runs within; and it reads a tensor
    that is asked."""
    torch.manual_seed(0)
    net, calls = nn.Linear(6, 3), []
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(6):
        CALLED.clear()
        with Seeing() as mode:
            loss = net(torch.rand(4, 6).as_subclass(Told if directly else torch.Tensor)).square().mean()
            optimizer.zero_grad()
            torch.autograd.backward(loss.as_subclass(torch.Tensor)) if directly else loss.backward()
            optimizer.step()
        calls.append([*mode.called, *CALLED])
    return calls


@pytest.mark.parametrize("kind", ["run", "next_node", "resume"])
@pytest.mark.parametrize("watchpoints", [[], [OVERFLOW, RARE]], ids=["", "watched"])
def test_function_modes_and_classes_of_tensors_see_nothing_of_ours(monkeypatch, kind, watchpoints) -> None:
    directly = not watchpoints  # in a watched step that runs free the operations of a backward pass are seen
    calls = seen_from_python(directly)

    def training() -> list[float]:
        assert seen_from_python(directly) == calls
        return []

    _, pauses, _ = watched(monkeypatch, watchpoints, training, commands=[Command(kind)] * 3)
    assert len(pauses) >= (1 if kind == "resume" else 4)
