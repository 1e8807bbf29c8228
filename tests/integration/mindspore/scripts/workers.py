"""Two workers under msrun, data parallel."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn
from mindspore.communication import get_rank, init

ms.set_context(mode=ms.GRAPH_MODE)
init()
ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
ms.set_seed(1)
rank = get_rank()
network = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 3))
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), nn.Momentum(network.trainable_params(), 0.1, 0.9))
step.set_train()
rng = np.random.default_rng(rank)
for number in range(3):
    x = Tensor(rng.standard_normal((8, 8)).astype(np.float32))
    y = Tensor(rng.integers(0, 3, 8).astype(np.int32))
    print("loss", rank, number + 1, float(step(x, y).asnumpy()), flush=True)
