"""stats and compare against exact arithmetic, on arrays of every type, shape and layout."""

from __future__ import annotations

import math
import tracemalloc
import warnings
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from stepscope.core.errors import BadRequest
from stepscope.core.tensors import blocks, compare, stats

pytestmark = pytest.mark.usefixtures("implementation")

NAMES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NAMES += ["float16", "float32", "float64", "complex64", "complex128"]
BLOCK_SIZES = st.sampled_from([1, 2, 7, blocks.BLOCK])


@st.composite
def arrays(draw, name=None, shape=None):
    """Of any type and byte order, 0 to 4 dimensions; with NaN, infinities and the largest values, or without."""
    dtype = np.dtype(name or draw(st.sampled_from(NAMES)))
    dtype = draw(st.sampled_from([dtype, dtype.newbyteorder()]))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6)) if shape is None else shape
    wild = hnp.from_dtype(dtype)
    small = st.integers(-20 if dtype.kind in "ifc" else 0, 1 if dtype.kind == "b" else 100)
    tame = small.map(lambda number: dtype.type(number / 4 if dtype.kind in "fc" else number))
    return draw(hnp.arrays(dtype, shape, elements=draw(st.sampled_from([wild, tame]))))


@st.composite
def layouts(draw, array):
    """`array` seen through a transposition and slices: other strides, also negative ones."""
    array = array.transpose(draw(st.permutations(range(array.ndim))))
    steps = st.sampled_from([1, 1, -1, 2, -2, 3])
    return array[(*(slice(None, None, draw(steps)) for _ in range(array.ndim)), ...)]


@st.composite
def pairs(draw):
    """Two arrays of one type and shape, of different layout, equal in some places."""
    current = draw(arrays())
    previous = draw(arrays(current.dtype.newbyteorder("=").name, current.shape))
    same = draw(hnp.arrays(bool, current.shape))
    return current, np.array(np.where(same, current, previous), order="F")


def quietly(function, *arguments, **keywords):
    """The call's result; fails if a warning leaves it, whatever numpy is told to do about errors."""
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("error")
        return function(*arguments, **keywords)


def numbers(array):
    """The elements as Python numbers: magnitudes of complex ones, 0 and 1 for bools."""
    with np.errstate(all="ignore"):
        if array.dtype.kind == "c":
            array = np.abs(array.astype(np.complex128))
    return [int(value) if isinstance(value, bool) else value for value in array.ravel().tolist()]


def root(value: Fraction) -> Fraction:
    return Fraction(math.isqrt(int(value * 4**1200)), 2**1200)


def near(figure: float, exact: Fraction, largest: float) -> bool:
    return abs(Fraction(figure) - exact) <= Fraction(1, 10**12) * abs(exact) + Fraction(largest) / 10**13 + Fraction(
        2e-323
    )


def check_figures(figures, values):
    """`figures` is what exact arithmetic says of `values`, Python numbers in any order."""
    finite = [value for value in values if math.isfinite(value)]
    assert figures.count == len(values)
    assert figures.zero_count == sum(value == 0 for value in values)
    assert figures.negative_count == sum(value < 0 for value in values)
    assert figures.positive_count == sum(value > 0 for value in values)
    assert figures.nan_count == sum(value != value for value in values)
    assert figures.negative_inf_count == values.count(-math.inf)
    assert figures.positive_inf_count == values.count(math.inf)
    if not finite:
        assert all(map(math.isnan, (figures.min, figures.max, figures.mean, figures.abs_mean, figures.std)))
        return
    assert (figures.min, figures.max) == (float(min(finite)), float(max(finite)))
    assert figures.min <= figures.mean <= figures.max
    exact = [Fraction(float(value)) for value in finite]
    largest, mean = max(map(abs, exact)), sum(exact) / len(exact)
    assert near(figures.mean, mean, largest)
    assert near(figures.abs_mean, sum(map(abs, exact)) / len(exact), largest)
    assert near(figures.std, root(sum((value - mean) ** 2 for value in exact) / len(exact)), largest)


@settings(deadline=None)
@given(st.data(), BLOCK_SIZES)
def test_stats_are_exact(data, block):
    array = data.draw(arrays().flatmap(layouts))
    with mock.patch.object(blocks, "BLOCK", block):
        figures = quietly(stats, array, step=7)
    assert (figures.dtype, figures.shape, figures.step) == (array.dtype.name, array.shape, 7)
    check_figures(figures, numbers(array))


@settings(deadline=None)
@given(st.data(), BLOCK_SIZES)
def test_compare_is_exact(data, block):
    current, previous = data.draw(pairs())
    with mock.patch.object(blocks, "BLOCK", block):
        result = quietly(compare, current, previous, step=7, previous_step=6)
    check_figures(result.current, numbers(current))
    check_figures(result.previous, numbers(previous))
    with np.errstate(all="ignore"):
        if current.dtype.kind == "b":
            difference, name = current ^ previous, "bool"
        elif current.dtype.kind in "iu":
            exact = [int(a) - int(b) for a, b in zip(current.ravel(), previous.ravel(), strict=True)]
            difference, name = np.array(exact, np.float64), "float64"
        else:
            name = "complex128" if current.dtype.kind == "c" else "float64"
            difference = current.astype(name) - previous.astype(name)
        update_ratio = np.float64(result.difference.abs_mean) / (result.previous.abs_mean + 1e-9)
    check_figures(result.difference, numbers(np.asarray(difference)))
    assert (result.difference.dtype, result.current.step, result.previous.step) == (name, 7, 6)
    assert result.current.shape == result.previous.shape == result.difference.shape == current.shape
    unequal = [a != b and not (a != a and b != b) for a, b in zip(current.ravel(), previous.ravel(), strict=True)]
    assert result.changed_count == sum(unequal)
    np.testing.assert_equal(result.update_ratio, update_ratio)


