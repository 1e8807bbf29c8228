"""The trainings that the MindSpore benchmarks measure; prints one JSON line.

Arguments: "lenet" (8x8 images, batch 8, Momentum) or "encoder" (a transformer of 11 million parameters, batch 4,
Adam); steps; warm-up steps. Times are wall seconds of single steps, the loss read after each.
"""

import json
import sys
import time

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

which, steps, warm_up = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
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
        self.fc1 = nn.Dense(144, 120)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, 10)

    def construct(self, x):
        x = self.relu(self.conv1(x))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.relu(self.fc1(self.flatten(x)))
        return self.fc3(self.relu(self.fc2(x)))


class Encoder(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(2000, 384)
        self.layers = nn.CellList([nn.TransformerEncoderLayer(384, 6, 1536, 0.0, batch_first=True) for _ in range(6)])
        self.norm = nn.LayerNorm((384,))
        self.head = nn.Dense(384, 10)

    def construct(self, tokens):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(ops.mean(self.norm(x), 1))


if which == "lenet":
    network = LeNet()
    optimizer = nn.Momentum(network.trainable_params(), 0.01, 0.9)
    x = Tensor(rng.standard_normal((8, 1, 8, 8)).astype(np.float32))
else:
    network = Encoder()
    optimizer = nn.Adam(network.trainable_params(), 1e-4)
    x = Tensor(rng.integers(0, 2000, (4, 32)).astype(np.int32))
y = Tensor(rng.integers(0, 10, x.shape[0]).astype(np.int32))
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), optimizer).set_train()
seconds = []
for _ in range(warm_up + steps):
    began = time.perf_counter()
    step(x, y).asnumpy()
    seconds.append(time.perf_counter() - began)
print(json.dumps({"seconds": seconds[warm_up:]}), flush=True)
