"""The training that the MindSpore benchmarks measure: LeNet on 32x32 images, batch 32; prints one JSON line.

Arguments: steps, warm-up steps. Times are wall seconds of single steps, the loss read after each.
"""

import json
import sys
import time

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

steps, warm_up = int(sys.argv[1]), int(sys.argv[2])
ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(1)


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(400, 120)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, 10)

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.relu(self.fc1(self.flatten(x)))
        return self.fc3(self.relu(self.fc2(x)))


network = LeNet()
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), nn.Momentum(network.trainable_params(), 0.01, 0.9))
step.set_train()
rng = np.random.default_rng(0)
x = Tensor(rng.standard_normal((32, 1, 32, 32)).astype(np.float32))
y = Tensor(rng.integers(0, 10, 32).astype(np.int32))
seconds = []
for _ in range(warm_up + steps):
    began = time.perf_counter()
    step(x, y).asnumpy()
    seconds.append(time.perf_counter() - began)
print(json.dumps({"seconds": seconds[warm_up:]}), flush=True)
