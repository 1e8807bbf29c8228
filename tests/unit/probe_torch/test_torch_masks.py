"""Masks of infinities, which are no fault, and faults beside them, which are."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from stepscope.core.watch.recommended import recommended  # noqa: E402
from stepscope.core.watch.selection import Watched  # noqa: E402

pytestmark = pytest.mark.torch


class Attention(nn.Module):
    def __init__(self, how) -> None:
        super().__init__()
        self.qkv, self.how = nn.Linear(8, 24), how
        if how is a_buffer:
            self.register_buffer("causal", torch.full((4, 4), -math.inf).triu(1))

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        return self.how(self, q, k, v)


def filled(_, q, k, v):
    mask = torch.ones(4, 4, dtype=torch.bool).triu(1)
    return ((q @ k.transpose(-2, -1)).masked_fill(mask, -math.inf)).softmax(-1) @ v


def chosen(_, q, k, v):
    mask = torch.ones(4, 4, dtype=torch.bool).tril()
    return torch.where(mask, q @ k.transpose(-2, -1), -math.inf).softmax(-1) @ v


def added(_, q, k, v):
    mask = torch.full((4, 4), -math.inf).triu(1)
    return functional.scaled_dot_product_attention(q, k, v, attn_mask=mask[None].expand(2, 4, 4))


def a_buffer(self, q, k, v):
    return (q @ k.transpose(-2, -1) + self.causal).softmax(-1) @ v


def infinite(watch) -> set[str]:
    """The nodes that put out infinities, and inputs and buffers that hold them."""
    made = {name for name, one in watch.nodes.items() if any(_is_infinite(each) for each in one.outputs)}
    return made | {name for name, value in watch.start.items() if _is_infinite(value)}


def _is_infinite(value) -> bool:
    return value is not None and value.is_floating_point() and bool(value.isinf().any())


def looked_at(watch) -> Watched:
    (overflow,) = [one for one in recommended([watch.graph()]) if one.condition == "tensor_overflow"]
    return Watched(watch.graph(), overflow.selection)


@pytest.mark.parametrize("how", [filled, chosen, added, a_buffer])
def test_a_mask_is_left_alone(how, watcher):
    model, watch = Attention(how), watcher(keep=True)
    for _ in range(2):
        with watch.step():
            model(torch.randn(2, 4, 8)).sum().backward()
    watched, carrying = looked_at(watch), infinite(watch)
    assert carrying
    assert not [name for name in carrying if name in watched]
    assert "model/qkv/aten.addmm" in watched
    assert any(name in watched for name in watch.nodes if "softmax" in name or "dot_product" in name)


def test_infinities_that_nobody_asked_for_are_seen(watcher):
    model, watch = nn.Linear(3, 3), watcher(keep=True)
    with watch.step():
        x = torch.zeros(2, 3)
        (x.log() + model(x) + torch.ones(3)).sum().backward()
    watched = looked_at(watch)
    assert infinite(watch)
    assert all(name in watched for name in infinite(watch))
