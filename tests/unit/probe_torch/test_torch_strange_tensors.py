"""Tensors that tell little of themselves: they are followed as far as that goes, and never in the way."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from attached import attached  # noqa: E402
from test_torch_free_watch import CHANGES, EVERYTHING, ORIGIN, OVERFLOW, as_on_a_device, watched  # noqa: E402
from torch import nn  # noqa: E402

from stepscope.core.ports import Command  # noqa: E402
from stepscope.probe.torch.storages import shape_of, spot_of  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")]


def nested(layout):
    return torch.nested.nested_tensor([torch.rand(2, 4), torch.rand(3, 4)], layout=layout)


def trained(forward, net=None, steps: int = 5) -> list[float]:
    torch.manual_seed(0)
    net, losses = nn.Linear(4, 4) if net is None else net, []
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(steps):
        loss = forward(net)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def debugged(monkeypatch, training, **arguments):
    """The losses of a training that is held in each step, and the session; it was not let go."""
    commands = [Command("run", steps=1)] * 3 + [Command("next_node"), Command("next_node", before=True)] * 3
    with attached(monkeypatch, *commands) as (session, agent):
        losses = training(**arguments)
        assert session.over == ""
        assert len(agent.pauses) == 10
        assert losses == training(**arguments)


def fast_path_of_a_transformer():
    """PyTorch makes nested tensors in a validation with a padding mask."""
    torch.manual_seed(0)
    net = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, dropout=0.0), 1)
    mask = torch.tensor([[False, False, True, True], [False, False, False, True]])

    def forward(net):
        x = torch.rand(2, 4, 4)
        net.eval()
        with torch.no_grad():
            net(x, src_key_padding_mask=mask)
        net.train()
        return net(x, src_key_padding_mask=mask).square().mean()

    return trained(forward, net)


def jagged():
    return trained(lambda net: torch.tanh(net(nested(torch.jagged))).values().square().mean())


def strided_in_place():
    def forward(net):
        with torch.no_grad():
            nested(torch.strided).relu_()
        return net(torch.rand(2, 4)).square().mean()

    return trained(forward)


def mkldnn():
    def forward(net):
        with torch.no_grad():
            x = torch.rand(2, 4).to_mkldnn().relu_().to_dense()
        return net(x).square().mean()

    return trained(forward)


class Wrapper(torch.Tensor):
    """Without a storage, of a length that it does not want to tell."""

    @staticmethod
    def __new__(cls, inner):
        made = torch.Tensor._make_wrapper_subclass(
            cls, inner.shape, dtype=inner.dtype, dispatch_sizes_strides_policy="sizes", storage_size=0
        )
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func is torch.ops.aten.mul.Tensor:
            return func(*(one.inner if type(one) is cls else one for one in args))
        raise ValueError("not from me")


def wrapper():
    return trained(lambda net: (Wrapper(torch.rand(2, 4)) * net(torch.rand(2, 4))).square().mean())


def fake():
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    def forward(net):
        with FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True) as mode:
            x = mode.from_tensor(torch.rand(3, 4))
            x.relu_().sum()
        return net(torch.rand(2, 4)).square().mean()

    return trained(forward)


@pytest.mark.parametrize(
    "training",
    [fast_path_of_a_transformer, jagged, strided_in_place, mkldnn, wrapper, fake],
    ids=lambda one: one.__name__,
)
def test_a_tensor_of_whatever_kind_is_no_fault(monkeypatch, training) -> None:
    debugged(monkeypatch, training)


def test_shapes() -> None:
    assert shape_of(torch.rand(2, 3)) == (2, 3)
    assert shape_of(nested(torch.jagged)) == (2, -1, 4)
    assert shape_of(nested(torch.strided)) is None
    assert shape_of(Wrapper(torch.rand(2))) is None


def test_a_nested_tensor_lies_where_its_values_do() -> None:
    strided, jagged = nested(torch.strided), nested(torch.jagged)
    assert spot_of(strided)[0] == spot_of(strided.values())[0]
    assert spot_of(jagged)[0] == spot_of(jagged.values())[0]


@pytest.mark.filterwarnings("ignore:`torch.jit.trace` is deprecated", "ignore:`torch.jit.trace_method` is deprecated")
@pytest.mark.parametrize("when", [0, 1, 2, 3])
def test_what_is_traced_for_torchscript_is_as_it_would_be(monkeypatch, when) -> None:
    """No session begins there, no step ends there, and nothing of ours gets into the code."""
    graphs = []

    def training():
        calls = []

        def forward(net):
            if len(calls) == when:
                script = torch.jit.trace(nn.Sequential(net, nn.Tanh()), torch.rand(3, 4))
                graphs.append([node.kind() for node in script.inlined_graph.nodes()])
            calls.append(0)
            return net(torch.rand(2, 4)).square().mean()

        return trained(forward)

    debugged(monkeypatch, training)
    assert graphs[0] == graphs[1]


def test_parameters_that_are_made_by_the_first_call_are_those_of_their_modules(watcher) -> None:
    net = nn.Sequential(nn.LazyLinear(8), nn.LazyBatchNorm1d(), nn.LazyLinear(3))
    steps = watcher()
    for _ in range(2):
        with steps.step():
            net(torch.rand(4, 6)).sum().backward()
        named = {name for name, record in steps.records().items() if record.kind == "parameter"}
        assert named <= {f"net.{name}" for name in net.state_dict()}
    assert len(named) == len(net.state_dict())


def lazy():
    torch.manual_seed(0)
    net = nn.Sequential(nn.LazyLinear(8), nn.LazyLinear(3))
    net(torch.rand(2, 4))
    return trained(lambda net: net(torch.rand(2, 4)).square().mean(), net)


def test_modules_may_wait_for_their_parameters(monkeypatch) -> None:
    debugged(monkeypatch, lazy)


def overflowing(strange):
    """The first node with something to be found of is the network's, in step 5; in each there are strange tensors."""

    def training():
        numbers = iter(range(1, 9))

        def forward(net):
            with torch.no_grad():
                strange()
            x = torch.rand(2, 4) / (next(numbers) != 5)
            return net(x).square().mean()

        return trained(forward, steps=8)

    return training


def on_meta():
    return torch.empty(8, 4, device="meta").relu_() @ torch.empty(4, 2, device="meta")


def zeros_without_memory():
    return torch._efficientzerotensor((2, 4)) * torch.rand(2, 4)


def nested_both():
    return [nested(layout).relu_() * 2 for layout in (torch.strided, torch.jagged)]


@pytest.mark.parametrize("device", [False, True], ids=["here", "on a device"])
@pytest.mark.parametrize(
    "watchpoints", [[OVERFLOW, ORIGIN], EVERYTHING, CHANGES], ids=["both", "recommended", "changes"]
)
@pytest.mark.parametrize("strange", [on_meta, zeros_without_memory, nested_both], ids=lambda one: one.__name__)
def test_what_has_no_values_is_passed_over_in_steps_that_run_free(monkeypatch, strange, watchpoints, device) -> None:
    if device:
        as_on_a_device(monkeypatch)
    _, pauses, traced = watched(monkeypatch, watchpoints, overflowing(strange))
    assert traced == 2
    assert pauses[1].step == (1 if watchpoints is CHANGES else 5)
    assert pauses[-1].step == 8
