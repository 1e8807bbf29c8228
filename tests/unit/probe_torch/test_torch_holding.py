"""What is held of tensors stays what it was, whatever is done to their memory afterwards."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from stepscope.core.errors import NotAvailable  # noqa: E402
from stepscope.probe.torch import holding as holding_module  # noqa: E402
from stepscope.probe.torch.holding import Held, Holding  # noqa: E402
from stepscope.probe.torch.operations import operation, outputs_of  # noqa: E402

pytestmark = pytest.mark.torch


class Recorder(TorchDispatchMode):
    """Holds every output, and clones it beside: the truth."""

    def __init__(self, holding: Holding) -> None:
        super().__init__()
        self.holding = holding
        self.seen: list[tuple[Any, Held, torch.Tensor]] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        self.holding.settle()
        into = operation(func).may_write(args, kwargs)
        self.holding.before_write(into)
        result = func(*args, **kwargs)
        for output in outputs_of(result, []):
            if output is None:
                continue
            held = self.holding.hold(output)
            if into:
                self.holding.written(held)
            self.seen.append((func, held, output.detach().clone()))
        return result

    def check(self) -> None:
        self.holding.settle()
        assert self.seen
        for func, held, truth in self.seen:
            value = held.read()
            assert value.shape == truth.shape, func
            assert torch.equal(value.to_dense(), truth.to_dense()), func


@pytest.fixture
def holding() -> Holding:
    return Holding()


def run(holding: Holding, program) -> Recorder:
    with Recorder(holding) as recorder:
        program()
    recorder.check()
    return recorder


def test_in_place(holding: Holding) -> None:
    def program() -> None:
        x = torch.ones(4, 5)
        x.add_(1)
        x.mul_(x)
        x.relu_()
        x[1].zero_()
        x[:, 2] = 7

    run(holding, program)


def test_what_is_not_overwritten_is_not_copied(holding: Holding) -> None:
    def program() -> None:
        x = torch.ones(1000)
        (x + 1).relu().sum()

    recorder = run(holding, program)
    assert holding.bytes == 3 * 4000 + 4
    assert all(held.spans for _, held, _ in recorder.seen)


def test_views_are_held_with_their_base(holding: Holding) -> None:
    def program() -> None:
        x = torch.arange(12.0)
        y = x.view(3, 4).t()
        y[1:].unbind(1)

    run(holding, program)
    assert holding.bytes == 48


def test_a_write_through_a_view_keeps_base_and_views(holding: Holding) -> None:
    def program() -> None:
        x = torch.arange(12.0)
        y = x.view(3, 4)
        z = y.t()
        y[0, 1] = -1
        z.mul_(2)
        torch.as_strided(x, (2, 2), (1, 2), 3).fill_(5)

    recorder = run(holding, program)
    copies = {held.tensor.untyped_storage()._cdata for _, held, _ in recorder.seen if not held.spans}
    assert len(copies) < len([held for _, held, _ in recorder.seen if not held.spans])  # of one place, one copy


def test_only_what_is_overwritten_is_copied(holding: Holding) -> None:
    flat = torch.arange(1 << 16, dtype=torch.float32)
    parts = [holding.hold(part) for part in flat.chunk(64)]
    before = [part.read().clone() for part in parts]
    with torch.no_grad():
        for part in flat.chunk(64)[:3]:
            holding.before_write([part])
            part.zero_()
            holding.settle()
    assert holding.bytes == flat.nbytes + 3 * 4096 - 0
    for held, truth in zip(parts, before, strict=True):
        holding.settle()
        assert torch.equal(held.read(), truth)


def test_out_arguments(holding: Holding) -> None:
    def program() -> None:
        x, out = torch.ones(4), torch.zeros(4)
        torch.add(x, 1, out=out)
        torch.mul(out, 3, out=out)
        values, indices = torch.zeros(2), torch.zeros(2, dtype=torch.long)
        torch.sort(out[:2], out=(values, indices))
        torch.sort(-out[:2], out=(values, indices))

    run(holding, program)


def test_foreach(holding: Holding) -> None:
    def program() -> None:
        xs = [torch.full((n,), float(n)) for n in range(1, 5)]
        torch._foreach_add_(xs, 1.0)
        torch._foreach_mul_(xs, [torch.ones(n) * 2 for n in range(1, 5)])
        torch._foreach_addcdiv_(xs, xs, [torch.ones(n) for n in range(1, 5)], value=0.5)

    run(holding, program)


@pytest.mark.parametrize(
    "make",
    [
        lambda p: torch.optim.SGD(p, 0.1, momentum=0.9),
        lambda p: torch.optim.Adam(p, foreach=True),
        lambda p: torch.optim.Adam(p, foreach=False),
        lambda p: torch.optim.AdamW(p, fused=True),
        lambda p: torch.optim.LBFGS(p, max_iter=3),
    ],
    ids=["sgd", "adam-foreach", "adam", "adamw-fused", "lbfgs"],
)
def test_optimizers(holding: Holding, make) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(inplace=True), torch.nn.Linear(8, 1))
    optimizer = make(model.parameters())
    x = torch.randn(3, 4)

    def closure():
        optimizer.zero_grad(set_to_none=False)
        loss = model(x).square().mean()
        loss.backward()
        return loss

    def program() -> None:
        for _ in range(3):
            optimizer.step(closure)

    run(holding, program)


def test_batch_norm_moves_its_statistics_without_saying_so(holding: Holding) -> None:
    norm = torch.nn.BatchNorm1d(4)
    before = holding.hold(norm.running_mean), holding.hold(norm.running_var)
    run(holding, lambda: norm(torch.randn(8, 4)))
    assert torch.equal(before[0].read(), torch.zeros(4))
    assert torch.equal(before[1].read(), torch.ones(4))
    assert not torch.equal(norm.running_mean, torch.zeros(4))


def test_lstm_whose_weights_share_one_memory(holding: Holding) -> None:
    lstm = torch.nn.LSTM(3, 4, 2, bidirectional=True)
    optimizer = torch.optim.SGD(lstm.parameters(), 0.1)

    def program() -> None:
        for _ in range(2):
            optimizer.zero_grad()
            lstm(torch.ones(5, 2, 3))[0].sum().backward()
            optimizer.step()

    run(holding, program)


def test_sparse_gradients(holding: Holding) -> None:
    embedding = torch.nn.Embedding(10, 3, sparse=True)
    optimizer = torch.optim.SparseAdam(embedding.parameters())

    def program() -> None:
        for _ in range(2):
            optimizer.zero_grad()
            embedding(torch.tensor([1, 2, 2])).sum().backward()
            embedding.weight.grad._values().mul_(2)
            optimizer.step()

    run(holding, program)


def test_inference_mode(holding: Holding) -> None:
    def program() -> None:
        with torch.inference_mode():
            x = torch.ones(3)
            x.add_(1)
            x[0] = 9

    run(holding, program)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.complex64, torch.bool, torch.int8])
def test_types(holding: Holding, dtype) -> None:
    def program() -> None:
        x = torch.ones(4, 3).to(dtype)
        x.t().conj().copy_(torch.zeros(3, 4, dtype=dtype))
        x.view(torch.uint8)[0] = 1

    run(holding, program)


def test_expanded_empty_and_scalar_tensors(holding: Holding) -> None:
    def program() -> None:
        x = torch.ones(1, 3).expand(5, 3)
        x[0].clone()
        empty = torch.empty(0, 4)
        empty.add_(1)
        scalar = torch.tensor(2.0)
        scalar.add_(1)

    run(holding, program)


@pytest.mark.parametrize("seed", range(20))
def test_any_program(holding: Holding, seed: int) -> None:
    chance = random.Random(seed)
    torch.manual_seed(seed)

    def program() -> None:
        pool = [torch.randn(4, 6) for _ in range(3)]
        for _ in range(60):
            x = chance.choice(pool)
            y = chance.choice(pool)
            act = chance.randrange(9)
            if act == 0:
                pool.append(x.t())
            elif act == 1 and x.dim() == 2:
                pool.append(x[chance.randrange(x.shape[0])])
            elif act == 2:
                x.mul_(0.5)
            elif act == 3:
                pool.append(x + 1)
            elif act == 4 and x.shape == y.shape:
                x.copy_(y.clone())
            elif act == 5:
                x.reshape(-1)[:: chance.choice((1, 2, 3))].add_(chance.random())
            elif act == 6:
                pool.append(x.detach())
            elif act == 7 and len(pool) > 4:
                pool.pop(chance.randrange(len(pool)))
            elif act == 8:
                torch._foreach_add_(pool[:2], 1.0)

    recorder = run(holding, program)
    for _, held, _ in recorder.seen:
        holding.release(held)
    assert holding.bytes == 0


def test_one_value_has_one_alias_and_as_many_users(holding: Holding) -> None:
    x = torch.ones(100)
    first, second = holding.hold(x), holding.hold(x)
    assert first is second
    holding.release(first)
    assert torch.equal(second.read(), x)
    holding.release(second)
    assert holding.bytes == 0
    with pytest.raises(NotAvailable, match="released"):
        second.read()


def test_memory_that_lives_anyway_does_not_count(holding: Holding) -> None:
    weight = torch.ones(100)
    holding.exempt([weight])
    held = holding.hold(weight)
    assert holding.bytes == 0
    holding.before_write([weight])
    weight.zero_()
    assert holding.bytes == 400
    assert torch.equal(held.read(), torch.ones(100))


def test_memory_that_is_written_unseen_is_copied_at_once(holding: Holding) -> None:
    array = np.zeros((2, 3), np.float32)
    x, held = torch.from_numpy(array)[:, ::2], []
    for value in (1, math.nan, math.nan, 2):
        array[:] = value
        held.append(holding.hold(x))
    array[:] = 99
    assert [one.read()[1, 1].item() for one in held] == pytest.approx([1, math.nan, math.nan, 2], nan_ok=True)
    assert held[1] is held[2]
    assert holding.bytes == 3 * 16
    for one in held:
        holding.release(one)
    assert holding.bytes == 0
    array[:] = math.nan
    assert holding.hold(x) is not held[2]


def test_weights_and_data_sets_are_not_copied_at_once(monkeypatch, holding: Holding) -> None:
    monkeypatch.setattr(holding_module, "MOST_COPIED", 1 << 10)
    weight, data = (torch.from_numpy(np.zeros(size, np.float32)) for size in (4, 1000))
    holding.exempt([weight])
    assert holding.hold(weight).spans
    assert holding.hold(data).spans
    assert not holding.hold(data[:4]).spans


def test_nothing_of_autograd_is_kept(holding: Holding) -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    held = holding.hold(y)
    assert held.read().grad_fn is None
    assert not held.read().requires_grad


def test_a_write_that_was_not_seen_is_known_by_its_count(holding: Holding) -> None:
    x = torch.ones(3)
    held = holding.hold(x)
    x.add_(1)
    with pytest.raises(NotAvailable, match="did not see"):
        held.read()


def test_memory_that_the_program_released(holding: Holding) -> None:
    x = torch.ones(3)
    held = holding.hold(x)
    x.untyped_storage().resize_(0)
    with pytest.raises(NotAvailable, match="released this memory"):
        held.read()


def test_a_tensor_without_memory(holding: Holding) -> None:
    class Wrapper(torch.Tensor):
        @staticmethod
        def __new__(cls):
            return torch.Tensor._make_wrapper_subclass(cls, (3,))

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            raise NotImplementedError(func)

    with pytest.raises(NotAvailable, match="Wrapper has no memory"):
        holding.hold(Wrapper())
