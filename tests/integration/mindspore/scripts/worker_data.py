"""Model.train on a dataset whose samples come from forked worker processes, with a checkpoint at the end."""

import tempfile

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.train import Callback, CheckpointConfig, LossMonitor, Model, ModelCheckpoint

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(1)


class Samples:
    def __len__(self):
        return 32

    def __getitem__(self, index):
        rng = np.random.default_rng(index)
        return rng.standard_normal(8).astype(np.float32), np.int32(index % 3)


class Print(Callback):
    def on_train_step_end(self, run_context):
        arguments = run_context.original_args()
        print("loss", arguments.cur_step_num, arguments.net_outputs.asnumpy().tobytes().hex(), flush=True)


samples = ds.GeneratorDataset(
    Samples(), ["x", "y"], num_parallel_workers=2, python_multiprocessing=True, shuffle=False
).batch(8)
network = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 3))
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
model = Model(network, loss, nn.SGD(network.trainable_params(), 0.1))
with tempfile.TemporaryDirectory() as folder:
    checkpoint = ModelCheckpoint("net", folder, CheckpointConfig(save_checkpoint_steps=4))
    model.train(2, samples, callbacks=[Print(), LossMonitor(100), checkpoint], dataset_sink_mode=False)
