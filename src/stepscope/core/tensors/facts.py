"""What the tuning guide needs to know of a tensor beyond its figures."""

from __future__ import annotations

import numpy as np

from stepscope.core.looks import TensorFacts, ZeroSlices
from stepscope.core.tensors.part import Part
from stepscope.core.tensors.places import count_of, extreme, place


def facts(part: Part) -> TensorFacts:
    finite = part.size - sum(part.summary[1:4])
    return TensorFacts(
        first_nonfinite=place(part, "nonfinite").position,
        zero_slices=_zero_slices(part),
        at_min=count_of(part, extreme(part, "min")) if finite else 0,
        at_max=count_of(part, extreme(part, "max")) if finite else 0,
    )


def _zero_slices(part: Part) -> tuple[ZeroSlices, ...]:
    """Of axis 0 where there are at least two axes, of axis 1 where there are three; of an empty tensor none."""
    axes = len(part.shape)
    if axes < 2 or not part.size:
        return ()
    first, second = part.shape[0], part.shape[1] if axes > 2 else 1
    live = _live(part, first, second)
    rows = ZeroSlices(0, int(np.count_nonzero(~live.any(axis=1))), first)
    if axes == 2:
        return (rows,)
    return rows, ZeroSlices(1, int(np.count_nonzero(~live.any(axis=0))), second)


def _live(part: Part, first: int, second: int) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """(first, second): whether there is anything but zero in the slice at these two indices."""
    live = np.zeros(first * second, np.bool_)
    zero = part.summary[4]
    length = part.size // live.size  # of the elements at one pair of indices, next to each other in C order
    if zero < length:
        live[:] = True
        return live.reshape(first, second)
    began = 0
    for block in part.blocks():
        if length == 1:
            live[began : began + block.size] = block != 0
        else:
            begins = np.arange(-(began % length), block.size, length)
            begins[0] = 0
            at = began // length
            live[at : at + len(begins)] |= np.logical_or.reduceat(block != 0, begins)
        began += block.size
    return live.reshape(first, second)
