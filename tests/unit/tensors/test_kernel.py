"""What only the C kernel can get wrong: instruction sets, threads, memory, and what it has to leave to numpy."""

from __future__ import annotations

import ctypes
import gc
import os
import platform
import sys
import threading
import weakref

import numpy as np
import pytest
from tensor_samples import NAMES, elements, unaligned

from stepscope.core.tensors import numpy_pass, one_pass
from stepscope.core.tensors.formats import FORMATS

kernel = one_pass.native
pytestmark = pytest.mark.skipif(kernel is None, reason="this installation was built without a C compiler")

RANGES = [(-1.0, 1.0), (0.1, 1e300)]
TOLERANCES = [(0.0, 0.0), (1e-5, 1e-8), (1.0, 100.0)]


@pytest.fixture
def any_instruction_set():
    yield
    kernel.choose(kernel.instruction_sets()[0])


def everything(x: np.ndarray, p: np.ndarray, name: str, threads: int = 1) -> tuple:
    """All that the kernel says, so that equal means equal to the last bit (and NaN is text, which equals itself)."""
    form = name if name in FORMATS else ""
    return repr(
        (
            kernel.measure_one(x, form, RANGES, (), threads),
            kernel.measure_two(x, form, p, form, RANGES, TOLERANCES, threads),
            kernel.compare(x, form, p, form, (), (), threads),
            kernel.finite(x, form),
        )
    )


