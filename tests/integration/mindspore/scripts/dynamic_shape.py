"""Batches of changing size: once with set_inputs (one graph), once without (a graph for each shape)."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(1)
rng = np.random.default_rng(0)


def trainer():
    network = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 3))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), nn.Adam(network.trainable_params(), 1e-2))
    return step.set_train()


dynamic, static = trainer(), trainer()
dynamic.set_inputs(Tensor(shape=[None, 8], dtype=ms.float32), Tensor(shape=[None], dtype=ms.int32))
for number, size in enumerate((4, 6, 8, 4)):
    for step in (dynamic, static):
        x = Tensor(rng.standard_normal((size, 8)).astype(np.float32))
        y = Tensor(rng.integers(0, 3, size).astype(np.int32))
        print("loss", number + 1, step(x, y).asnumpy().tobytes().hex(), flush=True)
