"""Trainings for watchpoints in steps that run free: each takes the step in which something goes wrong."""

from __future__ import annotations

import contextlib
import math

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader


class Net(nn.Module):
    """Its logarithm overflows in the step in which the input is 0; its ReLU works in place."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.fc2, self.norm = nn.Linear(4, 8), nn.Linear(8, 1), nn.BatchNorm1d(8)

    def forward(self, x):
        return self.fc2(torch.relu_(self.norm(self.fc1(x)))) + x.abs().log().sum(1, keepdim=True)


def train(steps: int = 8, zero_in: int = -1, optimizer_class=torch.optim.Adam, each=lambda number: None) -> list[float]:
    torch.manual_seed(3)
    net, losses = Net(), []
    optimizer = optimizer_class(net.parameters(), lr=0.1)
    for number in range(1, steps + 1):
        optimizer.zero_grad()
        x = torch.rand(4, 4) + 0.5
        x = x * (number != zero_in)
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        each(number)
    return losses


def by_hand(**arguments) -> list[float]:
    """Without an optimizer; weights change under no_grad. `each` is called after each step."""
    torch.manual_seed(3)
    net, losses = Net(), []
    for number in range(1, 9):
        loss = net((torch.rand(4, 4) + 0.5) * (number != arguments.get("zero_in"))).square().mean()
        loss.backward()
        with torch.no_grad():
            for parameter in net.parameters():
                parameter -= 0.1 * parameter.grad
                parameter.grad = None
        losses.append(loss.item())
        if each := arguments.get("each"):
            each(number, net)
    return losses


def fp16(**arguments) -> list[float]:
    torch.manual_seed(3)
    net, losses = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)), []
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, foreach=True)
    for number in range(1, 9):
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            loss = net(torch.rand(4, 4) / (number != arguments.get("zero_in"))).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def in_parts(**arguments) -> list[float]:
    """Parameters are written in part and by way of views, after the optimizer."""
    torch.manual_seed(3)
    net, losses = Net(), []
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    for number in range(1, 9):
        optimizer.zero_grad()
        loss = net(torch.rand(4, 4) + 0.5).square().mean()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            net.fc1.weight[0, 1].div_(number != arguments.get("zero_in"))
            net.fc2.weight.view(-1).div_(number != arguments.get("zero_in"))
            net.norm.bias.copy_(net.norm.bias * 1.0)
        losses.append(loss.item())
    return losses


FAULTS = ("input", "made on the way", "unseen", "memory that nobody wrote")


def passed_on(fault: str = "", zero_in: int = 5) -> list[float]:
    """Much of it only moves or shrinks what it is given."""
    torch.manual_seed(3)
    net, losses = nn.Linear(12, 1), []
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=0.1)
    for number in range(1, 9):
        bad = {one: one == fault and number == zero_in for one in FAULTS}
        optimizer.zero_grad()
        x = torch.relu(torch.rand(3, 4) * (math.inf if bad["input"] else 1))
        y = torch.where(x > 2, -x, x).neg().mul(0.5).clone()
        z = (torch.rand(3, 4) * (not bad["made on the way"])).log().sigmoid().add(1)
        scale = torch.from_numpy(np.full(4, math.nan if bad["unseen"] else 1, np.float32))
        memory = torch.empty(3, 4)
        memory.numpy()[:] = math.nan if bad["memory that nobody wrote"] else 0
        w = torch.stack([scale.mul(0.5), torch.cat([scale[:2], scale[2:]])]).view(8)[:4] + torch.cat([memory])[0]
        loss = net(torch.cat([y, z, w.expand(3, 4)], 1)).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def scaled(zero_in: int = 5) -> list[float]:
    """In step `zero_in` a product is told to be infinite, and a logarithm gets so by itself."""
    torch.manual_seed(3)
    net, losses = nn.Linear(4, 1), []
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for number in range(1, 9):
        x = torch.rand(3, 4)
        y = x * (math.inf if number == zero_in else 1.0) + x.mul_(number != zero_in).log()
        loss = net(y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def exchanged(zero_in: int = 5) -> list[float]:
    """One weight becomes another tensor, and one module another module."""
    torch.manual_seed(3)
    net, losses = Net(), []
    weight, module = nn.Parameter(torch.full((8, 4), 0.25)), nn.Linear(8, 1)
    for number in range(1, 9):
        if number == zero_in:
            net.fc1.weight, net.fc2 = weight, module
        loss = net(torch.rand(4, 4) + 0.5).square().mean()
        loss.backward()
        with torch.no_grad():
            for parameter in net.parameters():
                parameter -= 0.1 * parameter.grad
                parameter.grad = None
        losses.append(loss.item())
    return losses


def two_ways(zero_in: int = 6) -> list[float]:
    """By turns, with the same first operations; from step `zero_in` on both have an infinite weight."""
    torch.manual_seed(3)
    a, b, losses = nn.Linear(4, 4), nn.Linear(4, 4), []
    for number in range(1, 15):
        if number == zero_in:
            a.weight.data.numpy()[0, 0] = b.weight.data.numpy()[0, 0] = math.inf
        x = torch.rand(4, 4)
        loss = a(x).tanh().sum() if number % 2 else b(x).relu().sum()
        loss.backward()
        a.zero_grad(), b.zero_grad()
        losses.append(loss.item())
    return losses


def accumulated(zero_in: int = -1) -> list[float]:
    """Gradients and a momentum of one's own: what the step finds is written by what reads it first."""
    torch.manual_seed(3)
    net, losses = Net(), []
    momenta = [torch.zeros_like(parameter) for parameter in net.parameters()]
    for number in range(1, 9):
        loss = net((torch.rand(4, 4) + 0.5) * (number != zero_in)).square().mean()
        loss.backward()
        with torch.no_grad():
            for parameter, momentum in zip(net.parameters(), momenta, strict=True):
                momentum.mul_(0.9).add_(parameter.grad)
                parameter.sub_(momentum, alpha=0.01)
        losses.append(loss.item())
    return losses


