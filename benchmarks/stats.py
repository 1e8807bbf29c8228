"""How fast the pass over a tensor is, against its budgets. Ends with status 1 where one is missed.

    python benchmarks/stats.py [MB]

256 MB of float32 unless told otherwise. Things that are compared are timed by turns in one run, one thread each unless
said otherwise; a ratio is the median of those of the turns.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import stepscope
from stepscope.core.tensors import measure, one_pass

Call = Callable[[], object]
TURNS = 9
OF_SUM, OF_PLAIN, SMALL_MICROSECONDS, OF_FLOAT32 = 0.5, 20, 5, 0.3

missed: list[str] = []


def check(what: str, within: bool, shown: str) -> None:
    if not within:
        missed.append(what)
    print(f"{'ok    ' if within else 'MISSED'} {what:<58} {shown}")


def plain(array: NDArray) -> tuple:
    """The same figures, each by the numpy call that one would write first."""
    finite = array[np.isfinite(array)].astype(np.float64)
    return (
        *(finite.min(), finite.max(), finite.mean(), np.abs(finite).mean(), finite.std()),
        *((array == 0).sum(), (array < 0).sum(), (array > 0).sum()),
        *(np.isnan(array).sum(), np.isneginf(array).sum(), np.isposinf(array).sum()),
    )


def seconds(call: Call) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def by_turns(ours: Call, other: Call, turns: int = TURNS) -> tuple[float, float, float]:
    """The median seconds of both, and how many times as fast the first is."""
    ours(), other()
    pairs = [(seconds(ours), seconds(other)) for _ in range(turns)]
    return (
        statistics.median(one for one, _ in pairs),
        statistics.median(two for _, two in pairs),
        statistics.median(two / one for one, two in pairs),
    )


def single_pass(array: NDArray) -> None:
    ours, other, ratio = by_turns(lambda: measure(array, threads=1), lambda: array.sum())
    rates = f"{array.nbytes / ours / 1e9:.1f} and {array.nbytes / other / 1e9:.1f} GB/s"
    check("bandwidth, as a part of that of numpy's sum", ratio >= OF_SUM, f"{ratio:6.2f} of {OF_SUM}   ({rates})")
    ours, other, ratio = by_turns(lambda: measure(array, threads=1), lambda: plain(array), 3)
    took = f"{ours * 1e3:.0f} and {other * 1e3:.0f} ms"
    check(
        "times as fast as the same figures by plain numpy", ratio >= OF_PLAIN, f"{ratio:6.1f} of {OF_PLAIN}   ({took})"
    )
    _, _, ratio = by_turns(lambda: measure(array, threads=2), lambda: measure(array, threads=1))
    print(f"       times as fast with two threads {ratio:35.2f}")


def small_tensor() -> None:
    """Few calls at a time, so that the fastest of many turns is one in which nobody else had the processor."""
    array = np.random.default_rng(0).standard_normal(1024, np.float32)

    def calls(number: int = 100) -> None:
        for _ in range(number):
            stepscope.stats(array)

    calls(1000)
    turns = sorted(seconds(calls) / 100 * 1e6 for _ in range(300))
    median = statistics.median(turns)
    shown = f"{median:6.2f} of {SMALL_MICROSECONDS} us   (the fastest {turns[0]:.2f})"
    check("a call of stepscope.stats on 4 kB", median <= SMALL_MICROSECONDS, shown)


def other_types(base: NDArray) -> None:
    """The rate of elements, as a part of that of float32."""
    bits = (base.view(np.uint32) >> 16).astype(np.uint16)
    small = np.clip(base * 10, -128, 127)
    cases: list[tuple[str, NDArray, str, float]] = [
        ("bfloat16", bits, "bfloat16", OF_FLOAT32),
        ("float16", base.astype(np.float16), "", OF_FLOAT32),
        ("float64", base.astype(np.float64), "", 0),
        ("float8_e4m3fn", (bits >> 8).astype(np.uint8) & 0x7E, "float8_e4m3fn", 0),
        ("bool", base > 0, "", 0),
        *((name, small.astype(name), "", 0) for name in ("int8", "int16", "int32", "int64")),
        (
            "float32, every 1000th NaN",
            np.where(np.arange(base.size) % 1000 == 0, np.nan, base).astype(np.float32),
            "",
            0,
        ),
        ("float32, transposed", base.reshape(-1, 1024).T, "", 0),
        ("float32, every 2nd", np.repeat(base, 2)[::2], "", 0),
    ]
    for name, array, dtype, budget in cases:
        _, _, ratio = by_turns(
            lambda array=array, dtype=dtype: measure(array, dtype=dtype, threads=1),
            lambda: measure(base, threads=1),
        )
        if budget:
            check(f"elements a second, as a part of float32: {name}", ratio >= budget, f"{ratio:6.2f} of {budget}")
        else:
            print(f"       {f'the same: {name}':<58} {ratio:6.2f}")


def with_previous(array: NDArray) -> None:
    moved, same = array + np.float32(1e-3) * array[::-1], array.copy()
    for what, call in (
        (
            "previous value, a tolerance and a range",
            lambda: measure(array, moved, [(-1, 1)], [(1e-5, 1e-8)], threads=1),
        ),
        ("the same, nothing changed", lambda: measure(array, same, [(-1, 1)], [(1e-5, 1e-8)], threads=1)),
        ("compare", lambda: one_pass.compare(moved, array, ("", ""), threads=1)),
    ):
        ours, _, ratio = by_turns(call, lambda: measure(array, threads=1), 5)
        print(
            f"       {what:<58} {2 * array.nbytes / ours / 1e9:6.1f} GB/s, {1 / ratio:.1f} times the time of one value"
        )


def main(megabytes: int) -> int:
    array = np.random.default_rng(0).standard_normal((megabytes << 20) // 4, np.float32)
    kernel = ", ".join(one_pass.native.instruction_sets()) if one_pass.native else "none: all is done by numpy"
    print(f"       numpy {np.__version__}, kernel: {kernel}; {megabytes} MB of float32")
    small_tensor()
    single_pass(array)
    other_types(array[: array.size // 4])
    with_previous(array[: array.size // 4])
    print(f"{len(missed)} budgets missed" + (f": {'; '.join(missed)}" if missed else ""))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 256))
