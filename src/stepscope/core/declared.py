"""What a graph says of values before anything has run: those of its constants, and how much room an output needs."""

from __future__ import annotations

import contextlib
import math

import numpy as np

from stepscope.core.errors import NotAvailable
from stepscope.core.graph import Node
from stepscope.core.graph.records import TensorType
from stepscope.core.ports import Tensor
from stepscope.core.tensors.formats import FORMATS


def constant(node: Node, step: int) -> Tensor:
    """The value of a constant, which is the same in every step; raises NotAvailable where that is no tensor."""
    if node.value is None:
        raise NotAvailable(f"the value of constant {node.name} is not known", code="not_recorded")
    dtype = node.outputs[0].type.dtype
    try:
        array = np.asarray(node.value)
    except ValueError:  # tuples of several lengths
        array = np.empty(0, object)
    if array.dtype.kind not in "biufc":
        raise NotAvailable(f"constant {node.name} is no number: {node.value!r}", code="no_numbers")
    with contextlib.suppress(TypeError):  # a type that numpy does not know stays in the one that holds it
        array = array.astype(dtype or array.dtype)
    return Tensor(array, dtype or str(array.dtype), array.shape, step)


def size(type: TensorType) -> int:
    """About so many bytes; 0 where the shape is not known."""
    shape = type.shape
    if shape is None or min(shape, default=0) < 0:
        return 0
    try:
        dtype = FORMATS.get(type.dtype) or np.dtype(type.dtype)
    except TypeError:
        dtype = np.dtype(np.float32)
    return math.prod(shape) * dtype.itemsize
