"""Arrays of the frameworks as numpy arrays, without importing any of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_NARROW = ("bfloat16", "float8")  # types that numpy lacks; float32 holds all their values


def as_array(x: Any) -> NDArray[Any]:
    """An array of PyTorch, JAX, MindSpore or numpy, or what numpy makes one of, with the same values.

    What lies in numpy's reach is not copied; what is on a device is fetched.
    """
    if isinstance(x, np.ndarray):
        return x
    if hasattr(x, "detach") and hasattr(x, "cpu"):  # PyTorch
        x = x.detach().cpu()
    if (hasattr(x, "detach") or hasattr(x, "asnumpy")) and any(name in str(x.dtype).lower() for name in _NARROW):
        x = x.float()
    return np.asarray(x.asnumpy() if hasattr(x, "asnumpy") else x)
