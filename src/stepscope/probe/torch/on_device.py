"""Figures of tensors that live on a device, computed there by PyTorch's own operations.

Nothing is transferred and nothing waits until all rows of a step are fetched at once. Sums are accumulated in float64;
elements of less than four bytes are widened first. The deviation is left out: no watchpoint asks for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from stepscope.core.tensors import Figures
from stepscope.probe.torch import compat

Pairs = Sequence[tuple[float, float]]
_PLAIN = 11  # figures of a value, before those for each range
_CHANGE = 5  # figures of a change, before those for each tolerance
TINY = 1e-9  # as in core.tensors


def lies_here(tensor: Tensor) -> bool:
    """Whether the memory of a tensor is the processor's, so that it can be looked at as it is."""
    return tensor.is_cpu


def is_captured(tensor: Tensor) -> bool:
    """Whether a CUDA graph is being captured, into which nothing of ours may come."""
    return tensor.is_cuda and torch.cuda.is_current_stream_capturing()


def can_be_fetched(row: Tensor) -> bool:
    """Whether there are numbers in what was made of a tensor: there are none of a meta tensor, or of one that only
    stands for others."""
    return type(row) is Tensor and not row.is_meta


def any_overflow(tensor: Tensor) -> Tensor:
    """A row of one: 1 where any element is NaN or infinite."""
    return torch.isfinite(_numbers(tensor)).logical_not().any().to(torch.float64).reshape(1)


def row(tensor: Tensor, previous: Tensor | None, ranges: Pairs, tolerances: Pairs) -> Tensor:
    """What `figures` makes `Figures` of, as those of `core.tensors.measure`. `previous` has as many elements."""
    x = _numbers(tensor).reshape(-1)
    if x.numel() == 0:
        x = x.new_full((1,), math.nan)  # its one element is taken away again by `figures`
    finite = torch.isfinite(x)
    inside = torch.where(finite, x, 0)
    count = finite.sum()
    cells = [
        torch.isnan(x).sum(),
        (x == math.inf).sum(),
        (x == -math.inf).sum(),
        (x == 0).sum(),
        (x < 0).sum(),
        (x > 0).sum(),
        torch.where(finite, x, math.inf).amin(),
        torch.where(finite, x, -math.inf).amax(),
        _total(inside) / count,
        _total(inside.abs()) / count,
        count,
        *(((x >= low) & (x <= high)).sum() for low, high in ranges),
    ]
    if previous is not None:
        p = _numbers(previous).reshape(-1)
        change, both, known = (x - p).abs(), finite & torch.isfinite(p), torch.isfinite(p)
        ratio = torch.where(both, change / (p.abs() + TINY), -1).amax()
        cells += [
            _total(torch.where(both, change, 0)) / both.sum(),
            _total(torch.where(known, p.abs(), 0)) / known.sum(),
            torch.isnan(p).any(),
            torch.isinf(p).any(),
            ratio,
            *((change <= absolute + relative * p.abs()).all() for relative, absolute in tolerances),
        ]
    return torch.stack([cell.to(torch.float64) for cell in cells])


def figures(cells: Sequence[float], count: int, ranges: int, changed: bool) -> Figures:
    """Of a tensor of `count` elements; `ranges` is how many were asked for, `changed` whether there was a previous."""
    counts = [int(cell) if count else 0 for cell in cells[:6]]
    low, high, mean, size = (cell if count and cells[10] else math.nan for cell in cells[6:10])
    found = Figures(count, *counts, low, high, mean, size, math.nan)
    found = found._replace(in_range=tuple(int(cell) for cell in cells[_PLAIN : _PLAIN + ranges]))
    if not changed:
        return found
    change, before, nan, inf, ratio, *close = cells[_PLAIN + ranges :]
    return found._replace(
        abs_change=change,
        abs_previous=before,
        previous_nan=bool(nan),
        previous_inf=bool(inf),
        max_relative_change=ratio if ratio >= 0 else math.nan,
        close=tuple(map(bool, close)),
    )


def fetch(rows: Sequence[Tensor]) -> list[list[float]]:
    """All rows, with one transfer for each device."""
    found: dict[int, list[float]] = {}
    for device in {row.device for row in rows}:
        here = [number for number, row in enumerate(rows) if row.device == device]
        cells: list[float] = torch.cat([rows[number] for number in here]).tolist()
        for number in here:
            size = rows[number].numel()
            found[number], cells = cells[:size], cells[size:]
    return [found[number] for number in range(len(rows))]


def _total(x: Tensor) -> Tensor:
    return x.sum(dtype=torch.float64)


def _numbers(tensor: Tensor) -> Tensor:
    """In float32 or float64; of complex elements the magnitude. TypeError for what has no plain memory."""
    x = compat.with_memory(tensor.detach())
    if x.layout is not torch.strided or x.is_quantized:
        raise TypeError(f"a tensor with the layout {x.layout}")
    if x.is_complex():
        x = x.abs()
    if x.dtype in (torch.float32, torch.float64):
        return x
    return x.to(torch.float64 if not x.is_floating_point() and x.element_size() > 2 else torch.float32)
