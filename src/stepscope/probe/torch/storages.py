"""Which node wrote what lies in memory now: the edges of a step.

A tensor is known by its storage and how it lies in it. An operation that works in place takes over all that it
overwrites, so that later readers hang on it, in a chain. A view or an alias that lies as its source does changes
nothing: readers hang on the source.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from stepscope.probe.torch import compat


class Source(NamedTuple):
    """Output `slot` of a node."""

    node: str
    slot: int


Lie = tuple[Any, ...]  # how a tensor lies in its storage: offset, shape and strides (in elements), type
Spot = tuple[int, Lie]  # the address of its storage, and that


def spot_of(tensor: Tensor) -> Spot:
    try:
        lie = (tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype)
        return compat.storage_address(tensor.untyped_storage()), lie
    except (RuntimeError, NotImplementedError):
        values = _values(tensor)
        lie = (values.storage_offset(), values.shape, values.stride(), values.dtype, tensor.layout, tensor.shape)
        return compat.storage_address(values.untyped_storage()), lie


def address_of(tensor: Tensor) -> int:
    """Of the memory that a tensor lies in."""
    return spot_of(tensor)[0]


class Storages:
    """Addresses are pinned until `clear`, so that none is taken for another; the memory is not."""

    def __init__(self) -> None:
        self._pieces: dict[int, dict[Lie, Source]] = {}  # of each storage, the youngest last
        self._pins: list[int] = []

    def clear(self) -> None:
        pins, self._pins = self._pins, []
        self._pieces.clear()
        for pin in pins:
            compat.free_weak_reference(pin)

    def __del__(self) -> None:
        for pin in self._pins:
            compat.free_weak_reference(pin)

    def find(self, spot: Spot) -> tuple[Source | None, bool]:
        """Who wrote what lies at a spot, None where nobody is known; and whether that is just what lies there: else it
        covers a part of it, or more, or in another shape."""
        pieces = self._pieces.get(spot[0])
        if pieces is None:
            return None, False
        source = pieces.get(spot[1])
        if source is not None:
            return source, True
        low, high = _extent(spot[1])
        for lie in reversed(pieces):
            first, end = _extent(lie)
            if first < high and low < end:
                return pieces[lie], False
        return None, False

    def made(self, tensor: Tensor, spot: Spot, source: Source) -> None:
        """This tensor is an output of a node that did not write it in place."""
        pieces = self._pieces.get(spot[0])
        if pieces is None:
            self._pieces[spot[0]] = {spot[1]: source}
            self._pin(tensor)
        elif spot[1] not in pieces:
            pieces[spot[1]] = source

    def wrote(self, tensor: Tensor, spot: Spot, source: Source) -> None:
        """This tensor is an output of a node that wrote it in place."""
        pieces = self._pieces.get(spot[0])
        if pieces is None:
            self._pieces[spot[0]] = {spot[1]: source}
            self._pin(tensor)
            return
        if len(pieces) > 1 or spot[1] not in pieces:
            low, high = _extent(spot[1])
            extents = [(lie, *_extent(lie)) for lie in pieces]
            for lie, first, end in extents:
                if first < high and low < end:
                    del pieces[lie]
            pieces.pop(spot[1], None)
        pieces[spot[1]] = source

    def _pin(self, tensor: Tensor) -> None:
        try:
            storage = tensor.untyped_storage()
        except (RuntimeError, NotImplementedError):
            storage = _values(tensor).untyped_storage()
        self._pins.append(compat.weak_reference(storage))


def _values(tensor: Tensor) -> Tensor:
    """Of a sparse tensor."""
    return tensor._values() if tensor.layout == torch.sparse_coo else tensor.values()


def _extent(lie: Lie) -> tuple[int, int]:
    """The bytes of the storage between which the elements lie."""
    offset, shape, strides, dtype = lie[:4]
    low = offset * dtype.itemsize
    if 0 in shape:
        return low, low
    span = sum((length - 1) * stride for length, stride in zip(shape, strides, strict=True))
    return low, low + (span + 1) * dtype.itemsize
