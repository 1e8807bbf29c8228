"""Which node wrote what lies in memory now: the edges of a step.

A tensor is known by its storage and how it lies in it. An operation that works in place takes over all that it
overwrites, so that later readers hang on it, in a chain. A view or an alias that lies as its source does changes
nothing: readers hang on the source. A tensor that doesn't tell how it lies takes all of its storage; one without a
storage is known by itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from stepscope.probe.torch import compat
from stepscope.probe.torch.memory import TENSORS


class Source(NamedTuple):
    """Output `slot` of a node."""

    node: str
    slot: int


Lie = tuple[Any, ...]  # how a tensor lies in its storage: offset, shape and strides (in elements), type
Spot = tuple[int, Lie]  # the address of its storage, and that


def spot_of(tensor: Tensor) -> Spot:
    if type(tensor) in TENSORS:
        try:
            lie = (tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype)
            return compat.storage_address(tensor.untyped_storage()), lie
        except RuntimeError:  # sparse, nested, or without a storage
            pass
    storage, lie = _how_it_lies(tensor)
    return compat.tensor_address(tensor) if storage is None else compat.storage_address(storage), lie


def shape_of(tensor: Tensor) -> tuple[int, ...] | None:
    """With -1 for a length that differs within the tensor or is not known yet; None for a tensor that has no shape."""
    try:
        shape = tensor.shape
    except Exception:  # of whatever kind it is
        return None
    return shape if type(tensor) in TENSORS else tuple(one if type(one) is int else -1 for one in shape)


def address_of(tensor: Tensor) -> int:
    """Of the memory that a tensor lies in."""
    return spot_of(tensor)[0]


class Storages:
    """Addresses are pinned until `clear`, so that none is taken for another; the memory is not."""

    def __init__(self) -> None:
        self._pieces: dict[int, dict[Lie, Source]] = {}  # of each storage, the youngest last
        self._pins: list[int] = []
        self._pinned_tensors: list[Any] = []  # without a storage

    def clear(self) -> None:
        pins, self._pins, self._pinned_tensors = self._pins, [], []
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
        storage = _how_it_lies(tensor)[0]
        if storage is None:
            self._pinned_tensors.append(compat.weak_tensor(tensor))
        else:
            self._pins.append(compat.weak_reference(storage))


def _how_it_lies(tensor: Tensor) -> tuple[torch.UntypedStorage | None, Lie]:
    for ask in (_strided, _by_its_values, _whole):
        try:
            return ask(tensor)
        except Exception:  # of whatever kind it is
            continue
    return None, (0, (1,), (1,), tensor.dtype)


def _strided(tensor: Tensor) -> tuple[torch.UntypedStorage, Lie]:
    lie = (tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype)
    if any(type(number) is not int for number in (lie[0], *lie[1], *lie[2])):
        raise TypeError("its lengths are not known")
    return tensor.untyped_storage(), lie


def _by_its_values(tensor: Tensor) -> tuple[torch.UntypedStorage, Lie]:
    values = tensor._values() if tensor.layout is torch.sparse_coo else Tensor.values(tensor)
    storage, lie = _strided(values)
    return storage, (*lie, tensor.layout, shape_of(tensor))


def _whole(tensor: Tensor) -> tuple[torch.UntypedStorage, Lie]:
    storage, dtype = tensor.untyped_storage(), tensor.dtype
    return storage, (0, (storage.nbytes() // dtype.itemsize,), (1,), dtype, type(tensor))


def _extent(lie: Lie) -> tuple[int, int]:
    """The bytes of the storage between which the elements lie."""
    offset, shape, strides, dtype = lie[:4]
    low = offset * dtype.itemsize
    if 0 in shape:
        return low, low
    span = sum((length - 1) * stride for length, stride in zip(shape, strides, strict=True))
    return low, low + (span + 1) * dtype.itemsize
