"""decode_bfloat16 on every bit pattern."""

from __future__ import annotations

import numpy as np
import pytest

from stepscope.core.tensors import decode_bfloat16


def test_every_pattern_is_the_upper_half_of_its_float32():
    bits = np.arange(1 << 16, dtype=np.uint16)
    values = decode_bfloat16(bits)
    assert values.dtype == np.float32
    np.testing.assert_array_equal(values.view(np.uint32) >> 16, bits)
    np.testing.assert_array_equal(values.view(np.uint32) & 0xFFFF, 0)


def test_known_values():
    bits = np.array([0x3F80, 0xC049, 0x0000, 0x7F80, 0xFF80, 0x7FC0], np.uint16)
    np.testing.assert_array_equal(
        decode_bfloat16(bits), np.array([1, -3.140625, 0, np.inf, -np.inf, np.nan], np.float32)
    )


@pytest.mark.parametrize("shape", [(), (0,), (4, 6)])
def test_shape_stays_and_layout_becomes_plain(shape):
    bits = np.full(shape, 0x3F80, ">u2")[..., ::2] if shape else np.array(0x3F80, ">u2")
    values = decode_bfloat16(bits)
    assert isinstance(values, np.ndarray)
    assert values.shape == bits.shape
    assert values.flags.c_contiguous
    assert (values == 1).all()


@pytest.mark.parametrize("wrong", [np.int16, np.float16, np.uint32])
def test_other_types_are_refused(wrong):
    with pytest.raises(ValueError, match="uint16"):
        decode_bfloat16(np.zeros(2, wrong))
