"""The loss of a step: what its last backward pass began at, before a gradient scaler multiplied it."""

from __future__ import annotations

import contextlib
from typing import Any

import torch

from stepscope.probe.torch import compat


class Losses:
    """Nothing in here keeps a graph alive: a loss may be left without a backward pass."""

    def __init__(self) -> None:
        self._loss: torch.Tensor | None = None
        self._scaled: tuple[torch.UntypedStorage | None, torch.Tensor | None] = (None, None)
        """What a gradient scaler made, by its memory, which is no other's as long as it is held; and of which loss."""

    def backward_of(self, roots: Any) -> None:
        """A backward pass begins at these tensors."""
        first = roots[0] if isinstance(roots, (tuple, list)) and roots else roots
        memory, loss = self._scaled
        with contextlib.suppress(Exception), compat.unseen_by_others():  # of whatever kind it is
            if isinstance(first, torch.Tensor) and first.numel() == 1:
                self._loss = loss if _is_in(memory, first) else first.detach()
        self._scaled = (None, None)

    def is_scaled(self, scaled: torch.Tensor, loss: torch.Tensor) -> None:
        """The backward pass will begin at a multiple of the loss."""
        with contextlib.suppress(Exception), compat.unseen_by_others():
            if loss.numel() == 1:
                self._scaled = (_memory(scaled), loss.detach())

    def read(self) -> float | None:
        """The last one; None for none that is a number."""
        try:
            return None if self._loss is None else float(self._loss)
        except Exception:  # complex, or of a kind of tensor that has no number
            return None


def _is_in(memory: torch.UntypedStorage | None, tensor: torch.Tensor) -> bool:
    own = _memory(tensor) if memory is not None else None
    return memory is not None and own is not None and compat.storage_address(own) == compat.storage_address(memory)


def _memory(tensor: torch.Tensor) -> torch.UntypedStorage | None:
    try:
        return compat.plain(tensor).untyped_storage()
    except RuntimeError:  # it has none of its own
        return None
