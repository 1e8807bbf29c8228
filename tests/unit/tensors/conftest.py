"""The tests of the figures run with the C kernel and without it."""

from __future__ import annotations

from unittest import mock

import pytest

from stepscope.core.tensors import one_pass


@pytest.fixture(scope="module", params=["kernel", "numpy"])
def implementation(request):
    """Which of the two makes the pass."""
    if request.param == "kernel":
        if one_pass.native is None:
            pytest.skip("this installation was built without a C compiler")
        yield request.param
    else:
        with mock.patch.object(one_pass, "native", None):
            yield request.param