@pytest.mark.usefixtures("any_instruction_set")
@pytest.mark.parametrize("wild", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_all_instruction_sets_give_the_same_bits(name, wild):
    for count in (0, 1, 7, 8, 9, 15, 17, 130, 4097, 10_003):
        x, p = (elements(name, count, seed, wild) for seed in (1, 2))
        answers = []
        for instruction_set in kernel.instruction_sets():
            kernel.choose(instruction_set)
            answers.append(everything(x, p, name))
        assert len(set(answers)) == 1


@pytest.mark.usefixtures("any_instruction_set")
@pytest.mark.parametrize("name", NAMES)
def test_memory_is_looked_at_by_its_address(name):
    form = name if name in FORMATS else ""
    for count in (0, 1, 7, 130, 4096, 10_003):
        tame = elements(name, count, 1, False)
        wild = [elements(name, count, seed, True) for seed in range(5)]
        last = tame.copy()
        last.view(np.uint8)[-tame.itemsize :] = 0x7F  # of all formats but float32 and float64, NaN
        for x in (tame, last, *wild, unaligned(tame)):
            for instruction_set in kernel.instruction_sets():
                kernel.choose(instruction_set)
                answer = kernel.finite_at(x.ctypes.data, x.size, name)
                if name in ("float16", "bfloat16", "float32", "float64"):
                    assert answer is numpy_pass.finite(x, form)
                else:
                    assert answer is NotImplemented
    assert kernel.finite_at(0, 0, "float32") is True
    assert kernel.finite_at(0, 5, "float32") is NotImplemented
    assert kernel.finite_at(8, -5, "float32") is NotImplemented
    for wrong in ((), (1, 2), ("1", 2, "float32"), (1, 2.5, "float32"), (1, 0, None)):
        with pytest.raises(TypeError):
            kernel.finite_at(*wrong)


@pytest.mark.parametrize("name", ["float32", "float64", "bfloat16", "int64"])
def test_threads_do_not_show_in_the_figures(name):
    x, p = (elements(name, 3_000_000, seed, True) for seed in (1, 2))
    assert everything(x, p, name, 1) == everything(x, p, name, 2) == everything(x, p, name, 7)
    tame = elements(name, 3_000_000, 1, False)
    assert everything(tame, tame[::-1], name, 1) == everything(tame, tame[::-1], name, 3)


@pytest.mark.parametrize("name", NAMES)
def test_both_implementations_agree(name):
    form = name if name in FORMATS else ""
    for wild in (False, True):
        x, p = (elements(name, 200_000, seed, wild) for seed in (1, 2))
        for mine, plain in (
            (kernel.measure_one(x, form, RANGES, (), 1), numpy_pass.measure_one(x, form, RANGES)),
            (
                kernel.measure_two(x, form, p, form, RANGES, TOLERANCES, 1),
                numpy_pass.measure_two(x, p, (form, form), RANGES, TOLERANCES),
            ),
            (kernel.compare(x, form, p, form, (), (), 1), numpy_pass.compare(x, p, (form, form))),
            (kernel.finite(x, form), numpy_pass.finite(x, form)),
        ):
            assert_near(mine, plain)


@pytest.mark.parametrize("name", NAMES)
def test_both_implementations_agree_on_a_change_of_type(name):
    form = name if name in FORMATS else ""
    x = elements(name, 5000, 1, True)
    for other in NAMES:
        p, other_form = elements(other, 5000, 2, True), other if other in FORMATS else ""
        forms = (form, other_form)
        mine = kernel.measure_two(x, form, p, other_form, RANGES, TOLERANCES, 1)
        assert_near(mine, numpy_pass.measure_two(x, p, forms, RANGES, TOLERANCES))
        assert_near(kernel.compare(x, form, p, other_form, (), (), 1), numpy_pass.compare(x, p, forms))


def assert_near(mine, plain):
    """Equal, but for the rounding of doubles."""
    assert type(mine) is type(plain)
    if isinstance(mine, tuple):
        assert len(mine) == len(plain)
        for one, other in zip(mine, plain, strict=True):
            assert_near(one, other)
    elif isinstance(mine, float):
        assert mine == pytest.approx(plain, rel=1e-11, abs=1e-13, nan_ok=True)
    else:
        assert mine == plain


@pytest.mark.parametrize(
    "array",
    [np.zeros(3, ">f4"), np.zeros(3, complex), np.zeros(3, np.longdouble), np.array(["a"]), np.zeros(3, "M8[s]")],
)
def test_the_rest_is_left_to_numpy(array):
    plain = np.zeros(3)
    assert kernel.measure_one(array, "", (), (), 1) is NotImplemented
    assert kernel.measure_two(plain, "", array, "", (), (), 1) is NotImplemented
    assert kernel.compare(array, "", plain, "", (), (), 1) is NotImplemented
    assert kernel.finite(array, "") is NotImplemented


def test_wrong_arguments_are_errors():
    x = np.zeros(3)
    with pytest.raises(TypeError):
        kernel.measure_one(x)
    with pytest.raises(TypeError):
        kernel.finite(x)
    with pytest.raises(AttributeError):
        kernel.measure_one([1.0], "", (), (), 1)
    with pytest.raises(TypeError):
        kernel.measure_one(x, 3, (), (), 1)
    with pytest.raises(TypeError):
        kernel.measure_one(x, "", [1], (), 1)
    with pytest.raises(TypeError):
        kernel.measure_one(x, "", (), (), "all")
    with pytest.raises(ValueError, match="shape"):
        kernel.compare(x, "", np.zeros((3, 1)), "", (), (), 1)
    with pytest.raises(ValueError, match="shape"):
        kernel.compare(x, "", np.zeros(4), "", (), (), 1)
    with pytest.raises(ValueError, match="abacus"):
        kernel.choose("abacus")


def test_nothing_is_kept():
    array = np.arange(10.0)
    gone = weakref.ref(array)
    before = sys.getrefcount(array)
    for _ in range(100):
        kernel.measure_two(array, "", array, "", RANGES, TOLERANCES, 1)
        kernel.measure_one(array, "no such format", (), (), 1)
    assert sys.getrefcount(array) == before
    del array
    gc.collect()
    assert gone() is None


def test_an_array_may_have_as_many_dimensions_as_numpy_can():
    most = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32
    array = np.arange(4.0).reshape((1, 2) * (2) + (1,) * (most - 4))
    assert kernel.measure_one(array, "", (), (), 1)[0][9] == 1.5
    assert kernel.measure_one(unaligned(array), "", (), (), 1)[0][9] == 1.5


def test_other_threads_of_python_go_on():
    """A thread that waits for the pass to begin can only count if the pass lets it."""
    big = np.zeros(1 << 24, np.float32)
    begun, counted, over = threading.Event(), [], threading.Event()

    def count() -> None:
        begun.wait()
        while not over.is_set():
            counted.append(None)
            over.wait(1e-4)

    other = threading.Thread(target=count)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(100)  # nothing but the pass itself gives way
    try:
        other.start()
        begun.set()
        for _ in range(20):
            kernel.measure_one(big, "", (), (), 1)
        seen = len(counted)
    finally:
        sys.setswitchinterval(interval)
        over.set()
        other.join()
    assert seen > 0


def test_a_process_that_has_used_threads_may_fork():
    big = elements("float32", 3_000_000, 1, False)
    expected = kernel.measure_one(big, "", (), (), 2)
    child = os.fork()
    if child == 0:
        os._exit(0 if kernel.measure_one(big, "", (), (), 2) == expected else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(platform.machine() != "x86_64" or platform.libc_ver()[0] != "glibc", reason="needs its registers")
@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_subnormal_numbers_count_where_the_process_takes_them_for_zero(name):
    """PyTorch's `set_flush_denormal`, and libraries built with -ffast-math, set the processor to that."""
    libm, state = ctypes.CDLL("libm.so.6"), (ctypes.c_uint32 * 8)()
    tiny = np.full(100, np.finfo(name).smallest_subnormal)
    libm.fegetenv(state)
    before = state[7]  # MXCSR
    try:
        state[7] = before | 0x8040  # subnormal operands and results are 0
        libm.fesetenv(state)
        zeros, positives = kernel.measure_one(tiny, "", (), (), 1)[0][4:7:2]
        libm.fegetenv(state)
        left = state[7]
    finally:
        state[7] = before
        libm.fesetenv(state)
    assert (zeros, positives) == (0, 100)
    assert left & 0x8040 == 0x8040, "the process keeps its settings"
