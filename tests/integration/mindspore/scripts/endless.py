"""Trains until it is stopped."""

import sys
import time

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(1)
network = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 3))
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), nn.Adam(network.trainable_params(), 1e-2))
step.set_train()
x = Tensor(np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32))
y = Tensor((np.arange(8) % 3).astype(np.int32))
limit = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
try:
    began = time.time()
    while time.time() - began < limit:
        print("loss", float(step(x, y).asnumpy()), flush=True)
        time.sleep(0.002)
finally:
    print("cleaned up", flush=True)
