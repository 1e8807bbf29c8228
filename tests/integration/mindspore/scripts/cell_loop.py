"""A LeNet-like network in a loop over TrainOneStepCell: one graph, Momentum."""

from hashlib import sha256

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(1)
rng = np.random.default_rng(0)


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, pad_mode="same")
        self.conv2 = nn.Conv2d(6, 16, 3, pad_mode="valid")
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(16 * 3 * 3, 32)
        self.fc2 = nn.Dense(32, 10)

    def construct(self, x):
        x = self.relu(self.conv1(x))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.relu(self.fc1(self.flatten(x)))
        return self.fc2(x)


network = LeNet()
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), nn.Momentum(network.trainable_params(), 0.05, 0.9))
step.set_train()
for number in range(6):
    x = Tensor(rng.standard_normal((8, 1, 8, 8)).astype(np.float32))
    y = Tensor(rng.integers(0, 10, 8).astype(np.int32))
    print("loss", number + 1, step(x, y).asnumpy().tobytes().hex(), flush=True)
    print("fc1.weight", number + 1, sha256(network.fc1.weight.asnumpy().tobytes()).hexdigest(), flush=True)
