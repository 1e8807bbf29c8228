"""The functional way: value_and_grad inside a jit function, AdamWeightDecay, LayerNorm, in PyNative mode around it."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

ms.set_seed(1)
rng = np.random.default_rng(0)


class Network(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense1 = nn.Dense(16, 32)
        self.norm = nn.LayerNorm((32,))
        self.act = nn.GELU()
        self.dense2 = nn.Dense(32, 4)

    def construct(self, x):
        return self.dense2(self.act(self.norm(self.dense1(x))))


network = Network()
loss_function = nn.CrossEntropyLoss()
optimizer = nn.AdamWeightDecay(network.trainable_params(), 1e-3, weight_decay=0.01)


def forward(x, y):
    logits = network(x)
    return loss_function(logits, y), logits


gradients_of = ms.value_and_grad(forward, None, optimizer.parameters, has_aux=True)


@ms.jit
def train_step(x, y):
    (loss, _), gradients = gradients_of(x, y)
    optimizer(gradients)
    return loss


network.set_train()
for number in range(6):
    x = Tensor(rng.standard_normal((8, 16)).astype(np.float32))
    y = Tensor(rng.integers(0, 4, 8).astype(np.int32))
    print("loss", number + 1, train_step(x, y).asnumpy().tobytes().hex(), flush=True)
