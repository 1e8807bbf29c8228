"""Weights and activations in bfloat16, elementwise (what the CPU kernels of MindSpore can do in it)."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
rng = np.random.default_rng(0)


class Network(nn.Cell):
    def __init__(self):
        super().__init__()
        self.scale = Parameter(Tensor(rng.standard_normal((4, 8)).astype(np.float32), ms.bfloat16), name="scale")

    def construct(self, x):
        scaled = x.astype(ms.bfloat16) * self.scale + self.scale
        return ops.tanh(scaled.astype(ms.float32)).mean()


network = Network()
for number in range(3):
    x = Tensor(rng.standard_normal((4, 8)).astype(np.float32))
    network.set_train()
    print("loss", number + 1, network(x).asnumpy().tobytes().hex(), flush=True)
