"""Parts of a tensor by Python's slice syntax: "0, :, 3:5, ::-2, ...".

Invariant: text from users is only read as numbers and colons, never evaluated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.core.errors import BadRequest

Index = tuple["int | slice", ...]


def parse_index(text: str, shape: tuple[int, ...]) -> Index:
    """One whole number or slice for each dimension of `shape`.

    As in Python: negative numbers count from the end, slices may run past it, "..." stands for the dimensions left out
    (at the end it may be left out itself). Blank text is the whole tensor. Dimensions are counted from 0.
    Raises BadRequest, in one line that names the dimension, what was given and the size.
    """
    parts = [part.strip() for part in text.split(",")]
    if parts[-1] == "":  # blank, or a comma at the end as in a Python tuple
        parts.pop()
    if parts.count("...") > 1:
        raise _wrong(f"an index can have only one '...': {_short(text)}")
    if "..." not in parts:
        parts.append("...")
    missing = len(shape) - (len(parts) - 1)
    if missing < 0:
        raise _wrong(f"{len(parts) - 1} dimensions in {_short(text)}, but the tensor has {len(shape)}: shape {shape}")
    place = parts.index("...")
    parts[place : place + 1] = [":"] * missing
    return tuple(_parse_part(part, dimension, shape[dimension]) for dimension, part in enumerate(parts))


def index_shape(text: str | None, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of what `apply_index` gives for an array of `shape`."""
    if text is None:
        return shape
    parts = zip(parse_index(text, shape), shape, strict=True)
    return tuple(len(range(*part.indices(size))) for part, size in parts if isinstance(part, slice))


def apply_index(array: NDArray[Any], text: str | None) -> NDArray[Any]:
    """The part of `array` that `text` selects, as a view of it (of 0 dimensions for a single element); None is all."""
    if text is None:
        return array
    index = (*parse_index(text, array.shape), ...)  # with "..." a single element stays an array
    return np.asarray(array[index])


def _parse_part(part: str, dimension: int, size: int) -> int | slice:
    where = f"dimension {dimension} (size {size}): {_short(part)}"
    try:
        numbers = [int(piece) if piece.strip() else None for piece in part.split(":")]
    except ValueError:
        raise _wrong(f"{where} is not a whole number or a slice such as 2:5 or ::-1") from None
    if len(numbers) > 3:
        raise _wrong(f"{where} has more than two colons")
    if len(numbers) > 1:
        if len(numbers) == 3 and numbers[2] == 0:
            raise _wrong(f"{where} has a step of 0")
        return slice(*numbers)
    number = numbers[0]
    if number is None:
        raise _wrong(f"{where} is empty; write ':' for the whole dimension")
    if not -size <= number < size:
        allowed = f"{-size} to {size - 1} are allowed" if size else "the dimension is empty"
        raise _wrong(f"{where} is out of range; {allowed}")
    return number


def _wrong(message: str) -> BadRequest:
    return BadRequest(message, field="index")


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")
