"""`compiled.py`: a training with a compiled module, which prints how often it was compiled and how often that ran."""

import torch
from torch import nn


class Counting:
    compiled = called = 0

    def __call__(self, module, _inputs):
        self.compiled += 1

        def run(*args):
            self.called += 1
            return module.forward(*args)

        return run


torch.manual_seed(0)
counting = Counting()
net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(inplace=True), nn.Linear(8, 1))
model = torch.compile(net, backend=counting)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(30):
    optimizer.zero_grad()
    loss = model(torch.randn(4, 6)).square().mean()
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex(), flush=True)
    print("compiled", counting.compiled, counting.called, flush=True)
