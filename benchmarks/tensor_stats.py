"""Throughput of tensor figures on the CPU, against the plain way to write them with numpy.

Run: python benchmarks/tensor_stats.py [--mib 64]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from stepscope.core.tensors import compare, stats


def plain_stats(array: NDArray) -> tuple:
    """The same figures, each by the numpy call that one would write first."""
    finite = array[np.isfinite(array)].astype(np.float64)
    return (
        *(finite.min(), finite.max(), finite.mean(), np.abs(finite).mean(), finite.std()),
        *((array == 0).sum(), (array < 0).sum(), (array > 0).sum()),
        *(np.isnan(array).sum(), np.isneginf(array).sum(), np.isposinf(array).sum()),
    )


def plain_compare(current: NDArray, previous: NDArray) -> tuple:
    difference = current.astype(np.float64) - previous.astype(np.float64)
    changed = ((current != previous) & ~(np.isnan(current) & np.isnan(previous))).sum()
    return plain_stats(current), plain_stats(previous), plain_stats(difference), changed


def seconds(call: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mib", type=int, default=64, help="size of each tensor")
    size = parser.parse_args().mib << 20
    random = np.random.default_rng(0)
    base = random.standard_normal(size // 4, np.float32)
    with_nan = base.copy()
    with_nan[::1000] = np.nan
    cases = {
        "float32": base,
        "float32 transposed": base.reshape(-1, 1024).T,
        "float32 every 2nd": np.repeat(base, 2)[::2],
        "float32 with NaN": with_nan,
        "float64": random.standard_normal(size // 8),
        "float16": random.standard_normal(size // 2, np.float32).astype(np.float16),
        "int32": random.integers(-1000, 1000, size // 4, np.int32),
        "bool": random.integers(0, 2, size, np.uint8).view(np.bool_),
    }
    print(f"numpy {np.__version__}, {size >> 20} MiB a tensor")
    print(f"{'':26}    MB/s   times as fast as plain numpy")
    for name, array in cases.items():
        ours = seconds(lambda array=array: stats(array), 5)
        plain = seconds(lambda array=array: plain_stats(array), 2)
        print(f"stats   {name:18}{array.nbytes / 1e6 / ours:8.0f}{plain / ours:8.1f}")
    moved = base + np.float32(1e-3) * base[::-1]
    ours = seconds(lambda: compare(moved, base), 3)
    plain = seconds(lambda: plain_compare(moved, base), 1)
    print(f"compare {'float32':18}{2 * base.nbytes / 1e6 / ours:8.0f}{plain / ours:8.1f}")
    small = np.float32(1.5)
    print(f"stats of a scalar: {seconds(lambda: stats(small), 200) * 1e6:.0f} us")


if __name__ == "__main__":
    main()
