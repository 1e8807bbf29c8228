"""`torchrun --nproc-per-node 2 ranks.py`: DDP on the CPU; each rank prints its losses."""

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

distributed.init_process_group("gloo")
rank = distributed.get_rank()
torch.manual_seed(0)
data = TensorDataset(torch.randn(48, 4))
net = DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for (x,) in DataLoader(data, batch_size=4, sampler=DistributedSampler(data)):
    optimizer.zero_grad()
    loss = net(x).square().mean()
    loss.backward()
    optimizer.step()
    print(f"loss of {rank} {loss.item().hex()}\n", end="", flush=True)
del net, optimizer, loss  # else one in ten runs ends in PyTorch's own "terminate called", with no debugger near it
distributed.barrier()
distributed.destroy_process_group()
