"""parse_index and apply_index against Python's own subscripts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from stepscope.core.errors import BadRequest
from stepscope.core.tensors import apply_index, index_shape, parse_index


def written(part) -> str:
    if part is Ellipsis:
        return "..."
    if isinstance(part, slice):
        bounds = (part.start, part.stop) if part.step is None else (part.start, part.stop, part.step)
        return ":".join("" if bound is None else str(bound) for bound in bounds)
    return str(part)


@settings(deadline=None)
@given(st.data())
def test_text_selects_what_python_selects(data):
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=4, max_side=5))
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    index = data.draw(hnp.basic_indices(shape))
    index = index if isinstance(index, tuple) else (index,)
    blanks = data.draw(st.sampled_from(["", " "]))
    text = f"{blanks},{blanks}".join(map(written, index))
    selected = apply_index(array, text)
    expected = np.asarray(array[index])
    assert isinstance(selected, np.ndarray)
    assert selected.shape == expected.shape
    np.testing.assert_array_equal(selected, expected)
    assert selected.size == 0 or np.shares_memory(selected, array)
    assert index_shape(text, shape) == expected.shape
    assert len(parse_index(text, shape)) == len(shape)


def test_parsed_form_has_one_entry_a_dimension():
    assert parse_index("0, :, 3:5", (4, 4, 9, 7)) == (0, slice(None), slice(3, 5), slice(None))
    assert parse_index("..., ::-2", (4, 4, 9)) == (slice(None), slice(None), slice(None, None, -2))
    assert parse_index("-1, ..., 2:", (4, 4, 9)) == (-1, slice(None), slice(2, None))
    assert parse_index("1,", (4, 4)) == (1, slice(None))


@pytest.mark.parametrize("text", [None, "", " ", "...", ":", ":,:", "0:99999999999999999999999"])
def test_whole_tensor(text):
    array = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(apply_index(array, text), array)
    assert index_shape(text, array.shape) == array.shape


@pytest.mark.parametrize("text", ["", "..."])
def test_whole_scalar(text):
    assert apply_index(np.array(5), text) == 5


def test_a_single_element_is_a_view():
    array = np.zeros((2, 3))
    element = apply_index(array, "1, 2")
    array[1, 2] = 4
    assert (element.shape, element[()]) == ((), 4)


@pytest.mark.parametrize(
    ("text", "shape", "message"),
    [
        ("0, 5", (3, 5), "dimension 1 (size 5): '5' is out of range; -5 to 4 are allowed"),
        ("-4", (3,), "dimension 0 (size 3): '-4' is out of range; -3 to 2 are allowed"),
        ("0", (0,), "dimension 0 (size 0): '0' is out of range; the dimension is empty"),
        ("..., a", (3, 5), "dimension 1 (size 5): 'a' is not a whole number or a slice such as 2:5 or ::-1"),
        ("1.5", (3,), "dimension 0 (size 3): '1.5' is not a whole number or a slice such as 2:5 or ::-1"),
        ("1:x", (3,), "dimension 0 (size 3): '1:x' is not a whole number or a slice such as 2:5 or ::-1"),
        ("None", (3,), "dimension 0 (size 3): 'None' is not a whole number or a slice such as 2:5 or ::-1"),
        (":, ::0", (3, 5), "dimension 1 (size 5): '::0' has a step of 0"),
        ("1:2:3:4", (3,), "dimension 0 (size 3): '1:2:3:4' has more than two colons"),
        ("0,,1", (3, 5, 2), "dimension 1 (size 5): '' is empty; write ':' for the whole dimension"),
        (", 1", (3, 5), "dimension 0 (size 3): '' is empty; write ':' for the whole dimension"),
        ("0, 1, 2", (3, 5), "3 dimensions in '0, 1, 2', but the tensor has 2: shape (3, 5)"),
        ("0", (), "1 dimensions in '0', but the tensor has 0: shape ()"),
        ("..., 0, ...", (3, 5), "an index can have only one '...': '..., 0, ...'"),
        (
            "9" * 5000,
            (3,),
            f"dimension 0 (size 3): '{'9' * 37}...' is not a whole number or a slice such as 2:5 or ::-1",
        ),
    ],
)
def test_mistakes_are_named(text, shape, message):
    with pytest.raises(BadRequest) as caught:
        parse_index(text, shape)
    assert str(caught.value) == message


@settings(deadline=None)
@given(st.text(alphabet="0123456789-+:., []aN", max_size=20), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0))
def test_any_text_gives_a_part_or_bad_request(text, shape):
    try:
        index = parse_index(text, shape)
    except BadRequest:
        return
    assert len(index) == len(shape)
    assert apply_index(np.zeros(shape), text).ndim <= len(shape)
