"""Tensors of PyTorch as numpy arrays, for the functions of `core`: without a copy where the memory is the CPU's.

Callers see to it that no dispatch mode is active (`quiet`): what is asked of a tensor here is no node of the graph.
"""

from __future__ import annotations

import contextlib
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from stepscope.core.errors import NotAvailable
from stepscope.core.tensors.formats import FORMATS, decode
from stepscope.probe.torch import compat
from stepscope.probe.torch.memory import TENSORS, array_of, part_here

DENSE_LIMIT = 256 << 20  # bytes that a sparse tensor may take when all of it is shown

SAME_IN_NUMPY = frozenset((torch.float32, torch.float64, torch.float16, torch.int64, torch.int32, torch.bool))


@cache
def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def plain(tensor: torch.Tensor) -> NDArray[Any] | None:
    """Most tensors, at once: those that numpy takes as they are, without any call that dispatch modes could see."""
    if tensor.is_cpu and tensor.dtype in SAME_IN_NUMPY and type(tensor) in TENSORS:
        with contextlib.suppress(RuntimeError, TypeError):  # sparse
            return None if tensor.is_neg() else array_of(tensor)
    return None


def as_bits(tensor: torch.Tensor) -> tuple[NDArray[Any], str]:
    """The tensor as an array, and the name of its type; formats that numpy lacks as their raw bits (see
    `core.tensors.formats`). Raises NotAvailable for what can't be shown as an array."""
    name = dtype_name(tensor.dtype)
    try:
        plain = compat.with_memory(_dense(part_here(tensor).detach()))
        if plain.is_conj() or plain.is_neg():
            plain = plain.resolve_conj().resolve_neg()
        if plain.device.type != "cpu":
            plain = plain.cpu()
        if plain.dtype is torch.complex32:
            plain = plain.to(torch.complex64)
        return array_of(plain), name
    except NotAvailable:
        raise
    except Exception as error:  # of whatever kind it is
        raise NotAvailable(
            f"a tensor of {name} on {tensor.device} can't be shown: {_first_line(error)}", code="no_memory"
        ) from None


def as_array(tensor: torch.Tensor) -> tuple[NDArray[Any], str]:
    """The same with values in a type of numpy: float32 for the formats that it lacks."""
    array, name = as_bits(tensor)
    return (decode(array, name) if name in FORMATS else array), name


def _dense(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.is_quantized:
        return tensor.dequantize()
    if tensor.layout is torch.strided and not tensor.is_mkldnn:
        return tensor
    size = tensor.numel() * tensor.element_size()
    if size > DENSE_LIMIT:
        raise NotAvailable(f"a sparse tensor of {size >> 20} MiB when all of it is written out", code="too_large")
    return tensor.to_dense()


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def copied(array: NDArray[Any]) -> NDArray[Any]:
    """One that stays as it is when the training goes on."""
    return np.array(array, copy=True)
