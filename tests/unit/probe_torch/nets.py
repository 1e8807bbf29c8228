"""Small networks and training steps for the tests of the PyTorch probe."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(6, 5)
        self.fc2 = nn.Linear(5, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(torch.tanh(self.fc1(x)))


class Cnn(nn.Module):
    """With what works in place, keeps statistics, and draws random numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Dropout(0.1)
        )
        self.fc1 = nn.Linear(4 * 9, 8)
        self.fc2 = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.features(x).flatten(1)
        return self.fc2(torch.tanh(self.fc1(hidden)))


def images_and_labels(count: int = 4) -> tuple[Tensor, Tensor]:
    return torch.randn(count, 1, 8, 8), torch.randint(0, 3, (count,))


def step(model: nn.Module, optimizer: torch.optim.Optimizer, images: Tensor, labels: Tensor) -> Tensor:
    """An ordinary training step."""
    optimizer.zero_grad()
    loss = functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss
