"""Fixtures for tests of the PyTorch probe, which are passed over where there is no PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tracing import Watcher


@pytest.fixture
def watcher() -> Iterator[Callable[..., Watcher]]:
    from tracing import Watcher

    made: list[Watcher] = []

    def make(keep: bool = False) -> Watcher:
        made.append(Watcher(keep))
        return made[-1]

    yield make
    for one in made:
        one.tracer.close()


@pytest.fixture
def _fresh_dynamo() -> Iterator[None]:
    """What was compiled is forgotten, and what was noticed of it."""
    import torch._dynamo

    from stepscope.probe.torch import compat

    torch._dynamo.reset()
    yield
    torch._dynamo.reset()
    compat._hands_off = False


@pytest.fixture(autouse=True)
def _seeded() -> None:
    import torch

    torch.manual_seed(0)
