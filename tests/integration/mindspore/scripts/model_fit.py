"""Model.fit with a dataset, BatchNorm, Adam, and an evaluation after each epoch: two graphs."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.train import Accuracy, Callback, Model

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(1)
rng = np.random.default_rng(0)


def data(count):
    images = rng.standard_normal((count, 1, 8, 8)).astype(np.float32)
    labels = rng.integers(0, 10, count).astype(np.int32)
    return ds.NumpySlicesDataset({"image": images, "label": labels}, shuffle=False).batch(8)


class Network(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, pad_mode="valid")
        self.norm = nn.BatchNorm2d(4)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.dense = nn.Dense(4 * 36, 10)

    def construct(self, x):
        return self.dense(self.flatten(self.relu(self.norm(self.conv(x)))))


class Print(Callback):
    def on_train_step_end(self, run_context):
        arguments = run_context.original_args()
        print("loss", arguments.cur_step_num, arguments.net_outputs.asnumpy().tobytes().hex(), flush=True)


network = Network()
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
model = Model(network, loss, nn.Adam(network.trainable_params(), 1e-3), metrics={"accuracy": Accuracy()})
model.fit(2, data(24), data(16), callbacks=[Print()], dataset_sink_mode=False)
