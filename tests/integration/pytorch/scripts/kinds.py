"""Trainings of many kinds, as users write them: `kinds.py KIND STEPS` prints the loss of each step to the last bit."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset


def say(loss: torch.Tensor) -> None:
    print("loss", float(loss).hex(), flush=True)


def batches(steps: int, *data: torch.Tensor, size: int = 8) -> Iterator[list[torch.Tensor]]:
    loader = DataLoader(TensorDataset(*data), batch_size=size, shuffle=True)
    while steps > 0:
        for batch in loader:
            yield batch
            steps -= 1
            if not steps:
                return


class Cnn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Dropout(0.2)
        )
        self.head = nn.Linear(4 * 4 * 4, 3)

    def forward(self, images):
        return self.head(self.features(images).flatten(1))


def cnn(steps: int) -> None:
    net = Cnn()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 5, 0.9)
    images, labels = torch.randn(32, 1, 8, 8), torch.randint(0, 3, (32,))
    for number, (x, y) in enumerate(batches(steps, images, labels)):
        optimizer.zero_grad()
        loss = functional.cross_entropy(net(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        say(loss)
        if number % 10 == 9:
            net.eval()
            with torch.no_grad():
                print("accuracy", (net(images).argmax(1) == labels).float().mean().item())
            net.train()


class Lstm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(20, 8)
        self.lstm = nn.LSTM(8, 12, 2, batch_first=True, dropout=0.1)
        self.out = nn.Linear(12, 20)

    def forward(self, tokens):
        return self.out(self.lstm(self.words(tokens))[0])


def lstm(steps: int) -> None:
    net = Lstm()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for (tokens,) in batches(steps, torch.randint(0, 20, (16, 7))):
        optimizer.zero_grad(set_to_none=False)
        loss = functional.cross_entropy(net(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        say(loss)


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, 2, dropout=0.1, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width), nn.Dropout(0.1))

    def forward(self, x):
        y = self.norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.mlp(x)


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(20, 8)
        self.blocks = nn.ModuleList([Block(8), Block(8)])
        self.out = nn.Linear(8, 20, bias=False)
        self.out.weight = self.words.weight

    def forward(self, tokens):
        x = self.words(tokens)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return self.out(x)


def transformer(steps: int) -> None:
    net = Transformer()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, foreach=True)
    for number, (tokens,) in enumerate(batches(2 * steps, torch.randint(0, 20, (16, 7)))):
        loss = functional.cross_entropy(net(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()) / 2
        loss.backward()
        if number % 2:
            optimizer.step()
            optimizer.zero_grad()
            say(loss)


def gan(steps: int) -> None:
    make, judge = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 4)), nn.Linear(4, 1)
    makes, judges = torch.optim.Adam(make.parameters()), torch.optim.RMSprop(judge.parameters())
    for _ in range(steps):
        real, noise = torch.randn(8, 4), torch.randn(8, 3)
        judges.zero_grad()
        with torch.no_grad():
            fake = make(noise)
        (functional.softplus(-judge(real)) + functional.softplus(judge(fake))).mean().backward()
        judges.step()
        makes.zero_grad()
        loss = functional.softplus(-judge(make(noise))).mean()
        loss.backward()
        makes.step()
        say(loss)


def lbfgs(steps: int) -> None:
    net = nn.Linear(4, 1)
    optimizer = torch.optim.LBFGS(net.parameters(), lr=0.1, max_iter=4)
    x = torch.randn(8, 4)

    def closure():
        optimizer.zero_grad()
        loss = (net(x) - x.sin().sum(1, keepdim=True)).square().mean()
        loss.backward()
        return loss

    for _ in range(steps):
        say(optimizer.step(closure))


def amp(steps: int) -> None:
    net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler("cpu", init_scale=64.0, growth_interval=50)
    for number in range(steps):
        x = torch.randn(8, 4)
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            loss = net(x).float().square().mean()
        if number == 3:
            loss = loss * float("inf")
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        say(loss)


def by_hand(steps: int) -> None:
    net = nn.Linear(4, 2)
    for _ in range(steps):
        loss = net(torch.randn(8, 4)).square().mean()
        loss.backward()
        with torch.no_grad():
            for parameter in net.parameters():
                parameter -= 0.01 * parameter.grad
                parameter.grad = None
        say(loss)


def sparse(steps: int) -> None:
    words = nn.Embedding(50, 4, sparse=True)
    optimizer = torch.optim.SparseAdam(words.parameters(), lr=0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = words(torch.randint(0, 50, (6,))).square().sum()
        loss.backward()
        optimizer.step()
        say(loss)


def per_sample(steps: int) -> None:
    net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
    weights = {name: each.detach() for name, each in net.named_parameters()}

    def loss_of(weights, x):
        return torch.func.functional_call(net, weights, (x,)).square().mean()

    for _ in range(steps):
        found = torch.func.vmap(torch.func.grad_and_value(loss_of), in_dims=(None, 0))(weights, torch.randn(8, 4))
        gradients, losses = found
        weights = {name: each - 0.1 * gradients[name].mean(0) for name, each in weights.items()}
        say(losses.mean())


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, gradient):
        return 2 * ctx.saved_tensors[0] * gradient


def groups(steps: int) -> None:
    frozen, net, head = nn.Linear(4, 6).requires_grad_(False), nn.Linear(6, 6), nn.Linear(6, 1)
    slow = {"params": net.parameters(), "lr": 1e-4, "weight_decay": 0.1}
    optimizer = torch.optim.Adam([{"params": head.parameters()}, slow], lr=1e-3, fused=True)
    for _ in range(steps):
        x = torch.randn(8, 4)
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.float16):
            loss = head(Square.apply(net(frozen(x)))).float().square().mean()
        loss.backward()
        nn.utils.clip_grad_value_([*net.parameters(), *head.parameters()], 0.5)
        optimizer.step()
        say(loss)


if __name__ == "__main__":
    torch.manual_seed(7)
    globals()[sys.argv[1]](int(sys.argv[2]))
