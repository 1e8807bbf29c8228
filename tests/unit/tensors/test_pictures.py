"""Histograms and heat maps of every type, layout and part of a tensor, against plain numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looks_samples import OFS, ask, doubles, expected, indices, samples

from stepscope.core.errors import BadRequest
from stepscope.core.looks import (
    HeatmapQuestion,
    HistogramQuestion,
)

pytestmark = pytest.mark.usefixtures("implementation")


# ------------------------------------------------------------ histogram


@settings(deadline=None)
@given(st.data(), samples(), OFS, st.integers(1, 70))
def test_histogram(data, sample, of, bins):
    name, array, previous = sample
    index = data.draw(indices(array.shape))
    found = ask(HistogramQuestion(of, index, bins), array, previous, name)
    values = expected(name, array, previous, of, index)
    plain = doubles(values)
    finite = plain[np.isfinite(plain)]
    assert (found.shape, found.count, found.step) == (values.shape, values.size, 4 if of == "previous" else 5)
    assert found.nan_count == np.isnan(plain).sum()
    assert (found.positive_inf_count, found.negative_inf_count) == (np.isposinf(plain).sum(), np.isneginf(plain).sum())
    assert sum(found.counts) == finite.size
    if not finite.size:
        assert found.counts == ()
        assert math.isnan(found.low)
    elif values.dtype == object:
        check_whole_bins(found, values.ravel().tolist(), bins)
    elif array.dtype.kind == "b":
        assert found.counts == ((plain == 0).sum(), (plain == 1).sum())
    else:
        check_bins(found, finite, bins)


def check_bins(found, finite: np.ndarray, bins: int) -> None:
    low, high = finite.min(), finite.max()
    assert (found.low, found.high) == (found.start, found.end) == (low, high)
    if low == high:
        assert found.counts == (finite.size,)
        return
    assert len(found.counts) == bins
    unit = 2.0 if math.isinf(float(high) - float(low)) else 1.0
    share = (finite / unit - low / unit) / (high / unit - low / unit) * bins
    slack = 1e-9 * bins  # an element this near to a border may be on either side of it
    below = np.cumsum(found.counts)
    for border in range(1, bins):
        assert (share < border - slack).sum() <= below[border - 1] <= (share < border + slack).sum()


def check_whole_bins(found, values: list[int], bins: int) -> None:
    low, high = min(values), max(values)
    assert (found.low, found.high) == (float(low), float(high))
    width = -(-(high - low + 1) // bins)
    assert len(found.counts) == (high - low) // width + 1 <= bins
    counted = np.bincount([(value - low) // width for value in values], minlength=len(found.counts))
    assert found.counts == tuple(counted)
    assert (found.start, found.end) == (float(low), float(low + len(found.counts) * width))


def test_a_bin_has_its_lower_border_and_the_last_one_both():
    found = ask(HistogramQuestion(bins=4), np.array([0.0, 1.0, 2.0, 3.0, 3.5, 4.0]))
    assert (found.low, found.high, found.counts) == (0, 4, (1, 1, 1, 3))


def test_there_are_no_more_bins_than_whole_numbers():
    found = ask(HistogramQuestion(bins=60), np.array([3, 5, 5, 4, 3, 3], np.int8))
    assert (found.start, found.end, found.counts) == (3, 6, (3, 1, 2))
    extremes = np.array([-(2**63), 2**63 - 1, 0], np.int64)
    assert ask(HistogramQuestion(bins=2), extremes).counts == (1, 2)
    assert ask(HistogramQuestion(bins=1), extremes).counts == (3,)


@pytest.mark.parametrize("values", [[-1.7e308, 0.0, 1.7e308], [0.0, 5e-324, 1e-323]])
def test_bins_over_all_doubles_and_over_the_smallest(values):
    assert ask(HistogramQuestion(bins=3), np.array(values)).counts == (1, 1, 1)


# ------------------------------------------------------------ heat map


@settings(deadline=None)
@given(
    st.data(),
    samples(),
    OFS,
    st.sampled_from(["mean", "min", "max", "extreme"]),
    st.integers(1, 40),
    st.integers(1, 40),
)
def test_heatmap(data, sample, of, reduce, rows, columns):
    name, array, previous = sample
    index = data.draw(indices(array.shape))
    values = doubles(expected(name, array, previous, of, index))
    question = HeatmapQuestion(rows, columns, reduce, of, index)
    if values.ndim > 2:
        with pytest.raises(BadRequest, match="two dimensions") as refused:
            ask(question, array, previous, name)
        assert refused.value.field == "index"
        return
    found = ask(question, array, previous, name)
    plane = values.reshape((1,) * (2 - values.ndim) + values.shape)
    cells, flags = drawn(plane, min(rows, plane.shape[0]), min(columns, plane.shape[1]), reduce)
    assert found.shape == plane.shape
    assert (found.cells.shape, found.cells.dtype, found.flags.dtype) == (cells.shape, np.float32, np.uint8)
    np.testing.assert_array_equal(found.flags, flags)
    largest = np.abs(plane[np.isfinite(plane)]).max(initial=0)
    if reduce == "mean":
        scale = min(float(largest), float(np.finfo(np.float32).max))
        np.testing.assert_allclose(found.cells, cells, rtol=1e-6, atol=max(1e-6 * scale, 1e-44))
    else:
        np.testing.assert_array_equal(found.cells, cells)
    finite = found.cells[np.isfinite(found.cells)]
    if finite.size:
        assert (found.low, found.high) == (finite.min(), finite.max())
    else:
        assert math.isnan(found.low)


def drawn(plane: np.ndarray, rows: int, columns: int, reduce: str) -> tuple[np.ndarray, np.ndarray]:
    cells, flags = np.full((rows, columns), np.nan), np.zeros((rows, columns), np.uint8)
    height, width = plane.shape
    for i in range(rows):
        for j in range(columns):
            cell = plane[
                i * height // rows : (i + 1) * height // rows, j * width // columns : (j + 1) * width // columns
            ]
            flags[i, j] = np.isnan(cell).any() + 2 * np.isposinf(cell).any() + 4 * np.isneginf(cell).any()
            finite = cell[np.isfinite(cell)]
            if not finite.size:
                continue
            if reduce == "extreme":
                cells[i, j] = finite.max() if finite.max() >= -finite.min() else finite.min()
            else:
                cells[i, j] = (finite / finite.size).sum() if reduce == "mean" else getattr(finite, reduce)()
    largest = float(np.finfo(np.float32).max)
    with np.errstate(all="ignore"):
        return np.clip(cells, -largest, largest).astype(np.float32), flags


def test_with_as_many_cells_as_elements_they_are_the_values():
    array = np.array([[1.5, np.nan], [np.inf, -2.5]], np.float32)
    found = ask(HeatmapQuestion(9, 9), array)
    np.testing.assert_array_equal(found.cells, [[1.5, np.nan], [np.nan, -2.5]])
    assert found.flags.tolist() == [[0, 1], [2, 0]]


@pytest.mark.parametrize("shape", [(1, 300_000), (300_000, 1), (3, 100_000), (70_000, 5), (500, 600)])
def test_cells_of_more_than_a_block(shape):
    array = np.random.default_rng(0).normal(size=shape)
    array[0, 0], array[-1, -1] = np.nan, np.inf
    for reduce in ("mean", "max"):
        found = ask(HeatmapQuestion(2, 3, reduce), array)
        cells, flags = drawn(array, *found.cells.shape, reduce)
        np.testing.assert_allclose(found.cells, cells, rtol=1e-5, atol=1e-7)
        np.testing.assert_array_equal(found.flags, flags)