def observed(zero_in: int = -1) -> list[float]:
    """By turns, from memory that numpy writes, with the same first operations on inputs that have other names."""
    torch.manual_seed(3)
    net, losses, memories = nn.Linear(4, 3), [], [np.ones((2, 4), np.float32) for _ in range(2)]
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    first, second = map(torch.from_numpy, memories)
    for number in range(1, 15):
        for memory in memories:
            memory[:] = math.inf if number == zero_in else number
        x = net((first if number % 2 else second).mul_(0.5).nan_to_num_(posinf=0.0))
        loss = (x.tanh() if number % 2 else x.sigmoid()).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def catching(zero_in: int = -1) -> list[float]:
    """With an operation that raises; the error is caught."""
    torch.manual_seed(3)
    net, losses = Net(), []
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for number in range(1, 9):
        optimizer.zero_grad()
        x = (torch.rand(4, 4) + 0.5) * (number != zero_in)
        with contextlib.suppress(RuntimeError):
            torch.mm(x, torch.ones(3, 3))
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def in_turns(zero_in: int = -1) -> list[float]:
    """Two networks; of the second one, a scale that nobody trains is infinite."""
    torch.manual_seed(3)
    nets, losses = [nn.Linear(4, 4), nn.Linear(4, 4)], []
    nets[1].scale = nn.Parameter(torch.full((1,), math.inf))
    optimizers = [torch.optim.SGD([net.weight, net.bias], lr=0.1) for net in nets]
    for number, x in enumerate(DataLoader(torch.rand(56, 4), batch_size=4)):
        net, optimizer = nets[number % 2], optimizers[number % 2]
        loss = (net(x).sigmoid() / net.scale if number % 2 else net(x).tanh()).square().mean()
        loss.backward()
        optimizer.step()
        net.zero_grad()
        losses.append(loss.item())
    return losses


def scripted(zero_in: int = 5) -> list[float]:
    """With a module that keeps its parameters in its own way."""
    return _trained(nn.Sequential(torch.jit.script(nn.Linear(4, 4)), nn.Linear(4, 1)), lambda y: y, zero_in)


def conditional(zero_in: int = 5) -> list[float]:
    """With an operation that calls functions, and compiles for itself."""
    return _trained(nn.Linear(4, 4), lambda y: torch.cond(y.sum() > 0, torch.sin, torch.cos, (y,)), zero_in)


def _trained(net, then, zero_in: int) -> list[float]:
    torch.manual_seed(3)
    for parameter in net.parameters():
        nn.init.uniform_(parameter)
    optimizer, losses = torch.optim.SGD(net.parameters(), lr=0.1), []
    for number in range(1, 9):
        optimizer.zero_grad()
        loss = (then(net(torch.rand(3, 4))) / (number != zero_in)).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def optimized(make, zero_in: int = 5, large: float = 3e38) -> list[float]:
    """With an optimizer that `make` makes; in step `zero_in` the gradients are `large`."""
    torch.manual_seed(3)
    net, losses = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4, bias=False)), []
    optimizer = make(net.parameters())
    for number in range(1, 9):
        optimizer.zero_grad()
        loss = net(torch.rand(3, 4)).square().mean()
        loss.backward()
        for parameter in net.parameters():
            parameter.grad.sign_().mul_(large if number == zero_in else 0.1)
        optimizer.step()
        losses.append(loss.item())
    return losses


class Branching(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc, self.way = nn.Linear(4, 3), "a"

    def forward(self, x):
        x = self.fc(x)
        return (x.tanh() if self.way == "a" else x.exp().log()).sum()


class Experts(nn.Module):
    """Each has the same operations; what comes after them tells which one it was."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.way = nn.Linear(4, 3), nn.Linear(4, 3), "a"

    def forward(self, x):
        x = (self.first if self.way == "a" else self.second)(x).exp()
        return (x.tanh() if self.way == "a" else x.sigmoid()).sum()


def branching(ways: str, zero_in: int = -1) -> list[float]:
    return _by_ways(Branching, 0.01, ways, zero_in, 1e9)


def experts(ways: str, zero_in: int = -1) -> list[float]:
    return _by_ways(Experts, 0.0, ways, zero_in, 1e39)


def _by_ways(network, rate: float, ways: str, zero_in: int, large: float) -> list[float]:
    """In each step the way that the letter says; `large` is the input of step `zero_in`."""
    torch.manual_seed(3)
    net, losses = network(), []
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    for number, way in enumerate(ways, 1):
        net.way = way
        optimizer.zero_grad()
        loss = net(torch.ones(2, 4) * (large if number == zero_in else 1))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
