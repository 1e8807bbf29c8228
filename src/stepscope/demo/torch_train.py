"""An ordinary PyTorch training: a small LeNet learns handwritten digits of 8x8 pixels.

Nothing in here knows of a debugger. With `--bug`, one well-known fault is planted:

    nan          a hand-written cross entropy, in half precision to save memory: log(softmax(x)) is fine until
                 the network is so sure of itself that a probability is rounded to zero
    frozen       the parameters of one layer were forgotten when the optimizer was made
    exploding    a learning rate that is far too high
    dead-relu    a bias so low that the ReLU behind it lets nothing through

    python torch_train.py --bug nan
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

BUGS = ("none", "nan", "frozen", "exploding", "dead-relu")
TRAINING_IMAGES = 1500  # of 1,797; the others are for the test


class LeNet(nn.Module):
    """(N, 1, 8, 8) -> (N, 10)"""

    def __init__(self, bug: str):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, padding=1)
        self.conv2 = nn.Conv2d(6, 16, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.fc1 = nn.Linear(16 * 2 * 2, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)
        if bug == "dead-relu":
            nn.init.constant_(self.fc1.bias, -20.0)

    def forward(self, x: Tensor) -> Tensor:
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.flatten(x)
        x = self.relu(self.fc1(x))
        x = self.relu(self.fc2(x))
        return self.fc3(x)


class NaiveCrossEntropy(nn.Module):
    """The formula as it stands in the textbook: fault "nan"."""

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        probabilities = torch.softmax(logits, dim=1).half()
        expected = F.one_hot(labels, 10).half()
        return -(expected * torch.log(probabilities)).float().sum(dim=1).mean()


def read_digits(seed: int) -> tuple[Tensor, Tensor]:
    """All images, float32 (1797, 1, 8, 8) of 0 to 16, and their labels, int64 (1797,), in a random order."""
    data = np.load(Path(__file__).with_name("digits.npz"))
    order = np.random.default_rng(seed).permutation(len(data["labels"]))
    images = data["images"].astype(np.float32).reshape(-1, 1, 8, 8)
    return torch.from_numpy(images[order]), torch.from_numpy(data["labels"].astype(np.int64)[order])


def batches(images: Tensor, labels: Tensor, size: int) -> Iterator[tuple[Tensor, Tensor]]:
    """The images in a new random order, `size` at a time; what is left over at the end is not used."""
    order = torch.randperm(len(images))
    for start in range(0, len(order) - size + 1, size):
        chosen = order[start : start + size]
        yield images[chosen], labels[chosen]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bug", choices=BUGS, default="none")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--learning-rate", type=float, help="default: 0.02; 5 with --bug exploding")
    parser.add_argument("--seed", type=int, default=4)
    arguments = parser.parse_args()

    torch.manual_seed(arguments.seed)
    images, labels = read_digits(arguments.seed)

    network = LeNet(arguments.bug)
    loss_of = NaiveCrossEntropy() if arguments.bug == "nan" else nn.CrossEntropyLoss()
    parameters = list(network.parameters())
    if arguments.bug == "frozen":
        parameters = [one for name, one in network.named_parameters() if not name.startswith("conv2.")]
    learning_rate = arguments.learning_rate or (5.0 if arguments.bug == "exploding" else 0.02)
    optimizer = torch.optim.SGD(parameters, learning_rate, momentum=0.9)

    step = 0
    for epoch in range(1, arguments.epochs + 1):
        for inputs, expected in batches(images[:TRAINING_IMAGES], labels[:TRAINING_IMAGES], arguments.batch_size):
            optimizer.zero_grad()
            loss = loss_of(network(inputs), expected)
            loss.backward()
            optimizer.step()
            step += 1
            print(f"epoch {epoch}, step {step}: loss {loss.item():.4f}", flush=True)

    network.eval()
    with torch.no_grad():
        found = network(images[TRAINING_IMAGES:]).argmax(dim=1)
    accuracy = (found == labels[TRAINING_IMAGES:]).float().mean().item()
    print(f"accuracy on {len(found)} images that were not trained on: {accuracy:.1%}", flush=True)


if __name__ == "__main__":
    main()
