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


class Found(NamedTuple):
    """`exact`: the output is just this tensor; else it covers a part of it, or more, or in another shape."""

    source: Source
    exact: bool


class _Piece(NamedTuple):
    source: Source
    low: int  # in bytes
    high: int


_Lie = tuple[Any, ...]  # how a tensor lies in its storage


class Storages:
    """Addresses are pinned until `clear`, so that none is taken for another; the memory is not."""

    def __init__(self) -> None:
        self._pieces: dict[int, dict[_Lie, _Piece]] = {}
        self._pins: list[int] = []

    def clear(self) -> None:
        pins, self._pins = self._pins, []
        self._pieces.clear()
        for pin in pins:
            compat.free_weak_reference(pin)

    def __del__(self) -> None:
        for pin in self._pins:
            compat.free_weak_reference(pin)

    def find(self, tensor: Tensor) -> Found | None:
        """Who wrote a tensor; None where nobody is known."""
        storage, lie, tensor = _lie(tensor)
        pieces = self._pieces.get(compat.storage_address(storage))
        if pieces is None:
            return None
        piece = pieces.get(lie)
        if piece is not None:
            return Found(piece.source, True)
        low, high = _extent(tensor)
        for piece in reversed(pieces.values()):
            if piece.low < high and low < piece.high:
                return Found(piece.source, False)
        return None

    def made(self, tensor: Tensor, node: str, slot: int) -> None:
        """Output `slot` of a node is this tensor, which it did not write in place."""
        storage, lie, tensor = _lie(tensor)
        pieces = self._of(storage)
        if lie not in pieces:
            pieces[lie] = _Piece(Source(node, slot), *_extent(tensor))

    def wrote(self, tensor: Tensor, node: str, slot: int) -> None:
        """Output `slot` of a node is this tensor, which it wrote in place."""
        storage, lie, tensor = _lie(tensor)
        pieces = self._of(storage)
        low, high = _extent(tensor)
        if len(pieces) > 1 or lie not in pieces:
            for other in [key for key, piece in pieces.items() if piece.low < high and low < piece.high]:
                del pieces[other]
        pieces.pop(lie, None)  # the youngest piece stands last
        pieces[lie] = _Piece(Source(node, slot), low, high)

    def _of(self, storage: torch.UntypedStorage) -> dict[_Lie, _Piece]:
        address = compat.storage_address(storage)
        pieces = self._pieces.get(address)
        if pieces is None:
            pieces = self._pieces[address] = {}
            self._pins.append(compat.weak_reference(storage))
        return pieces


def address_of(tensor: Tensor) -> int:
    """Of the memory that a tensor lies in."""
    return compat.storage_address(_lie(tensor)[0])


def _lie(tensor: Tensor) -> tuple[torch.UntypedStorage, _Lie, Tensor]:
    """The storage, how the tensor lies in it, and a tensor with strides that lies so."""
    try:
        lie = (tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype)
        return tensor.untyped_storage(), lie, tensor
    except (RuntimeError, NotImplementedError):
        values = tensor._values() if tensor.layout == torch.sparse_coo else tensor.values()
        lie = (tensor.layout, tensor.shape, values.storage_offset(), values.shape, values.stride(), values.dtype)
        return values.untyped_storage(), lie, values


def _extent(tensor: Tensor) -> tuple[int, int]:
    """The bytes of the storage between which the elements lie."""
    size = tensor.element_size()
    low = tensor.storage_offset() * size
    if not tensor.numel():
        return low, low
    span = sum((length - 1) * stride for length, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return low, low + (span + 1) * size
