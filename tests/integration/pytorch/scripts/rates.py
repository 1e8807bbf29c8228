"""A training whose learning rate is a tenth of the number of the step."""

import torch
from torch import nn

net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda steps: 1.0 + steps)
for _ in range(1_000_000):
    optimizer.zero_grad()
    net(torch.ones(2, 4)).mean().backward()
    optimizer.step()
    scheduler.step()
