"""Goes wrong where its argument says: at import, at compile, in step 3, by os._exit in step 3."""

import os
import sys

where = sys.argv[1]
if where == "import":
    import no_such_module  # noqa: F401

import mindspore as ms  # noqa: E402
import numpy as np  # noqa: E402
from mindspore import Tensor, nn  # noqa: E402

ms.set_context(mode=ms.GRAPH_MODE)


class Broken(nn.Cell):
    def construct(self, x):
        return x + undefined_name  # noqa: F821


network = Broken() if where == "compile" else nn.Dense(8, 3)
loss = nn.MSELoss()
trained = nn.Dense(2, 2) if where == "compile" else network
optimizer = nn.Momentum(trained.trainable_params(), 0.1, 0.9)
step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), optimizer).set_train()
for number in range(1, 6):
    step(Tensor(np.ones((4, 8), np.float32)), Tensor(np.zeros((4, 3), np.float32)))
    print("step", number, flush=True)
    if number == 3 and where == "step":
        raise ValueError("the third step went wrong")
    if number == 3 and where == "exit":
        os._exit(7)
    if number == 3 and where == "inside":
        step(Tensor(np.ones((4, 9), np.float32)), Tensor(np.zeros((4, 3), np.float32)))
