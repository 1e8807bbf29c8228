"""No graph at all: PyNative mode, and a hand-written update."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.PYNATIVE_MODE)
network = nn.Dense(4, 2)
for number in range(2):
    output = network(Tensor(np.ones((3, 4), np.float32)))
    print("loss", number + 1, float(ops.reduce_mean(output).asnumpy()), flush=True)
