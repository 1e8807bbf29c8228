"""Which PyTorch is let in, told without one."""

from __future__ import annotations

from types import ModuleType

import pytest

from stepscope.probe.bootstrap import CannotDebug
from stepscope.probe.torch import entry


@pytest.mark.parametrize("version", ["1.13.1", "2.3.1+cpu", "2.0.0a0+git123"])
def test_one_that_is_too_old(version: str) -> None:
    torch = ModuleType("torch")
    torch.__version__ = version
    with pytest.raises(CannotDebug, match="is too old to be debugged"):
        entry.install(torch)
