"""Graphs of any size, made up as MindSpore's compiler makes them: the training step of a transformer with Adam.

The same arguments give the same graph. It has what real graph files have: forward layers, the mirrored `Gradients`
scope, an optimizer scope, parameters read through `Load`, tuples taken apart, orders kept by `UpdateState` and
`Depend`, constants with and without values, attributes, source stacks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stepscope.protocol.gen import stepscope_pb2 as pb

_NET = "Default/network-WithLossCell/_backbone-Transformer"
_LOSS = "Default/network-WithLossCell/_loss_fn-SoftmaxCrossEntropyWithLogits"
_ADAM = "Default/optimizer-Adam"
_ROWS, _WIDTH, _CLASSES = 1024, 256, 10
_LIBRARY = "/usr/lib/python3.11/site-packages/mindspore"
_STACK_END = (
    f"In file {_LIBRARY}/nn/wrap/cell_wrapper.py:122, 14~28/        out = self._backbone(data)/",
    f"In file {_LIBRARY}/nn/wrap/cell_wrapper.py:121~123, 4~40/    def construct(self, data, label):/",
    f"In file {_LIBRARY}/nn/wrap/cell_wrapper.py:442, 15~27/        loss = self.network(*inputs)/",
    f"In file {_LIBRARY}/nn/wrap/cell_wrapper.py:440~453, 4~19/    def _no_sens_impl(self, *inputs):/",
    f"In file {_LIBRARY}/nn/wrap/cell_wrapper.py:425, 19~37/            return self._no_sens_impl(*inputs)/",
    f"In file {_LIBRARY}/nn/wrap/cell_wrapper.py:423~438, 4~19/    def construct(self, *inputs):/",
)

Backward = Callable[[str], str]  # the gradient of an output → the gradient of the input; both ids of nodes


def transformer(op_nodes: int = 1000, name: str = "kernel_graph0") -> pb.GraphProto:
    """A graph of exactly `op_nodes` nodes (folded ones such as Load counted), with about half as many parameters and
    constants each. Raises ValueError where that is less than one layer."""
    one, two = (len(_build(layers, 0, name).node) for layers in (1, 2))
    if op_nodes < one:
        raise ValueError(f"a graph of one layer has {one} nodes already, not {op_nodes}")
    layers = 1 + (op_nodes - one) // (two - one)
    return _build(layers, (op_nodes - one) % (two - one), name)


def _build(layers: int, padding: int, name: str) -> pb.GraphProto:
    net = _Net(name)
    value = net.input("inputs0", (_ROWS, _WIDTH))
    steps: list[Backward] = []
    for number in range(layers):
        value, backward = _layer(net, f"{_NET}/layers-CellList/{number}-Layer", f"layers.{number}", value)
        steps.append(backward)
    for _ in range(padding):
        value = net.op("Mul", f"{_NET}/scale-Scale", [value, net.constant(1.0)], line=70)
    value, backward = _dense(net, f"{_NET}/head-Dense", "head", value, _WIDTH, _CLASSES)
    steps.append(backward)
    labels = net.input("inputs1", (_ROWS,), pb.DT_INT32)
    loss = net.op("SparseSoftmaxCrossEntropyWithLogits", _LOSS, [value, labels], (), line=12)
    gradient = net.op("SparseSoftmaxCrossEntropyWithLogits", f"Gradients/{_LOSS}/Grad_Loss", [value, labels], line=12)
    for backward in reversed(steps):
        gradient = backward(gradient)
    _optimizer(net, loss)
    return net.graph


def _dense(net: _Net, scope: str, name: str, value: str, inside: int, outside: int) -> tuple[str, Backward]:
    weight = net.load(scope, net.parameter(f"{name}.weight", (outside, inside), trainable=True))
    product = net.op(
        "MatMul", scope, [value, weight, net.constant(False), net.constant(True)], (_ROWS, outside), line=20
    )
    bias = net.load(scope, net.parameter(f"{name}.bias", (outside,), trainable=True))
    result = net.op("BiasAdd", scope, [product, bias, net.constant(0)], (_ROWS, outside), line=21)

    def backward(gradient: str) -> str:
        no, yes, grad = net.constant(False), net.constant(True), f"Gradients/{scope}/Grad_MatMul"
        bias_scope = f"Gradients/{scope}/Grad_BiasAdd"
        net.gradients[f"{name}.bias"] = net.op(
            "BiasAddGrad", bias_scope, [gradient, net.constant(0)], (outside,), line=21
        )
        net.gradients[f"{name}.weight"] = net.op("MatMul", grad, [gradient, value, yes, no], (outside, inside), line=20)
        return net.op("MatMul", grad, [gradient, weight, no, no], (_ROWS, inside), line=20)

    return result, backward


def _layer_norm(net: _Net, scope: str, name: str, value: str) -> tuple[str, Backward]:
    gamma = net.load(scope, net.parameter(f"{name}.gamma", (_WIDTH,), trainable=True))
    beta = net.load(scope, net.parameter(f"{name}.beta", (_WIDTH,), trainable=True))
    axes = [net.constant(-1), net.constant(-1)]
    norm = net.op("LayerNorm", scope, [value, gamma, beta, *axes, net.constant(1e-7)], tuple_of=3, line=30)
    result = net.item(scope, norm, 0)

    def backward(gradient: str) -> str:
        grad = f"Gradients/{scope}/Grad_LayerNorm"
        variance, mean = net.item(grad, norm, 2, (_ROWS, 1)), net.item(grad, norm, 1, (_ROWS, 1))
        inputs = [value, gradient, variance, mean, gamma, *axes]
        parts = net.op("LayerNormGrad", grad, inputs, tuple_of=3, line=30)
        net.gradients[f"{name}.gamma"] = net.item(grad, parts, 1, (_WIDTH,))
        net.gradients[f"{name}.beta"] = net.item(grad, parts, 2, (_WIDTH,))
        return net.item(grad, parts, 0)

    return result, backward


def _layer(net: _Net, scope: str, name: str, value: str) -> tuple[str, Backward]:
    attention, feed = f"{scope}/attention-Attention", f"{scope}/feed-FeedForward"
    heads = [
        _dense(net, f"{attention}/{part}-Dense", f"{name}.{part}", value, _WIDTH, _WIDTH)
        for part in ("query", "key", "value")
    ]
    query, key, content = (result for result, _ in heads)
    scores = net.op("BatchMatMul", attention, [query, key, net.constant(False), net.constant(True)], line=40)
    scaled = net.op("Mul", attention, [scores, net.constant(0.125)], line=41)
    weights = net.op("Softmax", f"{attention}/softmax-Softmax", [scaled, net.constant((-1,))], line=42)
    context = net.op("BatchMatMul", attention, [weights, content, net.constant(False), net.constant(False)], line=43)
    merged = net.op("Reshape", attention, [context, net.constant((_ROWS, _WIDTH))], line=44)
    mixed, mix_back = _dense(net, f"{attention}/output-Dense", f"{name}.output", merged, _WIDTH, _WIDTH)
    first, first_back = _layer_norm(
        net, f"{scope}/norm1-LayerNorm", f"{name}.norm1", net.op("Add", scope, [value, mixed])
    )
    wide, wide_back = _dense(net, f"{feed}/up-Dense", f"{name}.up", first, _WIDTH, 4 * _WIDTH)
    active = net.op("GeLU", f"{feed}/activation-GELU", [wide], (_ROWS, 4 * _WIDTH), line=50)
    narrow, narrow_back = _dense(net, f"{feed}/down-Dense", f"{name}.down", active, 4 * _WIDTH, _WIDTH)
    last, last_back = _layer_norm(
        net, f"{scope}/norm2-LayerNorm", f"{name}.norm2", net.op("Add", scope, [first, narrow])
    )

    def backward(gradient: str) -> str:
        down = last_back(gradient)
        inner = net.op(
            "GeLUGrad", f"Gradients/{feed}/activation-GELU/Grad_GeLU", [narrow_back(down), wide, active], line=50
        )
        up = first_back(net.op("AddN", f"Gradients/{scope}", [down, wide_back(inner)]))
        grad, no, yes = f"Gradients/{attention}/Grad_BatchMatMul", net.constant(False), net.constant(True)
        back = net.op("Reshape", f"Gradients/{attention}/Grad_Reshape", [mix_back(up), net.constant((_ROWS, _WIDTH))])
        of_weights = net.op("BatchMatMul", grad, [back, content, no, yes], line=43)
        of_content = net.op("BatchMatMul", grad, [weights, back, yes, no], line=43)
        of_scores = net.op("SoftmaxGrad", f"Gradients/{attention}/softmax-Softmax", [weights, of_weights], line=42)
        of_scaled = net.op("Mul", f"Gradients/{attention}/Grad_Mul", [of_scores, net.constant(0.125)], line=41)
        of_query = net.op("BatchMatMul", grad, [of_scaled, key, no, no], line=40)
        of_key = net.op("BatchMatMul", grad, [of_scaled, query, yes, no], line=40)
        parts = [back_of(one) for (_, back_of), one in zip(heads, (of_query, of_key, of_content), strict=True)]
        return net.op("AddN", f"Gradients/{scope}", [up, *parts])

    return last, backward


def _optimizer(net: _Net, loss: str) -> None:
    rate = net.parameter("learning_rate", ())
    powers = [net.load(_ADAM, net.parameter(f"beta{number}_power", ())) for number in (1, 2)]
    powers = [net.op("Mul", _ADAM, [power, net.constant(None)], ()) for power in powers]
    state, done = net.monad, []
    for name, gradient in net.gradients.items():
        moments = [net.parameter(f"moment{number}.{name}", net.shapes[name]) for number in (1, 2)]
        state = net.op("UpdateState", _ADAM, [state, gradient], monad=True)
        fixed = [
            net.constant(None) for _ in range(3)
        ]  # beta1, beta2, epsilon: tensors, whose value the files leave out
        inputs = [name, *moments, *powers, rate, *fixed, gradient, state]
        adam = net.op(
            "Adam", _ADAM, inputs, tuple_of=3, attributes={"use_locking": False, "use_nesterov": False}, line=60
        )
        done.append(net.op("Depend", _ADAM, [net.constant(True), adam], ()))
    together = net.op("MakeTuple", _ADAM, done, tuple_of=len(done))
    net.op("MakeTuple", "Default", [net.op("Depend", "Default", [loss, together], ())], tuple_of=1)


class _Net:
    """A graph being made: `gradients` by parameter, `shapes` of the parameters."""

    def __init__(self, name: str) -> None:
        self.graph = pb.GraphProto(name=name, root_name=name)
        self.gradients: dict[str, str] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        self._numbers: dict[str, int] = {}
        self._constants: dict[str, str] = {}
        self.monad = self.constant(None)

    def input(self, name: str, shape: tuple[int, ...], data_type: int = pb.DT_FLOAT32) -> str:
        self.graph.parameters.add(name=name, type=_tensor(shape, data_type), role=pb.ParameterProto.INPUT)
        return name

    def parameter(self, name: str, shape: tuple[int, ...], trainable: bool = False) -> str:
        self.shapes[name] = shape
        one = self.graph.parameters.add(name=name, type=_tensor(shape), role=pb.ParameterProto.PARAMETER)
        one.trainable = trainable
        return name

    def constant(self, value: bool | int | float | tuple[int, ...] | None) -> str:
        """None is a constant whose value is not told, a new one each time."""
        if value is not None and repr(value) in self._constants:
            return self._constants[repr(value)]
        count = len(self.graph.const_vals)
        self.graph.const_vals.add(key=f"cst{count + 1}", full_name=f"Default_data-{count}", value=_value(value))
        return self._constants.setdefault(repr(value), f"cst{count + 1}") if value is not None else f"cst{count + 1}"

    def load(self, scope: str, parameter: str) -> str:
        return self.op("Load", scope.rpartition("/")[0], [parameter, self.monad], self.shapes[parameter])

    def item(self, scope: str, source: str, number: int, shape: tuple[int, ...] = (_ROWS, _WIDTH)) -> str:
        return self.op("TupleGetItem", scope, [source, self.constant(number)], shape)

    def op(
        self,
        op: str,
        scope: str,
        inputs: Sequence[str],
        shape: tuple[int, ...] = (_ROWS, _WIDTH),
        tuple_of: int = 0,
        monad: bool = False,
        attributes: dict[str, Any] | None = None,
        line: int = 0,
    ) -> str:
        prefix = f"{scope}/{op}"
        number = self._numbers[prefix] = self._numbers.get(prefix, -1) + 1
        node = self.graph.node.add(
            name=str(len(self.graph.node) + 1), op_type=op, scope=scope, full_name=f"{prefix}-op{number}"
        )
        for one in inputs:
            node.input.add(name=one)
        if tuple_of:
            node.output_type.data_type = pb.DT_TUPLE
            for _ in range(tuple_of):
                node.output_type.sequence_type.elem_types.append(_tensor(()))
        else:
            node.output_type.CopyFrom(pb.TypeProto(data_type=pb.DT_UMONAD) if monad else _tensor(shape))
        if line:
            node.source_address = _stack(line, "Gradients/" in scope)
            known = {"IsFeatureMapOutput": True, "IsFeatureMapInputList": tuple(range(len(inputs)))}
            for key, content in (known | (attributes or {})).items():
                node.attribute.add(name=key, value=_value(content))
        return node.name


def _tensor(shape: tuple[int, ...], data_type: int = pb.DT_FLOAT32) -> pb.TypeProto:
    result = pb.TypeProto(data_type=pb.DT_TENSOR)
    result.tensor_type.elem_type = data_type
    for size in shape:
        result.tensor_type.shape.dim.add(size=size)
    return result


def _value(value: Any) -> pb.ValueProto:
    if isinstance(value, bool):
        return pb.ValueProto(dtype=pb.DT_BOOL, bool_val=value)
    if isinstance(value, int):
        return pb.ValueProto(dtype=pb.DT_INT64, int_val=value)
    if isinstance(value, float):
        return pb.ValueProto(dtype=pb.DT_FLOAT32, float_val=value)
    if isinstance(value, tuple):
        return pb.ValueProto(dtype=pb.DT_TUPLE, values=[_value(one) for one in value])
    return pb.ValueProto()


def _stack(line: int, backward: bool) -> str:
    frames = [
        f"In file {_LIBRARY}/nn/layer/basic.py:{line + 700}, 12~39/        x = self.op_{line}(x, self.weight)/",
        f"In file {_LIBRARY}/nn/layer/basic.py:{line + 690}~{line + 720}, 4~16/    def construct(self, x):/",
        f"In file /home/user/transformer.py:{line}, 12~40/        x = self.part_{line}(x)/",
        "In file /home/user/transformer.py:10~80, 4~16/    def construct(self, x):/",
        *_STACK_END,
    ]
    if not backward:
        return "".join(f"      # {frame}\n" for frame in frames)
    marks = ["  - ", *["    "] * (len(frames) - 1)]
    head = "      # Corresponding forward node candidate:\n"
    return head + "".join(f"      #{mark[1:]} {frame}\n" for mark, frame in zip(marks, frames, strict=True))