@pytest.mark.parametrize("name", ["float16", "float32", "float64", "int32"])
@pytest.mark.parametrize("layout", ["plain", "transposed", "strided"])
def test_stats_of_many_blocks_agree_with_numpy(name, layout):
    array = (np.random.default_rng(1).standard_normal((500, 700)) * 100 + 3).astype(name)
    array = {"plain": array, "transposed": array.T, "strided": array[::-2, ::3]}[layout]
    wide = array.astype(np.float64)
    figures = stats(array)
    expected = [wide.min(), wide.max(), wide.mean(), np.abs(wide).mean(), wide.std()]
    np.testing.assert_allclose(
        [figures.min, figures.max, figures.mean, figures.abs_mean, figures.std], expected, rtol=1e-12
    )
    assert (figures.zero_count, figures.negative_count) == ((wide == 0).sum(), (wide < 0).sum())


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 20), BLOCK_SIZES)
@example(0.1, 10, 7)
@example(5e-324, 3, 2)
def test_a_constant_has_its_own_mean_and_no_spread(value, count, block):
    with mock.patch.object(blocks, "BLOCK", block):
        figures = stats(np.full(count, value))
    assert (figures.min, figures.mean, figures.max, figures.abs_mean, figures.std) == (
        value,
        value,
        value,
        abs(value),
        0,
    )


def test_spread_far_from_zero_keeps_its_digits():
    noise = np.random.default_rng(2).standard_normal(200_000)
    assert stats(1e6 + 1e-3 * noise).std == pytest.approx(1e-3 * noise.std(), rel=1e-6)
    assert stats(1e150 * noise).std == pytest.approx(1e150 * noise.std(), rel=1e-12)


@pytest.mark.parametrize("scale", [1.7e308, 1e200, 1e-200, 1e-310])
@pytest.mark.parametrize("block", [1, 3, 1 << 16])
def test_figures_over_the_whole_range_of_doubles(scale, block):
    with mock.patch.object(blocks, "BLOCK", block):
        figures = quietly(stats, [scale, -scale, scale, -scale])
    assert (figures.min, figures.max, figures.mean) == (-scale, scale, pytest.approx(0, abs=1e-16 * scale + 5e-324))
    assert (figures.abs_mean, figures.std) == (pytest.approx(scale), pytest.approx(scale))


def test_long_doubles_are_rounded():
    figures = stats(np.array([1, 2, np.nan], np.longdouble))
    assert (figures.max, figures.nan_count) == (2, 1)


def test_differences_of_64_bit_integers_do_not_wrap():
    top = compare(np.array([2**63 - 1, 2**62 + 1]), np.array([-(2**63), 2**62])).difference
    assert (top.min, top.max) == (1, 2.0**64)
    unsigned = compare(np.array([0, 2**64 - 1], np.uint64), np.array([2**64 - 1, 2**64 - 2], np.uint64)).difference
    assert (unsigned.min, unsigned.max) == (-(2.0**64), 1)


def test_types_that_differ_are_compared_as_doubles():
    result = compare(np.array([1, 2, 3], np.int8), np.array([1, 2.5, np.nan], np.float32))
    assert (result.current.dtype, result.previous.dtype, result.difference.dtype) == ("int8", "float32", "float64")
    assert (result.difference.min, result.difference.nan_count, result.changed_count) == (-0.5, 1, 2)


def test_the_change_of_an_infinity_against_itself_is_nan_but_no_change():
    result = quietly(compare, [math.inf, math.nan, 0.0], [math.inf, math.nan, -0.0])
    assert (result.difference.nan_count, result.changed_count, result.difference.std) == (2, 0, 0)


def test_a_name_can_be_given_for_a_type_that_numpy_lacks():
    value = np.ones(3, np.float32)
    result = compare(value, value, dtype="bfloat16")
    assert (stats(value, dtype="bfloat16").dtype, result.current.dtype, result.previous.dtype) == ("bfloat16",) * 3
    assert result.difference.dtype == "float64"


def test_different_shapes_are_refused():
    with pytest.raises(BadRequest, match=r"\(2, 3\).*\(3, 2\)"):
        compare(np.ones((2, 3)), np.ones((3, 2)))


@pytest.mark.parametrize(
    "array", [np.array(["a"]), np.array([None]), np.array(["2024-01-01"], "M8[D]"), np.zeros(1, "V2")]
)
def test_what_holds_no_numbers_is_refused(array):
    with pytest.raises(BadRequest, match="numbers"):
        stats(array)
    with pytest.raises(BadRequest, match="numbers"):
        compare(array, array)
    with pytest.raises(BadRequest, match="numbers"):
        compare(np.ones(1), array)


def test_a_read_only_file_mapping_will_do(tmp_path):
    np.arange(100_000, dtype="<f4").tofile(tmp_path / "tensor.bin")
    mapped = np.memmap(tmp_path / "tensor.bin", "<f4", "r", shape=(1000, 100))
    assert stats(mapped[:, ::-1]).mean == 49_999.5
    assert compare(mapped, mapped).changed_count == 0


def test_memory_stays_bounded():
    plain = np.random.default_rng(3).standard_normal((2000, 2000), np.float32)
    awkward = np.zeros((2000, 4000), np.float16).T[::2]
    tracemalloc.start()
    try:
        stats(plain)
        stats(awkward)
        compare(plain, awkward)
        compare(plain, plain.T)
        assert tracemalloc.get_traced_memory()[1] < 8 * blocks.BLOCK * 8  # eight blocks of float64; plain has 61
    finally:
        tracemalloc.stop()
