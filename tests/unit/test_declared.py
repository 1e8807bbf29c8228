"""How much room an output needs, by what the graph says of it."""

from __future__ import annotations

import pytest

from stepscope.core.declared import size
from stepscope.core.graph.records import TensorType


@pytest.mark.parametrize(
    ("dtype", "shape", "expected"),
    [
        ("float64", (2, 3), 48),
        ("bfloat16", (2, 3), 12),
        ("float8_e5m2", (2, 3), 6),
        ("float32", (), 4),
        ("bool", (0, 5), 0),
        ("a type that is to come", (10,), 40),
        ("", (10,), 40),
        ("float32", (-1, 3), 0),
        ("float32", None, 0),
    ],
)
def test_size(dtype, shape, expected):
    assert size(TensorType(dtype, shape)) == expected
