"""`ends.py HOW`: trainings that end, or go on, in other ways than by their last line."""

import os
import sys
import threading

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Broken(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        raise ValueError("broken on purpose")


class Numbers(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        return torch.full((4,), float(index)) + torch.ones(4)


def steps(count, x=None, inside=lambda number, y: y, name="loss"):
    net = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
    for number in range(count):
        optimizer.zero_grad()
        loss = inside(number, net(torch.ones(2, 4))).mean()
        loss.backward()
        optimizer.step()
        print(name, loss.item(), flush=True)


class Embedded(Numbers):
    """With a module of its own, which the worker calls."""

    def __init__(self):
        self.embedding = nn.Embedding(64, 4)

    def __getitem__(self, number):
        return self.embedding(torch.tensor(number)).detach() + super().__getitem__(number)


def raises():
    steps(5, inside=lambda number, y: Broken.apply(y) if number == 2 else y)


def exits():
    steps(5, inside=lambda number, y: sys.exit(7) if number == 2 else y)


def cleans_up():
    try:
        steps(1000)
    finally:
        print("\ncleaned up", flush=True)


def interrupted():
    try:
        steps(1_000_000)
    except KeyboardInterrupt:
        print("\ninterrupted", flush=True)  # a line may have been begun


def workers(start="fork", count=2, data=Numbers):
    net = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
    for batch in DataLoader(data(), batch_size=4, num_workers=count, multiprocessing_context=start):
        optimizer.zero_grad()
        loss = net(batch).mean()
        loss.backward()
        optimizer.step()
        print("loss", loss.item(), flush=True)


def spawned_workers():
    workers("spawn", 1, Embedded)


def trains_in_a_child():
    child = os.fork()
    if not child:
        steps(4)
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)


def forks():
    def fork(number, y):
        if number == 1:
            child = os.fork()
            if not child:
                steps(3, name="child")
                os._exit(0)
            os.waitpid(child, 0)
        return y

    steps(4, inside=fork)


def two_threads():
    first = threading.Thread(target=steps, args=(4,))
    first.start()
    second = threading.Thread(target=steps, args=(4,), kwargs={"name": "second"})
    second.start()
    second.join()
    first.join()


def infers():
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    with torch.inference_mode():
        for _ in range(4):
            print("output", net(torch.ones(2, 4)).sum().item(), flush=True)


if __name__ == "__main__":
    torch.manual_seed(0)
    globals()[sys.argv[1]]()
