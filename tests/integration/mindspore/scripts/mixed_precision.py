"""Mixed precision O2 with a dynamic loss scale, gradient clipping and SGD."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, amp, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(1)
rng = np.random.default_rng(0)


class Network(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, pad_mode="valid", has_bias=True)
        self.norm = nn.BatchNorm2d(4)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.dense = nn.Dense(4 * 36, 10)

    def construct(self, x):
        return self.dense(self.flatten(self.relu(self.norm(self.conv(x)))))


network = amp.auto_mixed_precision(Network(), "O2")
loss_function = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
optimizer = nn.SGD(network.trainable_params(), 0.05, momentum=0.9)
scaler = amp.DynamicLossScaler(1024.0, 2, 4)


def forward(x, y):
    return scaler.scale(loss_function(network(x).astype(ms.float32), y))


gradients_of = ops.value_and_grad(forward, None, optimizer.parameters)


@ms.jit
def train_step(x, y):
    loss, gradients = gradients_of(x, y)
    gradients = ops.clip_by_global_norm(scaler.unscale(gradients), 1.0)
    optimizer(gradients)
    return scaler.unscale(loss)


network.set_train()
for number in range(5):
    x = Tensor(rng.standard_normal((8, 1, 8, 8)).astype(np.float32))
    y = Tensor(rng.integers(0, 10, 8).astype(np.int32))
    print("loss", number + 1, train_step(x, y).asnumpy().tobytes().hex(), flush=True)
