"""Trainings as people write them, tiny. Each runs its steps inside `around()` and gives back what it computed.

They are seeded by the one who calls them, so that two runs of a scenario are the same to the last bit.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

import torch
from nets import Cnn, Mlp, images_and_labels, step
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

Around = Callable[[], AbstractContextManager[None]]
Scenario = Callable[[Around], list[Tensor]]

STEPS = 3


def _batch() -> tuple[Tensor, Tensor]:
    return torch.randn(4, 6), torch.randint(0, 3, (4,))


def _train(around: Around, model: nn.Module, optimizer: torch.optim.Optimizer, batch=_batch) -> list[Tensor]:
    losses = []
    for _ in range(STEPS):
        x, y = batch()
        with around():
            losses.append(step(model, optimizer, x, y))
    return [*losses, *model.parameters(), *model.buffers()]


# ------------------------------------------------------------ optimizers


def sgd_momentum(around: Around) -> list[Tensor]:
    model = Mlp()
    return _train(around, model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01))


def adam_single(around: Around) -> list[Tensor]:
    model = Mlp()
    return _train(around, model, torch.optim.AdamW(model.parameters(), foreach=False))


def adam_foreach(around: Around) -> list[Tensor]:
    model = Mlp()
    return _train(around, model, torch.optim.Adam(model.parameters(), foreach=True))


def adam_fused(around: Around) -> list[Tensor]:
    model = Mlp()
    return _train(around, model, torch.optim.Adam(model.parameters(), fused=True))


def lbfgs(around: Around) -> list[Tensor]:
    model, losses = Mlp(), []
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=3)
    for _ in range(STEPS):
        x, y = _batch()

        def closure(x: Tensor = x, y: Tensor = y) -> Tensor:
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(x), y)
            loss.backward()
            return loss

        with around():
            losses.append(optimizer.step(closure))
    return [*losses, *model.parameters()]


def manual_sgd(around: Around) -> list[Tensor]:
    w, b, losses = torch.randn(6, 3, requires_grad=True), torch.zeros(3, requires_grad=True), []
    for _ in range(STEPS):
        x, y = _batch()
        with around():
            loss = functional.cross_entropy(x @ w + b, y)
            loss.backward()
            with torch.no_grad():
                for parameter in (w, b):
                    parameter -= 0.1 * parameter.grad
                    parameter.grad = None
        losses.append(loss)
    return [*losses, w, b]


def parameter_groups_and_frozen_layer(around: Around) -> list[Tensor]:
    model = Mlp()
    model.fc1.requires_grad_(False)
    groups = [{"params": [model.fc2.weight]}, {"params": [model.fc2.bias, *model.fc1.parameters()], "lr": 0.5}]
    optimizer = torch.optim.SGD(groups, lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    losses = []
    for _ in range(STEPS):
        x, y = _batch()
        with around():
            losses.append(step(model, optimizer, x, y))
            scheduler.step()
    return [*losses, *model.parameters()]


# ------------------------------------------------------------ precision, clipping, accumulation


def autocast_bfloat16(around: Around) -> list[Tensor]:
    model, losses = Mlp(), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(STEPS):
        x, y = _batch()
        with around():
            optimizer.zero_grad()
            with torch.autocast("cpu", torch.bfloat16):
                loss = functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        losses.append(loss)
    return [*losses, *model.parameters()]


def scaler_with_a_skipped_step(around: Around) -> list[Tensor]:
    model, losses = Mlp(), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    for number in range(STEPS):
        x, y = _batch()
        if number == 1:
            x = x * float("inf")
        with around():
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(x), y)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
        losses.append(loss)
    return [*losses, *model.parameters()]


def clipping(around: Around) -> list[Tensor]:
    model, losses = Mlp(), []
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(STEPS):
        x, y = _batch()
        with around():
            optimizer.zero_grad(set_to_none=False)
            loss = functional.cross_entropy(model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            nn.utils.clip_grad_value_(model.parameters(), 0.05)
            optimizer.step()
        losses.append(loss)
    return [*losses, *model.parameters()]


def accumulation(around: Around) -> list[Tensor]:
    model, losses = Mlp(), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(STEPS):
        batches = [_batch(), _batch()]
        with around():
            optimizer.zero_grad()
            for x, y in batches:
                loss = functional.cross_entropy(model(x), y) / 2
                loss.backward()
                losses.append(loss)
            optimizer.step()
    return [*losses, *model.parameters()]


# ------------------------------------------------------------ networks


def cnn(around: Around) -> list[Tensor]:
    model = Cnn()
    return _train(around, model, torch.optim.AdamW(model.parameters()), images_and_labels)


class Recurrent(nn.Module):
    def __init__(self, cell: type[nn.Module]) -> None:
        super().__init__()
        self.cell = cell(6, 5, num_layers=2, batch_first=True)
        self.head = nn.Linear(5, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.cell(x)[0][:, -1])


def lstm(around: Around) -> list[Tensor]:
    model = Recurrent(nn.LSTM)
    optimizer = torch.optim.Adam(model.parameters())
    return _train(around, model, optimizer, lambda: (torch.randn(4, 3, 6), torch.randint(0, 3, (4,))))


def gru(around: Around) -> list[Tensor]:
    model = Recurrent(nn.GRU)
    optimizer = torch.optim.Adam(model.parameters())
    return _train(around, model, optimizer, lambda: (torch.randn(4, 3, 6), torch.randint(0, 3, (4,))))


class Transformer(nn.Module):
    def __init__(self, checkpointed: bool = False) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
        self.embed = nn.Linear(6, 8)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(8, 3)
        self.checkpointed = checkpointed

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.embed(x)
        for layer in self.layers.layers:
            hidden = checkpoint(layer, hidden, use_reentrant=False) if self.checkpointed else layer(hidden)
        return self.head(hidden[:, 0])


def _sequences() -> tuple[Tensor, Tensor]:
    return torch.randn(2, 4, 6), torch.randint(0, 3, (2,))


def transformer(around: Around) -> list[Tensor]:
    model = Transformer()
    return _train(around, model, torch.optim.AdamW(model.parameters()), _sequences)


def transformer_checkpointed(around: Around) -> list[Tensor]:
    model = Transformer(checkpointed=True)
    return _train(around, model, torch.optim.AdamW(model.parameters()), _sequences)


class TiedWords(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(7, 5)
        self.head = nn.Linear(5, 7, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, words: Tensor) -> Tensor:
        return self.head(self.embedding(words).mean(1))


def tied_weights(around: Around) -> list[Tensor]:
    model = TiedWords()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return _train(around, model, optimizer, lambda: (torch.randint(0, 7, (4, 3)), torch.randint(0, 7, (4,))))


class SparseWords(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(7, 3, sparse=True)

    def forward(self, words: Tensor) -> Tensor:
        return self.embedding(words).mean(1)


def sparse_embedding(around: Around) -> list[Tensor]:
    model = SparseWords()
    optimizer = torch.optim.SparseAdam(list(model.parameters()))
    return _train(around, model, optimizer, lambda: (torch.randint(0, 7, (4, 3)), torch.randint(0, 3, (4,))))


class InPlaceAndViews(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.head = nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.fc(x).clone()
        hidden[1:3].mul_(2.0)
        hidden[:, 0] = hidden[:, 1] + 1
        left, right = hidden[:, :3], hidden[:, 3:]
        left.add_(right.relu())
        return self.head(hidden.view(2, -1).view(-1, 6).relu_())


def in_place_and_views(around: Around) -> list[Tensor]:
    model = InPlaceAndViews()
    return _train(around, model, torch.optim.SGD(model.parameters(), lr=0.1))


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, gradient: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return gradient * 2 * x


class WithFunction(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        return Square.apply(self.fc(x))


def custom_function(around: Around) -> list[Tensor]:
    model = WithFunction()
    return _train(around, model, torch.optim.SGD(model.parameters(), lr=0.1))


class Checkpointed(nn.Module):
    """The inner part as a module and as a function, so that both ways of telling recomputation are needed."""

    def __init__(self, reentrant: bool) -> None:
        super().__init__()
        self.first, self.inner, self.last = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 3)
        self.reentrant = reentrant

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.first(x)
        hidden = checkpoint(self.inner, hidden, use_reentrant=self.reentrant)
        hidden = checkpoint(lambda it: it.sin().exp(), hidden, use_reentrant=self.reentrant)
        return self.last(hidden)


def checkpoint_plain(around: Around) -> list[Tensor]:
    model = Checkpointed(reentrant=False)
    return _train(around, model, torch.optim.SGD(model.parameters(), lr=0.1))


def checkpoint_reentrant(around: Around) -> list[Tensor]:
    model = Checkpointed(reentrant=True)
    return _train(around, model, torch.optim.SGD(model.parameters(), lr=0.1))


class Branching(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(6, 6) for _ in range(3))
        self.head = nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        depth = int(x.abs().sum().item()) % 3 + 1
        for layer in self.layers[:depth]:
            x = layer(x) if x.mean().item() > 0 else layer(x).relu()
        return self.head(x)


def dynamic_control_flow(around: Around) -> list[Tensor]:
    model = Branching()
    return _train(around, model, torch.optim.SGD(model.parameters(), lr=0.1))


# ------------------------------------------------------------ several models, several derivatives


def gan(around: Around) -> list[Tensor]:
    netG, netD = nn.Sequential(nn.Linear(3, 6), nn.ReLU()), nn.Sequential(nn.Linear(6, 1))
    generate, judge = torch.optim.Adam(netG.parameters()), torch.optim.Adam(netD.parameters())
    losses = []
    for _ in range(STEPS):
        real, noise = torch.randn(4, 6), torch.randn(4, 3)
        with around():
            judge.zero_grad()
            fake = netG(noise)
            loss_d = functional.softplus(netD(fake.detach())).mean() + functional.softplus(-netD(real)).mean()
            loss_d.backward()
            judge.step()
            generate.zero_grad()
            loss_g = functional.softplus(-netD(fake)).mean()
            loss_g.backward()
            generate.step()
        losses += [loss_d, loss_g]
    return [*losses, *netG.parameters(), *netD.parameters()]


def double_backward(around: Around) -> list[Tensor]:
    critic, losses = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 1)), []
    optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(STEPS):
        x = torch.randn(4, 6, requires_grad=True)
        with around():
            optimizer.zero_grad()
            score = critic(x).sum()
            (gradient,) = torch.autograd.grad(score, x, create_graph=True)
            loss = score + (gradient.norm(dim=1) - 1).square().mean()
            loss.backward()
            optimizer.step()
        losses.append(loss)
    return [*losses, *critic.parameters()]


def functional_gradients(around: Around) -> list[Tensor]:
    weight, losses = torch.randn(6, 3), []

    def loss_of(w: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return functional.mse_loss(x @ w, y)

    for _ in range(STEPS):
        x, y = torch.randn(4, 6), torch.randn(4, 3)
        with around():
            gradient, loss = torch.func.grad_and_value(loss_of)(weight, x, y)
            each = torch.func.vmap(torch.func.grad(loss_of), in_dims=(None, 0, 0))(weight, x, y)
            weight = weight - 0.1 * (gradient + each.mean(0))
        losses.append(loss)
    return [*losses, weight]


# ------------------------------------------------------------ what goes on beside the step


def second_thread(around: Around) -> list[Tensor]:
    model, other, losses = Mlp(), Mlp(), []
    seen: list[Tensor] = []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(STEPS):
        x, y = _batch()
        with around():
            thread = threading.Thread(target=lambda: seen.append(other(torch.ones(2, 6))))
            thread.start()
            losses.append(step(model, optimizer, x, y))
            thread.join()
    return [*losses, *seen, *model.parameters()]


def evaluation_inside(around: Around) -> list[Tensor]:
    model, losses = Cnn(), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(STEPS):
        x, y = images_and_labels()
        with around():
            losses.append(step(model, optimizer, x, y))
            model.eval()
            with torch.inference_mode():
                losses.append(model(x).argmax(1))
            with torch.no_grad():
                losses.append((model(x).argmax(1) == y).float().mean())
            model.train()
    return [*losses, *model.parameters(), *model.buffers()]


def loader_with_workers(around: Around) -> list[Tensor]:
    model, losses = Mlp(), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = TensorDataset(torch.randn(8, 6), torch.randint(0, 3, (8,)))
    with around():
        for x, y in DataLoader(data, batch_size=4, num_workers=2):
            losses.append(step(model, optimizer, x, y))
    return [*losses, *model.parameters()]


STEADY: list[Scenario] = [
    sgd_momentum,
    adam_single,
    adam_foreach,
    adam_fused,
    manual_sgd,
    parameter_groups_and_frozen_layer,
    autocast_bfloat16,
    clipping,
    accumulation,
    cnn,
    lstm,
    gru,
    transformer,
    transformer_checkpointed,
    tied_weights,
    sparse_embedding,
    in_place_and_views,
    custom_function,
    checkpoint_plain,
    checkpoint_reentrant,
    gan,
    double_backward,
    functional_gradients,
    second_thread,
    evaluation_inside,
]
"""Scenarios whose steps are the same from the second on."""

ALL: list[Scenario] = [*STEADY, lbfgs, scaler_with_a_skipped_step, dynamic_control_flow, loader_with_workers]
