"""Figures, places, changes and facts of every type, layout and part of a tensor, against plain numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looks_samples import OFS, ask, doubles, expected, indices, samples, sought

from stepscope.core.errors import BadRequest
from stepscope.core.looks import (
    BeyondQuestion,
    FactsQuestion,
    HeatmapQuestion,
    HistogramQuestion,
    PlaceQuestion,
    ZeroSlices,
)
from stepscope.core.tensors import apply_index, stats
from stepscope.core.tensors.formats import FORMATS, decode

pytestmark = pytest.mark.usefixtures("implementation")


# ------------------------------------------------------------ parts


@settings(deadline=None)
@given(st.data(), samples())
def test_figures_of_a_part_are_those_of_numpy(data, sample):
    name, array, previous = sample
    index = data.draw(indices(array.shape))
    part = apply_index(array, index)
    figures, values = stats(part, name), doubles(expected(name, array, previous, "current", index))
    finite = values[np.isfinite(values)]
    assert (figures.shape, figures.count) == (values.shape, values.size)
    assert figures.nan_count == np.isnan(values).sum()
    assert figures.zero_count == (values == 0).sum()
    assert figures.negative_count == (values < 0).sum()
    assert figures.positive_count == (values > 0).sum()
    if finite.size:
        assert (figures.min, figures.max) == (finite.min(), finite.max())
        if np.abs(finite).max() < 1e150:
            assert figures.std == pytest.approx(finite.std(), rel=1e-6, abs=1e-9 * np.abs(finite).max())


# ------------------------------------------------------------ places


@settings(deadline=None)
@given(st.data(), samples(), OFS, st.sampled_from(["nonfinite", "nan", "inf", "max", "min"]))
def test_place(data, sample, of, what):
    name, array, previous = sample
    index = data.draw(indices(array.shape))
    values = expected(name, array, previous, of, index)
    after = data.draw(st.one_of(st.none(), st.integers(0, values.size + 2)))
    found = ask(PlaceQuestion(what, after, of, index), array, previous, name)
    places = sought(values, what)
    assert found.count == len(places)
    if not len(places):
        assert (found.position, found.flat, found.value) == (None, None, "")
        return
    behind = places if after is None else places[places > after]
    assert found.flat == (behind[0] if len(behind) else places[0])
    assert found.position == np.unravel_index(found.flat, values.shape)
    if array.dtype.kind == "c":
        assert abs(complex(found.value)) == pytest.approx(values[found.position], rel=1e-6, nan_ok=True)
    elif values.dtype == object:
        assert int(found.value) == values[found.position]
    elif array.dtype.kind != "b":
        kind = np.float64 if name == "float64" or of == "difference" else np.float32
        with np.errstate(all="ignore"):
            np.testing.assert_equal(kind(found.value), kind(values[found.position]))


def test_whole_numbers_are_told_to_the_last_digit():
    array = np.array([2**63 - 1, 2**63 - 2, -(2**63)], np.int64)
    assert ask(PlaceQuestion("max"), array).value == "9223372036854775807"
    assert ask(PlaceQuestion("max"), array).count == 1
    unsigned = np.array([2**64 - 2, 2**64 - 1], np.uint64)
    assert (ask(PlaceQuestion("max"), unsigned).flat, ask(PlaceQuestion("min"), unsigned).flat) == (1, 0)
    assert ask(PlaceQuestion("max"), np.array([65504, 0.1], np.float16)).value == "65504.0"
    assert ask(PlaceQuestion("max"), np.array([0.1], np.float32)).value == "0.1"


# ------------------------------------------------------------ beyond


@settings(deadline=None)
@given(st.data(), samples(), st.floats(0, allow_nan=False))
def test_beyond(data, sample, threshold):
    name, array, previous = sample
    index = data.draw(indices(array.shape))
    found = ask(BeyondQuestion(threshold, index), array, previous, name)
    change = expected(name, array, previous, "difference", index)
    now, before = (apply_index(each, index) for each in (array, previous))
    if name in FORMATS:
        now, before = decode(now, name), decode(before, name)
    with np.errstate(all="ignore"):
        equal = (now == before) | (np.isnan(now) & np.isnan(before) if now.dtype.kind in "fc" else False)
    assert found.of == change.size
    assert found.count == (~(np.abs(change) <= threshold) & ~equal).sum()


def test_beyond_a_threshold():
    now = np.array([0, 1.5, np.nan, np.nan, np.inf, np.inf, -np.inf])
    before = np.array([0.5, 0, np.nan, 1, np.inf, -np.inf, 0])
    assert ask(BeyondQuestion(0.5), now, before).count == 4
    assert ask(BeyondQuestion(1.5), now, before).count == 3
    wrapped = ask(BeyondQuestion(254), np.array([0, 255], np.uint8), np.array([255, 0], np.uint8))
    assert wrapped.count == 2


def test_values_of_different_shapes_are_not_compared():
    with pytest.raises(BadRequest, match="can't compare"):
        ask(BeyondQuestion(0), np.zeros(3), np.zeros(4))


# ------------------------------------------------------------ facts


@settings(deadline=None)
@given(samples(), st.booleans())
def test_facts(sample, zeros):
    name, array, _ = sample
    if zeros and array.ndim:
        array = array.copy()
        array[::3] = 0
        array[(slice(None),) * (array.ndim > 1) + (slice(None, None, 2),)] = 0
    found = ask(FactsQuestion(), array, None, name)
    values = expected(name, array, array, "current", None)
    places = sought(values, "nonfinite")
    first = tuple(np.unravel_index(places[0], values.shape)) if len(places) else None
    assert found.first_nonfinite == first
    assert (found.at_min, found.at_max) == (len(sought(values, "min")), len(sought(values, "max")))
    slices = []
    for axis in range(min(values.ndim - 1, 2)) if values.size else ():
        flat = np.moveaxis(doubles(values), axis, 0).reshape(values.shape[axis], -1)
        slices.append(ZeroSlices(axis, int((flat == 0).all(axis=1).sum()), values.shape[axis]))
    assert found.zero_slices == tuple(slices)


def test_zero_slices_of_more_than_a_block():
    array = np.ones((3, 2, 100_000), np.float32)
    array[1] = 0
    assert ask(FactsQuestion(), array).zero_slices == (ZeroSlices(0, 1, 3), ZeroSlices(1, 0, 2))
    array[:, 1] = 0
    assert ask(FactsQuestion(), array).zero_slices == (ZeroSlices(0, 1, 3), ZeroSlices(1, 1, 2))


# ------------------------------------------------------------ what can't be


@pytest.mark.parametrize("value", ["a", b"a", None])
@pytest.mark.parametrize(
    "question", [HistogramQuestion(), HeatmapQuestion(1, 1), PlaceQuestion("max"), BeyondQuestion(0), FactsQuestion()]
)
def test_what_holds_no_numbers_is_refused_in_one_line(question, value):
    with pytest.raises(BadRequest, match="no numbers") as refused:
        ask(question, np.array([value]))
    assert "\n" not in str(refused.value)
