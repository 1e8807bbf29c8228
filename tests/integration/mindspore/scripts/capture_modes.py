"""jit's other ways to capture a function: bytecode and trace; the forward graph runs where Python does not see it."""

import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

ms.set_seed(1)
rng = np.random.default_rng(0)
network = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 3))
network.construct = ms.jit(network.construct, capture_mode=sys.argv[1])
loss_function = nn.CrossEntropyLoss()
optimizer = nn.Momentum(network.trainable_params(), 0.1, 0.9)


def forward(x, y):
    return loss_function(network(x), y)


gradients_of = ms.value_and_grad(forward, None, optimizer.parameters)
network.set_train()
for number in range(5):
    x = Tensor(rng.standard_normal((8, 8)).astype(np.float32))
    y = Tensor(rng.integers(0, 3, 8).astype(np.int32))
    loss, gradients = gradients_of(x, y)
    optimizer(gradients)
    print("loss", number + 1, loss.asnumpy().tobytes().hex(), flush=True)
