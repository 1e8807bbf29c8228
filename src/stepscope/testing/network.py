"""A small network in numpy with a graph like MindSpore's, whose every value at every step can be worked out.

    hidden = relu(x @ hidden.weight.T + hidden.bias) ; loss, d = mean squared error(hidden @ out.weight.T, y)
    then the gradients, and ApplyMomentum on the three parameters

It has what real graphs have: nodes that are folded (Load, TupleGetItem), an op with two outputs, constants, inputs,
a value that an op read before it was updated in place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.core.errors import NotAvailable, UnknownNode
from stepscope.core.ports import ExecutedNode, Tensor, TensorKey
from stepscope.protocol.gen import stepscope_pb2 as pb

Array = NDArray[Any]

BATCH, FEATURES, HIDDEN, CLASSES = 8, 4, 3, 2
LEARNING_RATE, MOMENTUM = np.float32(0.1), np.float32(0.9)

FORWARD = "Default/network"
BACKWARD = "Gradients/Default/network"
OPTIMIZER = "Default/optimizer-Momentum"

PARAMETERS = {
    "hidden.weight": (HIDDEN, FEATURES),
    "hidden.bias": (HIDDEN,),
    "out.weight": (CLASSES, HIDDEN),
    "moments.hidden.weight": (HIDDEN, FEATURES),
    "moments.hidden.bias": (HIDDEN,),
    "moments.out.weight": (CLASSES, HIDDEN),
}
INPUTS = {"x": (BATCH, FEATURES), "y": (BATCH, CLASSES)}
CONSTANTS: dict[str, Any] = {"learning_rate": float(LEARNING_RATE), "momentum": float(MOMENTUM), "one": 1}

_LOAD_HIDDEN = f"{FORWARD}/hidden-Dense/Load-op0"
_LOAD_OUT = f"{FORWARD}/out-Dense/Load-op1"
_ITEM = f"{BACKWARD}/TupleGetItem-op2"
FOLDED = (_LOAD_HIDDEN, _LOAD_OUT, _ITEM)

# Full name: op, inputs, shapes of the outputs. In the order in which they run.
NODES: dict[str, tuple[str, tuple[str, ...], tuple[tuple[int, ...], ...]]] = {
    _LOAD_HIDDEN: ("Load", ("hidden.weight",), ((HIDDEN, FEATURES),)),
    f"{FORWARD}/hidden-Dense/MatMul-op0": ("MatMul", ("x", _LOAD_HIDDEN), ((BATCH, HIDDEN),)),
    f"{FORWARD}/hidden-Dense/BiasAdd-op0": (
        "BiasAdd",
        (f"{FORWARD}/hidden-Dense/MatMul-op0", "hidden.bias"),
        ((BATCH, HIDDEN),),
    ),
    f"{FORWARD}/relu-ReLU/ReLU-op0": ("ReLU", (f"{FORWARD}/hidden-Dense/BiasAdd-op0",), ((BATCH, HIDDEN),)),
    _LOAD_OUT: ("Load", ("out.weight",), ((CLASSES, HIDDEN),)),
    f"{FORWARD}/out-Dense/MatMul-op1": ("MatMul", (f"{FORWARD}/relu-ReLU/ReLU-op0", _LOAD_OUT), ((BATCH, CLASSES),)),
    f"{FORWARD}/loss/SquaredError-op0": (
        "SquaredError",
        (f"{FORWARD}/out-Dense/MatMul-op1", "y"),
        ((), (BATCH, CLASSES)),
    ),
    _ITEM: ("TupleGetItem", (f"{FORWARD}/loss/SquaredError-op0", "one"), ((BATCH, CLASSES),)),
    f"{BACKWARD}/out-Dense/MatMul-op2": ("MatMul", (_ITEM, f"{FORWARD}/relu-ReLU/ReLU-op0"), ((CLASSES, HIDDEN),)),
    f"{BACKWARD}/out-Dense/MatMul-op3": ("MatMul", (_ITEM, _LOAD_OUT), ((BATCH, HIDDEN),)),
    f"{BACKWARD}/relu-ReLU/ReluGrad-op0": (
        "ReluGrad",
        (f"{BACKWARD}/out-Dense/MatMul-op3", f"{FORWARD}/relu-ReLU/ReLU-op0"),
        ((BATCH, HIDDEN),),
    ),
    f"{BACKWARD}/hidden-Dense/MatMul-op4": (
        "MatMul",
        (f"{BACKWARD}/relu-ReLU/ReluGrad-op0", "x"),
        ((HIDDEN, FEATURES),),
    ),
    f"{BACKWARD}/hidden-Dense/BiasAddGrad-op0": ("BiasAddGrad", (f"{BACKWARD}/relu-ReLU/ReluGrad-op0",), ((HIDDEN,),)),
    **{
        f"{OPTIMIZER}/ApplyMomentum-op{number}": (
            "ApplyMomentum",
            (name, f"moments.{name}", "learning_rate", gradient, "momentum"),
            (PARAMETERS[name], PARAMETERS[name]),
        )
        for number, (name, gradient) in enumerate(
            {
                "hidden.weight": f"{BACKWARD}/hidden-Dense/MatMul-op4",
                "hidden.bias": f"{BACKWARD}/hidden-Dense/BiasAddGrad-op0",
                "out.weight": f"{BACKWARD}/out-Dense/MatMul-op2",
            }.items()
        )
    },
}

Values = dict[tuple[str, int], Array]  # (node, slot) → its value at the end of a step


class Network:
    """The training and what is known of its last two steps. `nan_at`: the step whose input has a NaN."""

    graph_name = "graph_0"

    def __init__(self, nan_at: int | None = None):
        self.step = 0
        self.loss: float | None = None
        self._nan_at = nan_at
        random = np.random.default_rng(7)
        self._parameters = {
            name: (random.normal(size=shape) if not name.startswith("moments.") else np.zeros(shape)).astype(np.float32)
            for name, shape in PARAMETERS.items()
        }
        self._values: dict[int, Values] = {0: self._constants() | self._parameter_values()}
        self._read: dict[int, dict[str, Array]] = {}  # parameters as the ops of the step read them
        self._ran: list[str] = []  # in the last step

    def run_step(self) -> None:
        """Train one step."""
        for _ in self.walk_step():
            pass

    def walk_step(self) -> Iterator[str]:
        """Train one step node by node: each is named just before it runs. The step is over when the last has run."""
        self.step += 1
        before = {name: value.copy() for name, value in self._parameters.items()}
        values = self._constants() | {(name, 0): value for name, value in before.items()}
        x, y = batch(self.step)
        if self.step == self._nan_at:
            x[0, 0] = np.nan
        values["x", 0], values["y", 0] = x, y
        self._values = {self.step - 1: self._values[self.step - 1], self.step: values}
        self._read = {self.step - 1: self._read.get(self.step - 1, {}), self.step: before}
        self._ran = []
        for name, (op, inputs, _) in NODES.items():
            if name not in FOLDED:
                yield name
                self._ran.append(name)
            outputs = self._run(op, inputs, values)
            values |= {(name, slot): output for slot, output in enumerate(outputs)}
            if op == "ApplyMomentum":
                values |= self._parameter_values()
        self.loss = float(values[f"{FORWARD}/loss/SquaredError-op0", 0])

    @property
    def recorded_steps(self) -> tuple[int, ...]:
        return tuple(sorted(self._values))

    @staticmethod
    def graph_proto() -> pb.GraphProto:
        """Its graph, as an agent sends it."""
        return graph_proto()

    def tensor(self, key: TensorKey) -> Tensor:
        """Raises NotAvailable and UnknownNode, as a real source does."""
        if key.graph != self.graph_name or not (key.node in NODES or key.node in {**PARAMETERS, **INPUTS, **CONSTANTS}):
            raise UnknownNode(f"no node {key.node!r} in graph {key.graph!r}")
        step = self.step - (key.when == "previous")
        name, slot = key.node, key.slot
        read_before = False
        if key.input is not None:
            name, slot, read_before = NODES[name][1][key.input], 0, True
        if name == _ITEM:
            name, slot = f"{FORWARD}/loss/SquaredError-op0", 1
        if name in FOLDED:
            name = NODES[name][1][0]
        try:
            values = self._read[step] if read_before and name in PARAMETERS else None
            array = self._values[step][name, slot] if values is None else values[name]
        except KeyError:
            raise NotAvailable(f"{key.node} has no value in step {step}", code="not_run") from None
        return Tensor(array, str(array.dtype), array.shape, step)

    def execution(self) -> list[ExecutedNode]:
        """The nodes of the last step in order, of one that is not over so far; none before the first."""
        return [ExecutedNode(self.graph_name, name) for name in self._ran]

    def _run(self, op: str, inputs: tuple[str, ...], values: Values) -> tuple[Array, ...]:
        of = [values[name, 0] for name in inputs]
        if op == "Load":
            return (of[0],)
        if op == "TupleGetItem":
            return (values[inputs[0], 1],)
        if op == "MatMul":
            return (matmul(*of),)
        if op == "BiasAdd":
            return (of[0] + of[1],)
        if op == "ReLU":
            return (np.maximum(of[0], 0),)
        if op == "ReluGrad":
            return (of[0] * (of[1] > 0),)
        if op == "BiasAddGrad":
            return (of[0].sum(0),)
        if op == "SquaredError":
            difference = of[0] - of[1]
            return np.float32((difference**2).mean()).reshape(()), 2 * difference / np.float32(difference.size)
        assert op == "ApplyMomentum", op
        weight, moment = self._parameters[inputs[0]], self._parameters[inputs[1]]
        moment *= MOMENTUM
        moment += of[3]
        weight -= LEARNING_RATE * moment
        return weight.copy(), moment.copy()

    def _parameter_values(self) -> Values:
        return {(name, 0): value.copy() for name, value in self._parameters.items()}

    @staticmethod
    def _constants() -> Values:
        return {(name, 0): np.asarray(value) for name, value in CONSTANTS.items()}


def batch(step: int) -> tuple[Array, Array]:
    """The input of a step: x and y."""
    random = np.random.default_rng(step)
    return random.normal(size=INPUTS["x"]).astype(np.float32), random.normal(size=INPUTS["y"]).astype(np.float32)


def matmul(a: Array, b: Array) -> Array:
    """Whichever of a @ b, a @ b.T and a.T @ b has fitting shapes: in this network it is always one of them only."""
    if a.shape[1] == b.shape[0]:
        return a @ b
    product: Array = a @ b.T if a.shape[1] == b.shape[1] else a.T @ b
    return product


def graph_proto(name: str = Network.graph_name) -> pb.GraphProto:
    """The network's graph as an agent sends it."""
    graph = pb.GraphProto(name=name)
    ids = {full_name: str(number) for number, full_name in enumerate(NODES, 1)}
    for parameter, shape in {**PARAMETERS, **INPUTS}.items():
        message = graph.parameters.add(name=parameter, type=_tensor_type(shape))
        message.role = pb.ParameterProto.INPUT if parameter in INPUTS else pb.ParameterProto.PARAMETER
        if parameter in PARAMETERS:
            message.trainable = not parameter.startswith("moments.")
    for constant, value in CONSTANTS.items():
        content = graph.const_vals.add(key=constant, full_name=constant).value
        if isinstance(value, int):
            content.dtype, content.int_val = pb.DT_INT64, value
        else:
            content.dtype, content.float_val = pb.DT_FLOAT32, value
    for full_name, (op, inputs, shapes) in NODES.items():
        node = graph.node.add(name=ids[full_name], op_type=op, full_name=full_name, scope=full_name.rpartition("/")[0])
        node.input.extend(pb.InputProto(name=ids.get(one, one)) for one in inputs)
        node.source_address = f"# In file /home/me/train.py:{10 + int(ids[full_name])}, 8~30/        out = {op}(x)/\n"
        node.attribute.add(name="inputs").value.CopyFrom(pb.ValueProto(dtype=pb.DT_INT64, int_val=len(inputs)))
        if len(shapes) == 1:
            node.output_type.CopyFrom(_tensor_type(shapes[0]))
        else:
            node.output_type.data_type = pb.DT_TUPLE
            node.output_type.sequence_type.elem_types.extend(map(_tensor_type, shapes))
    return graph


def _tensor_type(shape: tuple[int, ...]) -> pb.TypeProto:
    result = pb.TypeProto(data_type=pb.DT_TENSOR)
    result.tensor_type.elem_type = pb.DT_FLOAT32
    result.tensor_type.shape.dim.extend(pb.TensorShapeProto.Dimension(size=size) for size in shape)
    return result
