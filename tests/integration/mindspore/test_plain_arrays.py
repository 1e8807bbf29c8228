"""The engine on tensors of the real MindSpore, without any training."""

from __future__ import annotations

import pytest

import stepscope

pytestmark = pytest.mark.mindspore


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_tensors_are_taken_as_they_are(dtype):
    mindspore = pytest.importorskip("mindspore")
    values = [[1.0, -2.0], [0.0, float("inf")]]
    tensor = mindspore.Tensor(values, getattr(mindspore, dtype))
    figures = stepscope.stats(tensor)
    assert (figures.count, figures.zero_count, figures.positive_inf_count, figures.min) == (4, 1, 1, -2.0)
    assert figures.shape == (2, 2)
    assert stepscope.evaluate("tensor_overflow", tensor).hit
    assert set(stepscope.evaluate("weight_too_large", tensor, max_gt=0.5).error) == {"inf"}
    small = mindspore.Tensor([0.5, 0.25], getattr(mindspore, dtype))
    assert stepscope.evaluate("weight_not_changed", small, previous=small).hit
