"""Loops and branches over tensors inside the graph: many kernel graphs, of which a step runs some."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(1)
rng = np.random.default_rng(0)


class Network(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(8, 8)
        self.head = nn.Dense(8, 1)
        self.tanh = nn.Tanh()

    def construct(self, x, times):
        count = ops.zeros((), ms.int32)
        while count < times:
            x = self.tanh(self.dense(x))
            count = count + 1
        if x.sum() > 0:  # noqa: SIM108 (the statement is what is compiled)
            x = x * 2
        else:
            x = x * 0.5
        return self.head(x).mean()


network = Network()
optimizer = nn.Momentum(network.trainable_params(), 0.05, 0.9)
gradients_of = ops.value_and_grad(network, None, optimizer.parameters)


@ms.jit
def train_step(x, times):
    loss, gradients = gradients_of(x, times)
    optimizer(gradients)
    return loss


network.set_train()
for number in range(4):
    x = Tensor(rng.standard_normal((4, 8)).astype(np.float32))
    loss = train_step(x, Tensor(2 + number % 2, ms.int32))
    print("loss", number + 1, loss.asnumpy().tobytes().hex(), flush=True)
