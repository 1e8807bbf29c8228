"""What is said to keep numbers finite does, however large they are; and nothing is passed over that is not finite."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from stepscope.probe.torch import keeping_finite  # noqa: E402
from stepscope.probe.torch.keeping_finite import ALWAYS, FILLS, WITH_NUMBER  # noqa: E402
from stepscope.probe.torch.operations import operation  # noqa: E402

pytestmark = pytest.mark.torch

aten = torch.ops.aten
INDEX = torch.tensor([0, 3, 1])


def extremes(dtype: torch.dtype) -> torch.Tensor:
    """The largest and the smallest numbers, with what lies next to them and around 0 and 1."""
    info = torch.finfo(dtype)
    ends = torch.tensor([info.max, info.tiny, info.smallest_normal, info.eps, 0.0, 1.0, 3.7], dtype=torch.float64)
    ends = torch.cat([ends, ends[:1] * (1 - info.eps)])
    return torch.cat([ends, -ends]).to(dtype)


CALLS = {
    "aten.cat": lambda x: aten.cat([x, x.flip(0)]),
    "aten.clone": aten.clone,
    "aten.embedding": lambda x: aten.embedding(x[:, None], INDEX),
    "aten.gather": lambda x: aten.gather(x, 0, INDEX),
    "aten.index_select": lambda x: aten.index_select(x, 0, INDEX),
    "aten.maximum": lambda x: aten.maximum(x, x.flip(0)),
    "aten.minimum": lambda x: aten.minimum(x, x.flip(0)),
    "aten.relu": aten.relu,
    "aten.stack": lambda x: aten.stack([x, x.flip(0)]),
    "aten.threshold_backward": lambda x: aten.threshold_backward(x, x.flip(0), 0),
    "aten.where": lambda x: aten.where(x > 0, x, x.flip(0)),
    "aten._softmax": lambda x: aten._softmax(x, 0, False),
    "aten.neg": aten.neg,
    "aten.sigmoid": aten.sigmoid,
    "aten.tanh": aten.tanh,
    "aten.bernoulli": lambda x: aten.bernoulli_(torch.full_like(x, torch.nan), 0.5),
    "aten.ones_like": lambda x: aten.ones_like(x * torch.inf),
    "aten.zero": lambda x: aten.zero_(x * torch.inf),
    "aten.zeros_like": lambda x: aten.zeros_like(x * torch.inf),
}


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", sorted(ALWAYS))
def test_what_always_does(name, dtype) -> None:
    x = extremes(dtype)
    assert torch.isfinite(x).all()
    assert torch.isfinite(CALLS[name](x)).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("number", [1, -1, 1.0, 0.999, 1e-30, 0, 2, -7.5, float("inf")], ids=str)
@pytest.mark.parametrize("name", sorted(WITH_NUMBER))
def test_what_does_with_some_numbers(name, number, dtype) -> None:
    x, call = extremes(dtype), getattr(aten, name.removeprefix("aten."))
    if WITH_NUMBER[name]((x, number), None):
        assert torch.isfinite(call(x, number)).all()


@pytest.mark.parametrize("name", sorted(WITH_NUMBER))
@pytest.mark.parametrize("number", [float("nan"), torch.ones(()), 1j], ids=str)
def test_nothing_is_said_of_other_arguments(name, number) -> None:
    x = torch.ones(3)
    assert not WITH_NUMBER[name]((x, number), None)
    assert not WITH_NUMBER[name]((x, 0.5, 3), None)
    assert not WITH_NUMBER[name]((x, 1), {"alpha": 3})


def test_nor_of_what_is_written_elsewhere() -> None:
    event = SimpleNamespace(op="aten.cat")
    rule = keeping_finite.rule_of(event)
    assert rule(([],), None)
    assert not rule(([],), {"out": torch.ones(3)})


def test_names_are_those_of_operations() -> None:
    """In place, too; and no other operation has such a name."""
    for name in ALWAYS | WITH_NUMBER.keys():
        short = name.removeprefix("aten.")
        packets = [getattr(aten, one) for one in (short, f"{short}_") if hasattr(aten, one)]
        assert packets, name
        for packet in packets:
            for overload in packet.overloads():
                known = operation(getattr(packet, overload))
                assert keeping_finite.rule_of(SimpleNamespace(op=known.name)) is not None
    assert FILLS < ALWAYS
