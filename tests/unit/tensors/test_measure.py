"""measure against plain float64 arithmetic, over all types, layouts and sizes."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tensor_samples import NAMES, SIZES, as_doubles, elements, layouts

from stepscope.core.errors import BadRequest
from stepscope.core.tensors import Figures, all_finite, measure

pytestmark = pytest.mark.usefixtures("implementation")

RANGES = [(-math.inf, math.inf), (-1.0, 1.0), (0.1, 3e38), (2.0, -2.0), (0.0, 0.0)]
PAIRS = st.tuples(st.floats(), st.floats())
TOLERANCES = [(0.0, 0.0), (1e-5, 1e-8), (0.0, 1e300), (0.5, 1.0)]


def quietly(*arguments, **keywords) -> Figures:
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("error")
        return measure(*arguments, **keywords)


def check_counts(figures: Figures, wide: np.ndarray, ranges: list[tuple[float, float]] = RANGES) -> None:
    assert figures.count == wide.size
    assert figures.nan_count == np.isnan(wide).sum()
    assert figures.positive_inf_count == np.isposinf(wide).sum()
    assert figures.negative_inf_count == np.isneginf(wide).sum()
    assert figures.zero_count == (wide == 0).sum()
    assert figures.negative_count == (wide < 0).sum()
    assert figures.positive_count == (wide > 0).sum()
    assert figures.in_range == tuple(((wide >= start) & (wide <= end)).sum() for start, end in ranges)


def scaled(values: np.ndarray) -> tuple[np.ndarray, float]:
    """The values brought near 1 by a power of two, so that no sum of theirs overflows, and that power."""
    largest = float(np.abs(values).max())
    power = math.frexp(largest)[1]
    return np.ldexp(np.ldexp(values, -(power // 2)), -(power - power // 2)), power


def check_moments(figures: Figures, wide: np.ndarray) -> None:
    finite = wide[np.isfinite(wide)]
    if not finite.size:
        assert all(map(math.isnan, (figures.min, figures.max, figures.mean, figures.abs_mean, figures.std)))
        return
    assert (figures.min, figures.max) == (finite.min(), finite.max())
    unit, power = scaled(finite)
    got = [math.ldexp(figure, -power) for figure in (figures.mean, figures.abs_mean, figures.std)]
    mean = math.fsum(unit) / unit.size
    expected = [mean, np.abs(unit).mean(), math.sqrt(((unit - mean) ** 2).mean())]
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)


@settings(deadline=None)
@given(st.data(), st.sampled_from(NAMES), SIZES, st.integers(0, 1000), st.booleans())
def test_figures_of_a_value(data, name, size, seed, wild):
    array = data.draw(layouts(elements(name, size, seed, wild)))
    ranges = [*RANGES, *data.draw(st.lists(PAIRS, max_size=2))]
    figures = quietly(array, ranges=ranges, dtype=name)
    wide = as_doubles(array, name)
    check_counts(figures, wide, ranges)
    check_moments(figures, wide)
    assert all_finite(array, name) == np.isfinite(wide).all()
    assert (figures.abs_change, figures.abs_previous, figures.close) == (None, None, ())


@settings(deadline=None)
@given(st.data(), st.sampled_from(NAMES), SIZES, st.integers(0, 1000), st.booleans(), st.booleans())
def test_figures_of_a_change(data, name, size, seed, wild, other_layout):
    array = data.draw(layouts(elements(name, size, seed, wild)))
    other = elements(name, array.size, seed + 1, data.draw(st.booleans())).reshape(array.shape)
    same = np.random.default_rng(seed).random(array.shape) < data.draw(st.sampled_from([0.0, 0.9, 1.0]))
    previous = np.where(same, array, other).astype(array.dtype)
    if other_layout and array.ndim:
        previous = np.asfortranarray(previous[::-1])[::-1]
    tolerances = [*TOLERANCES, *data.draw(st.lists(PAIRS, max_size=2))]
    figures = quietly(array, previous, RANGES, tolerances, name)
    check_counts(figures, as_doubles(array, name))
    check_moments(figures, as_doubles(array, name))
    check_change(figures, array, previous, name, tolerances)


def check_change(
    figures: Figures, array: np.ndarray, previous: np.ndarray, name: str, tolerances: list[tuple[float, float]]
) -> None:
    p = as_doubles(previous, name)
    with np.errstate(all="ignore"):
        if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
            exact = [int(x) - int(y) for x, y in zip(array.ravel(), previous.ravel(), strict=True)]
            change = np.abs(np.array(exact, np.float64).reshape(array.shape))
        else:
            change = np.abs(as_doubles(array, name) - p)
        close = tuple(bool((change <= atol + rtol * np.abs(p)).all()) for rtol, atol in tolerances)
        share = (change / (np.abs(p) + 1e-9))[np.isfinite(change) & np.isfinite(p)]
    assert figures.close == close
    assert (figures.previous_nan, figures.previous_inf) == (np.isnan(p).any(), np.isinf(p).any())
    both = np.isfinite(as_doubles(array, name)) & np.isfinite(p)
    for figure, finite in ((figures.abs_change, change[both]), (figures.abs_previous, np.abs(p[np.isfinite(p)]))):
        if not finite.size or np.isinf(finite).any():
            np.testing.assert_equal(figure, math.inf if finite.size else math.nan)
            continue
        unit, power = scaled(finite)
        assert math.ldexp(figure, -power) == pytest.approx(unit.mean(), rel=1e-11, abs=1e-300)
    np.testing.assert_equal(figures.max_relative_change, share.max() if share.size else math.nan)


def test_a_change_needs_the_same_shape():
    figures = measure(np.ones((2, 3)), np.ones((3, 2)), tolerances=[(0.0, 0.0)])
    assert (figures.abs_change, figures.abs_previous, figures.max_relative_change) == (None, None, None)
    assert figures.close == ()
    assert figures.count == 6


def test_types_that_differ_are_compared_as_doubles():
    figures = measure(np.array([1, 2, 3], np.int32), np.array([1, 2.5, 3], np.float16), tolerances=[(0.0, 0.5)])
    assert (figures.abs_change, figures.close) == (pytest.approx(0.5 / 3), (True,))
    bits = np.array([0x3F80, 0x4000], np.uint16)  # 1 and 2 in bfloat16
    figures = measure(bits, np.array([1, 4], np.float32), dtype="bfloat16")
    assert (figures.abs_change, figures.abs_previous, figures.max) == (1, 2.5, 2)


def test_an_integer_beyond_the_doubles_counts_as_its_double():
    figures = measure(np.array([2**53 + 1]), np.array([2**53]), [(0.0, 2.0**53)], [(0.0, 0.0), (0.0, 1.0)])
    assert figures.in_range == (1,)
    assert figures.abs_change == 1
    assert figures.close == (False, True)


def test_the_largest_doubles_do_not_overflow():
    largest = np.array([1.7e308, -1.7e308])
    figures = measure(largest, -largest, tolerances=[(1.0, 1e-8)])
    assert (figures.mean, figures.abs_mean, figures.std) == (0, 1.7e308, 1.7e308)
    assert figures.abs_change == math.inf  # no double holds 3.4e308
    assert figures.close == (False,)
    assert measure(np.full(100_000, 1.7e308)).mean == 1.7e308
    assert measure(np.zeros(5000), np.full(5000, 1.7e308)).abs_change == 1.7e308


@pytest.mark.parametrize("swapped", [">f4", ">i8", ">f8", ">u2"])
def test_byte_order_does_not_matter(swapped):
    array = np.arange(-3, 1000).astype(swapped)
    assert measure(array, array[::-1], RANGES, TOLERANCES) == measure(
        array.astype(array.dtype.newbyteorder("=")), array[::-1], RANGES, TOLERANCES
    )


def test_complex_elements_count_by_their_magnitude():
    figures = measure(np.array([3 + 4j, 0]), np.array([3, 0j]), [(5.0, 5.0)], [(0.0, 4.0), (0.0, 3.9)])
    assert (figures.max, figures.mean, figures.zero_count, figures.in_range) == (5, 2.5, 1, (1,))
    assert (figures.abs_change, figures.abs_previous, figures.close) == (2, 1.5, (True, False))


def test_a_single_element_that_is_not_finite_is_found_wherever_it_is():
    for name in ("float16", "float32", "float64"):
        for bad in (np.nan, np.inf, -np.inf):
            for place in (0, 4095, 4096, 9999):
                array = np.full(10_000, np.finfo(name).max, name)
                assert all_finite(array)
                array[place] = bad
                assert not all_finite(array)
                assert not all_finite(array.reshape(100, 100).T)


def test_what_holds_no_numbers_is_refused():
    with pytest.raises(BadRequest, match="numbers"):
        measure(np.array(["a"]))


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_data_types_of_ml_dtypes_are_known(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    bits = np.arange(256 if name != "bfloat16" else 65536).astype(np.uint16 if name == "bfloat16" else np.uint8)
    array = bits.view(getattr(ml_dtypes, name))
    check_counts(measure(array[::-1], ranges=RANGES), as_doubles(bits[::-1], name))
    np.testing.assert_equal(measure(array), measure(bits, dtype=name))
