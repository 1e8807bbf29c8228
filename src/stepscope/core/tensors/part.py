"""The part of a tensor that a question is about, read as real numbers, block by block.

Invariants: no more than a block is ever copied, whatever the layout. Bools are 0 and 1, complex elements their
magnitude; a difference is in float64, that of bools 1 where they differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.core.errors import BadRequest
from stepscope.core.looks import Of
from stepscope.core.ports import Tensor, When
from stepscope.core.tensors import one_pass
from stepscope.core.tensors.blocks import blocks, working_dtype
from stepscope.core.tensors.formats import as_bits, decode
from stepscope.core.tensors.index import apply_index
from stepscope.core.tensors.moments import Summary
from stepscope.core.tensors.pairs import difference, pairs, real, types_of

Value = Callable[[When], Tensor]
Array = NDArray[Any]


class Part:
    """One value, or, with `before`, its difference from an earlier one of the same shape."""

    def __init__(self, now: Tensor, before: Tensor | None = None, index: str | None = None):
        """Raises BadRequest for a wrong index, for different shapes and for what holds no numbers."""
        if before is not None and before.array.shape != now.array.shape:
            shapes = f"the current value has the shape {now.array.shape}, the previous one {before.array.shape}"
            raise BadRequest(f"can't compare: {shapes}")
        values = [now] if before is None else [now, before]
        cut = [as_bits(apply_index(value.array, index), value.dtype) for value in values]
        self._bits = [bits for bits, _ in cut]
        self._formats = [format for _, format in cut]
        self.step = now.step
        self.shape: tuple[int, ...] = self._bits[0].shape
        self.size = math.prod(self.shape)
        self.kind = self._kind()
        self.dtype = now.dtype if before is None else _DIFFERENCE.get(self.kind, "float64")

    @classmethod
    def of(cls, of: Of, value: Value, index: str | None = None) -> Part:
        if of == "difference":
            return cls(value("current"), value("previous"), index)
        return cls(value(of), None, index)

    @cached_property
    def summary(self) -> Summary:
        """The figures of all elements."""
        if len(self._bits) == 1:
            return one_pass.measure_one(self._bits[0], self._formats[0])[0]
        return one_pass.compare(self._bits[0], self._bits[1], (self._formats[0], self._formats[1]))[2]

    @property
    def all_finite(self) -> bool:
        return not any(self.summary[1:4])

    def blocks(self) -> Iterator[Array]:
        """All elements in C order, in contiguous blocks of one dimension."""
        if len(self._bits) == 1:
            bits = self._bits[0]
            for (block,) in blocks(bits, dtype=working_dtype(bits.dtype), order="C"):
                yield real(decode(block, self._formats[0]))
        else:
            for new, old in self.pairs():
                yield self.change(new, old)

    def pairs(self) -> Iterator[tuple[Array, Array]]:
        """Of a difference: the blocks of both values."""
        return pairs(self._bits[0], self._bits[1], (self._formats[0], self._formats[1]), "C")

    def change(self, new: Array, old: Array) -> Array:
        """From `old` to `new`, blocks of values."""
        return np.bitwise_xor(new, old) if self.kind == "b" else real(difference(new, old))

    def rectangle(self, rows: slice, columns: slice) -> Array:
        """The elements there, of a part with two dimensions."""
        cut = [bits[rows, columns] for bits in self._bits]
        if len(cut) == 1:
            read = cut[0].astype(working_dtype(cut[0].dtype), copy=False)
            return real(decode(read, self._formats[0]))
        common, read_as = types_of(self._bits[0], self._bits[1], (self._formats[0], self._formats[1]))
        new, old = (
            decode(bits.astype(dtype, copy=False), format).astype(common, copy=False)
            for bits, dtype, format in zip(cut, read_as, self._formats, strict=True)
        )
        return self.change(new, old)

    def as_plane(self) -> Part:
        """The same with two dimensions: N elements in one row, a single element alone."""
        plane = object.__new__(Part)
        plane.__dict__.update(self.__dict__)
        plane._bits = [bits[(None,) * (2 - bits.ndim)] for bits in self._bits]
        plane.shape = plane._bits[0].shape
        return plane

    def element(self, position: tuple[int, ...]) -> str:
        """One element to the last digit; a complex one as it is, not its magnitude."""
        cut = [
            decode(np.atleast_1d(bits[position]), format)
            for bits, format in zip(self._bits, self._formats, strict=True)
        ]
        if len(cut) == 1:
            return str((cut[0].astype(np.float32) if cut[0].dtype == np.float16 else cut[0])[0])  # 65504, not 6.55e+04
        new, old = next(pairs(cut[0], cut[1], ("", "")))
        return str((np.bitwise_xor(new, old) if self.kind == "b" else difference(new, old))[0])

    def _kind(self) -> str:
        """numpy's letter for what the elements are: "b", "i", "u", "f" or "c"."""
        kinds = {"f" if format else bits.dtype.kind for bits, format in zip(self._bits, self._formats, strict=True)}
        for bits in self._bits:
            working_dtype(bits.dtype)
        if len(self._bits) == 1 or kinds == {"b"}:
            return kinds.pop()
        return "c" if "c" in kinds else "f"


_DIFFERENCE = {"b": "bool", "c": "complex128"}
