"""A transformer encoder of about 12 million parameters with embeddings and Adam: over 1,000 nodes."""

import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(1)
rng = np.random.default_rng(0)
STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
BATCH, LENGTH, WIDTH, WORDS = 4, 32, 384, 2000


class Encoder(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.CellList(
            [nn.TransformerEncoderLayer(WIDTH, 6, 4 * WIDTH, 0.0, batch_first=True) for _ in range(6)]
        )
        self.norm = nn.LayerNorm((WIDTH,))
        self.head = nn.Dense(WIDTH, 10)

    def construct(self, tokens):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(ops.mean(self.norm(x), 1))


network = Encoder()
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), nn.Adam(network.trainable_params(), 1e-4))
step.set_train()
print("parameters", sum(int(np.prod(p.shape)) for p in network.get_parameters()), flush=True)
for number in range(STEPS):
    tokens = Tensor(rng.integers(0, WORDS, (BATCH, LENGTH)).astype(np.int32))
    labels = Tensor(rng.integers(0, 10, BATCH).astype(np.int32))
    print("loss", number + 1, step(tokens, labels).asnumpy().tobytes().hex(), flush=True)
