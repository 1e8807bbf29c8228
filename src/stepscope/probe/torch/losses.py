"""The loss of a step: what its last backward pass began at, before a gradient scaler multiplied it."""

from __future__ import annotations

import contextlib
from typing import Any

import torch

from stepscope.probe.torch import compat


class Losses:
    def __init__(self) -> None:
        self._loss: torch.Tensor | None = None
        self._scaled: Any = (None, None)  # of a gradient scaler: what it made of which loss

    def backward_of(self, roots: Any) -> None:
        """A backward pass begins at these tensors."""
        first = roots[0] if isinstance(roots, (tuple, list)) and roots else roots
        scaled, loss = self._scaled
        with contextlib.suppress(Exception), compat.unseen_by_others():  # of whatever kind it is
            if isinstance(first, torch.Tensor) and first.numel() == 1:
                self._loss = (loss if first is scaled else first).detach()
        self._scaled = (None, None)

    def is_scaled(self, scaled: torch.Tensor, loss: torch.Tensor) -> None:
        """The backward pass will begin at a multiple of the loss."""
        self._scaled = (scaled, loss)

    def read(self) -> float | None:
        """The last one; None for none that is a number."""
        try:
            return None if self._loss is None else float(self._loss)
        except Exception:  # complex, or of a kind of tensor that has no number
            return None
