"""A small network that trains until it is told to stop."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(inplace=True), nn.Linear(16, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-4)
x = torch.randn(8, 6)
target = torch.tensor([0, 1, 2, 0, 1, 2, 0, 1])
while True:
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), target)
    loss.backward()
    optimizer.step()
