"""Figures computed by PyTorch where a tensor lives are those that the processor finds."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from stepscope.core.tensors import all_finite, measure  # noqa: E402
from stepscope.probe.torch import arrays, on_device  # noqa: E402

pytestmark = pytest.mark.torch

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8]
DTYPES += [torch.bool, torch.float8_e4m3fn, torch.float8_e5m2, torch.complex64]
RANGES = [(-1.0, 0.5), (0.0, math.inf)]
TOLERANCES = [(1e-5, 1e-8), (0.5, 1.0)]


def tensor_of(dtype: torch.dtype, shape: tuple[int, ...], seed: int, wild: bool) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(shape, generator=generator) * 3
    x = torch.where(torch.rand(shape, generator=generator) < 0.2, 0, x)
    if wild:
        for value in (math.nan, math.inf, -math.inf):
            x = torch.where(torch.rand(shape, generator=generator) < 0.1, value, x)
    if dtype is torch.bool or not (dtype.is_floating_point or dtype.is_complex):
        x = x.nan_to_num(0, 1, 0).abs() if dtype is torch.uint8 else x.nan_to_num(0, 1, 0)
    return x.to(dtype)


def figures(x: torch.Tensor, p: torch.Tensor | None, ranges, tolerances):
    (cells,) = on_device.fetch([on_device.row(x, p, ranges, tolerances)])
    return on_device.figures(cells, x.numel(), len(ranges), p is not None)


@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from(DTYPES),
    st.lists(st.integers(0, 7), max_size=3),
    st.integers(0, 10_000),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_figures_are_those_of_the_processor(dtype, shape, seed, wild, changed, transposed) -> None:
    x, p = (tensor_of(dtype, tuple(shape), number, wild) for number in (seed, seed + 1))
    if transposed:
        x, p = x.mT if x.ndim > 1 else x, p.mT if p.ndim > 1 else p
    changed = changed and x.numel() > 0
    mine = figures(x, p if changed else None, RANGES, TOLERANCES)
    array, name = arrays.as_bits(x)
    before = arrays.as_bits(p)[0] if changed and dtype is not torch.complex64 else None
    if changed and before is None:
        return  # differences of complex numbers are no differences of magnitudes
    with np.errstate(all="ignore"):
        truth = measure(array, before, RANGES, TOLERANCES if changed else (), name)
    for field, value in truth._asdict().items():
        if field != "std" and value is None:
            assert getattr(mine, field) is None
        elif field != "std":
            assert getattr(mine, field) == pytest.approx(value, rel=1e-5, abs=1e-6, nan_ok=True), field
    (overflow,) = on_device.fetch([on_device.any_overflow(x)])
    assert bool(overflow[0]) != all_finite(array, name)


def test_all_rows_come_in_one_transfer(monkeypatch) -> None:
    transfers = []
    original = torch.Tensor.tolist
    monkeypatch.setattr(torch.Tensor, "tolist", lambda tensor: transfers.append(tensor) or original(tensor))
    x = torch.tensor([1.0, 2.0, math.nan])
    rows = [on_device.any_overflow(x), on_device.row(x, None, RANGES, ()), on_device.any_overflow(x[:2])]
    first, second, third = on_device.fetch(rows)
    assert (first, third, second[0], len(second)) == ([1.0], [0.0], 1.0, 13)
    assert len(transfers) == 1
    assert on_device.fetch([]) == []


def test_what_has_no_plain_memory_is_refused() -> None:
    with pytest.raises(TypeError):
        on_device.any_overflow(torch.eye(3).to_sparse())
