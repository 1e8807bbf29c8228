"""The trainings that the PyTorch benchmarks measure, one round of steps for each line of input.

Argument: "cnn" (28x28 images, batch 64) or "gpt" (10 layers, 10 million parameters, 2x128 tokens), both with AdamW. A
line is a number of steps, and what is on in them: "anomaly" is PyTorch's own detect_anomaly, "mode" a dispatch mode
that calls each operation and does nothing else, the least that it costs to see them all. The answer is a line of JSON:
the seconds of wall clock and of processor time that they took, and the last loss. One thread.
"""

import json
import sys
import time
from contextlib import nullcontext

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

torch.manual_seed(1)
torch.set_num_threads(1)


class Mode(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func._op(*args, **kwargs) if kwargs else func._op(*args)

    @classmethod
    def ignore_compile_internals(cls):
        return True  # else each call is wrapped into a guard, which doubles what it costs


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16)
        self.conv2, self.norm2 = nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32)
        self.fc1, self.fc2 = nn.Linear(32 * 7 * 7, 64), nn.Linear(64, 10)

    def forward(self, x):
        x = F.max_pool2d(torch.relu(self.norm1(self.conv1(x))), 2)
        x = F.max_pool2d(torch.relu(self.norm2(self.conv2(x))), 2)
        return self.fc2(torch.relu(self.fc1(x.flatten(1))))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.drop, self.heads = nn.Dropout(0.1), heads

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(*parts.unbind(0), is_causal=True)
        x = x + self.drop(self.out(mixed.transpose(1, 2).reshape(batch, length, width)))
        return x + self.drop(self.down(F.gelu(self.up(self.norm2(x)))))


class Gpt(nn.Module):
    def __init__(self, words=4096, length=128, width=256, layers=10):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList([Block(width, 8) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight
        nn.init.normal_(self.words.weight, std=0.02)

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)).flatten(0, 1)


if sys.argv[1] == "cnn":
    model, x, y = Cnn(), torch.randn(64, 1, 28, 28), torch.randint(0, 10, (64,))
else:
    model, x = Gpt(), torch.randint(0, 4096, (2, 128))
    y = x.roll(-1, 1).flatten()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)


def step():
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


for line in sys.stdin:
    steps, on = line.split()
    torch.autograd.set_detect_anomaly(on == "anomaly")
    wall, processor = time.perf_counter(), time.process_time()
    with Mode() if on == "mode" else nullcontext():
        for _ in range(int(steps)):
            loss = step()
    seconds = {"wall": time.perf_counter() - wall, "processor": time.process_time() - processor}
    print(json.dumps({**seconds, "loss": loss}), flush=True)
