"""An ordinary MindSpore training: a small LeNet learns handwritten digits of 8x8 pixels, in graph mode.

Nothing in here knows of a debugger. With `--bug`, one well-known fault is planted:

    nan          a hand-written cross entropy, in half precision to save memory: log(softmax(x)) is fine until
                 the network is so sure of itself that a probability is rounded to zero
    frozen       the parameters of one layer were forgotten when the optimizer was made
    exploding    a learning rate that is far too high
    dead-relu    a bias so low that the ReLU behind it lets nothing through

    python mindspore_train.py --bug nan
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

BUGS = ("none", "nan", "frozen", "exploding", "dead-relu")
TRAINING_IMAGES = 1500  # of 1,797; the others are for the test


class LeNet(nn.Cell):
    """(N, 1, 8, 8) -> (N, 10)"""

    def __init__(self, bug: str):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, has_bias=True)
        self.conv2 = nn.Conv2d(6, 16, 3, has_bias=True)
        self.pool = nn.MaxPool2d(2, 2)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(16 * 2 * 2, 120, bias_init=-20.0 if bug == "dead-relu" else None)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, 10)

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.flatten(x)
        x = self.relu(self.fc1(x))
        x = self.relu(self.fc2(x))
        return self.fc3(x)


class NaiveCrossEntropy(nn.Cell):
    """The formula as it stands in the textbook: fault "nan"."""

    def construct(self, logits, labels):
        probabilities = ops.softmax(logits).astype(ms.float16)
        expected = ops.one_hot(labels, 10, Tensor(1.0, ms.float16), Tensor(0.0, ms.float16))
        return -(expected * ops.log(probabilities)).astype(ms.float32).sum(axis=1).mean()


def read_digits(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """All images, float32 (1797, 1, 8, 8) of 0 to 16, and their labels, int32 (1797,), in a random order."""
    data = np.load(Path(__file__).with_name("digits.npz"))
    order = rng.permutation(len(data["labels"]))
    images = data["images"].astype(np.float32).reshape(-1, 1, 8, 8)
    return images[order], data["labels"].astype(np.int32)[order]


def batches(images: np.ndarray, labels: np.ndarray, size: int, rng: np.random.Generator) -> Iterator[tuple]:
    """The images in a new random order, `size` at a time; what is left over at the end is not used."""
    order = rng.permutation(len(images))
    for start in range(0, len(order) - size + 1, size):
        chosen = order[start : start + size]
        yield Tensor(images[chosen]), Tensor(labels[chosen])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bug", choices=BUGS, default="none")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--learning-rate", type=float, help="default: 0.02; 5 with --bug exploding")
    parser.add_argument("--seed", type=int, default=2)
    arguments = parser.parse_args()

    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_seed(arguments.seed)
    rng = np.random.default_rng(arguments.seed)
    images, labels = read_digits(rng)

    network = LeNet(arguments.bug)
    loss = NaiveCrossEntropy() if arguments.bug == "nan" else nn.CrossEntropyLoss()
    parameters = network.trainable_params()
    if arguments.bug == "frozen":
        parameters = [parameter for parameter in parameters if not parameter.name.startswith("conv2.")]
    learning_rate = arguments.learning_rate or (5.0 if arguments.bug == "exploding" else 0.02)
    optimizer = nn.Momentum(parameters, learning_rate, momentum=0.9)
    training = nn.TrainOneStepCell(nn.WithLossCell(network, loss), optimizer)
    training.set_train()

    step = 0
    for epoch in range(1, arguments.epochs + 1):
        for batch in batches(images[:TRAINING_IMAGES], labels[:TRAINING_IMAGES], arguments.batch_size, rng):
            value = float(training(*batch).asnumpy())
            step += 1
            print(f"epoch {epoch}, step {step}: loss {value:.4f}", flush=True)

    network.set_train(False)
    logits = network(Tensor(images[TRAINING_IMAGES:])).asnumpy()
    accuracy = float((logits.argmax(axis=1) == labels[TRAINING_IMAGES:]).mean())
    print(f"accuracy on {len(logits)} images that were not trained on: {accuracy:.1%}", flush=True)


if __name__ == "__main__":
    main()
