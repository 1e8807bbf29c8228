"""Tensors as arrays: the same memory, of which nothing changes for the tensor."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from stepscope.core.errors import NotAvailable  # noqa: E402
from stepscope.probe.torch import arrays  # noqa: E402
from stepscope.probe.torch.memory import array_of  # noqa: E402

pytestmark = pytest.mark.torch

DTYPES = [torch.float32, torch.float64, torch.float16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]
DTYPES += [torch.bool, torch.complex64, torch.complex128]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_an_array_is_what_numpy_would_have_made(dtype) -> None:
    x = (torch.rand(4, 3, 5) * 9).to(dtype)
    for one in (x, x.mT, x[1:, :, ::2], x.expand(2, 4, 3, 5), x[2, 1, 3], x[:0], x.permute(2, 0, 1)[1:]):
        found, wanted = array_of(one), one.numpy()
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        assert np.array_equal(found, wanted)
        assert found.strides == wanted.strides or 1 in found.shape or found.size == 0
        assert not found.flags.writeable or found.size == 0


def test_formats_that_numpy_lacks_come_as_their_bits() -> None:
    x = torch.tensor([1.0, -2.0], dtype=torch.bfloat16)
    assert array_of(x).tolist() == [0x3F80, 0xC000]
    with pytest.raises(TypeError, match="complex32"):
        array_of(torch.zeros(2, dtype=torch.complex32))


def test_an_array_keeps_its_tensor_and_shows_what_is_written() -> None:
    x = torch.zeros(3)
    array, gone = array_of(x), weakref.ref(x)
    x[1] = 7
    del x
    gc.collect()
    assert array.tolist() == [0, 7, 0]
    del array
    gc.collect()
    assert gone() is None


def test_a_storage_may_be_resized_afterwards() -> None:
    """As FSDP does with the weights that it has gathered."""
    x = torch.ones(8)
    for look in (arrays.plain, arrays.as_bits, array_of):
        look(x)
    assert x.untyped_storage().resizable()


@pytest.mark.parametrize("left", [0, 8])
def test_memory_that_was_given_back_is_not_read(left) -> None:
    x = torch.ones(1 << 16)
    part, other = x[100:], x[4:].view(4, -1).t()
    x.untyped_storage().resize_(left)
    for one in (x, part, other):
        assert arrays.plain(one) is None
        with pytest.raises(NotAvailable, match="given back"):
            arrays.as_bits(one)
