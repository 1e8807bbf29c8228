"""The memory of a tensor as an array, without leave of the tensor.

`Tensor.numpy` forbids for good that the storage is resized, which FSDP does with its own; and it takes a tensor's word
for it that its memory is there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from stepscope.core.tensors.formats import FORMATS

_NAMES = ("float64", "float32", "float16", "complex64", "complex128", "bool")
_NAMES += ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_TYPES = {name: np.dtype(name) for name in _NAMES} | FORMATS
_LIKE = {getattr(torch, name): (like.str, like.itemsize) for name, like in _TYPES.items() if hasattr(torch, name)}


TENSORS = (torch.Tensor, torch.nn.Parameter)  # classes whose tensors have memory of their own


class _Lent:
    """What numpy makes an array of; it keeps the tensor alive."""

    __slots__ = ("__array_interface__", "_tensor")

    def __init__(self, tensor: torch.Tensor, interface: dict[str, Any]) -> None:
        self._tensor, self.__array_interface__ = tensor, interface


def part_here(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor with the memory: of a DTensor, the part that this process has."""
    return tensor if type(tensor) in TENSORS else getattr(tensor, "_local_tensor", tensor)


def address_of(tensor: torch.Tensor, count: int, size: int) -> int:
    """Where a tensor begins whose elements, `count` with the gaps between them, have `size` bytes each. RuntimeError
    where it has no memory of its own, or has given it back."""
    storage, offset = tensor.untyped_storage(), tensor.storage_offset()
    address = storage.data_ptr()
    if not address or (offset + count) * size > storage.nbytes():
        raise RuntimeError("the memory of this tensor has been given back")
    return address + offset * size


def array_of(tensor: torch.Tensor) -> NDArray[Any]:
    """A dense tensor of the processor's memory: read only; formats that numpy lacks as their raw bits. Shares memory.

    RuntimeError as of `address_of`, TypeError for a type that has no bits in numpy.
    """
    try:
        text, size = _LIKE[tensor.dtype]
    except KeyError:
        raise TypeError(f"numpy has nothing like {tensor.dtype}") from None
    shape, steps = tuple(tensor.shape), tensor.stride()
    count, strides = tensor.numel(), None
    if count == 0:
        return np.empty(shape, text)
    if not tensor.is_contiguous():
        count = 1 + sum((length - 1) * step for length, step in zip(shape, steps, strict=True))
        strides = tuple(step * size for step in steps)
    data = (address_of(tensor, count, size), True)  # read only
    return np.asarray(_Lent(tensor, {"version": 3, "typestr": text, "shape": shape, "strides": strides, "data": data}))
