"""The pass over the data: the C kernel where it was built and takes the arrays, else numpy. Both give the same figures.

Arguments are as in `numpy_pass`, with `threads`: the most that share a big tensor, 0 for as many as there are cores.
Results do not depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from numpy.typing import NDArray

from stepscope.core.tensors import numpy_pass
from stepscope.core.tensors.moments import Summary
from stepscope.core.tensors.numpy_pass import Changes, Pair

try:
    from stepscope.core.tensors import _kernel
except ImportError:  # built without a compiler
    native = None
else:
    native = _kernel


def measure_one(
    x: NDArray[Any], format: str, ranges: Sequence[Pair] = (), threads: int = 0
) -> tuple[Summary, tuple[int, ...]]:
    if native is not None:
        result = native.measure_one(x, format, ranges, (), threads)
        if result is not NotImplemented:
            return cast("tuple[Summary, tuple[int, ...]]", result)
    return numpy_pass.measure_one(x, format, ranges)


def measure_two(
    x: NDArray[Any],
    p: NDArray[Any],
    formats: tuple[str, str],
    ranges: Sequence[Pair],
    tolerances: Sequence[Pair],
    threads: int = 0,
) -> tuple[Summary, tuple[int, ...], Changes]:
    if native is not None:
        result = native.measure_two(x, formats[0], p, formats[1], ranges, tolerances, threads)
        if result is not NotImplemented:
            return cast("tuple[Summary, tuple[int, ...], Changes]", result)
    return numpy_pass.measure_two(x, p, formats, ranges, tolerances)


def finite(x: NDArray[Any], format: str) -> bool:
    if native is not None:
        result = native.finite(x, format)
        if result is not NotImplemented:
            return cast("bool", result)
    return numpy_pass.finite(x, format)


def finite_at(address: int, count: int, format: str) -> bool | None:
    """`finite` of elements side by side in memory that the caller keeps; None where that is not known."""
    if native is None:
        return None
    result = native.finite_at(address, count, format)
    return None if result is NotImplemented else cast("bool", result)


def sizes(x: NDArray[Any], p: NDArray[Any] | None, formats: tuple[str, str]) -> tuple[float, float, float] | None:
    """The sums of |x|, and with `p`, of its shape, of |x - p| and |p|; none is finite if an element of its is not. None
    where that would take a whole pass."""
    if native is None:
        return None
    result = native.sizes(x, formats[0]) if p is None else native.sizes(x, formats[0], p, formats[1])
    return None if result is NotImplemented else cast("tuple[float, float, float]", result)


def compare(
    x: NDArray[Any], p: NDArray[Any], formats: tuple[str, str], threads: int = 0
) -> tuple[Summary, Summary, Summary, int]:
    if native is not None:
        result = native.compare(x, formats[0], p, formats[1], (), (), threads)
        if result is not NotImplemented:
            return cast("tuple[Summary, Summary, Summary, int]", result)
    return numpy_pass.compare(x, p, formats)
