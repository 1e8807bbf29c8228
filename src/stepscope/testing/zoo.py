"""A made-up training with tensors of every kind: for the view of a tensor, the tuning guide, the way to an origin.

* `PARAMETERS`: every data type and shape, each with a value before and after a step, and read by an op of its own
  ("Default/zoo-Zoo/Identity-op…"). No optimizer moves them.
* A network of sigmoids that are saturated: its gradients get smaller by orders of magnitude from layer to layer.
* Its loss takes the logarithm of zeros (`LOG`): -Inf, and NaN behind it.
* A chain of `CHAIN` ops, in which the one in the middle (`PLANTED`) takes the logarithm of zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepscope.core.errors import NotAvailable, UnknownNode
from stepscope.core.ports import ExecutedNode, Tensor, TensorKey
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.testing.dumps import tensor_type

Array = NDArray[Any]
Random = np.random.Generator

LAYERS, BATCH, WIDTH, CHAIN = 6, 8, 16, 50
NETWORK, GRADIENTS, OPTIMIZER = "Default/network", "Gradients/Default/network", "Default/optimizer-Momentum"
LOG = f"{NETWORK}/loss/Log-op0"
_RATE = np.float32(0.05)


def _normal(*shape: int) -> Callable[[Random], Array]:
    return lambda random: random.normal(size=shape).astype(np.float32)


def _holes(random: Random) -> Array:
    array = random.normal(size=(32, 48)).astype(np.float32)
    array[3, 17], array[5, 2], array[9, 40], array[3, 18] = np.nan, np.inf, -np.inf, np.nan
    array[20:24] = 0
    return array


def _half(random: Random) -> Array:
    array = random.normal(size=(16, 10)).astype(np.float16)
    array.flat[:6] = [65504, -65504, 6e-8, -6e-8, 0.0, -0.0]
    return array if random.random() < 0.5 else np.asarray(-array)


def _bfloat16(random: Random) -> Array:
    """As float32, in which recordings hold it."""
    bits = random.normal(size=(24, 12)).astype(np.float32).view(np.uint32) & 0xFFFF0000
    return np.asarray(bits.view(np.float32))


def _complex(random: Random) -> Array:
    return np.asarray(random.normal(size=(9, 7)) + 1j * random.normal(size=(9, 7)), np.complex64)


# Name: data type as the framework names it, the one of the graph, and how its value after a step is made.
PARAMETERS: dict[str, tuple[str, pb.DataType, Callable[[Random], Array]]] = {
    "scalar": ("float32", pb.DT_FLOAT32, _normal()),
    "empty": ("float32", pb.DT_FLOAT32, _normal(0, 3)),
    "vector": ("float32", pb.DT_FLOAT32, _normal(7)),
    "long_vector": ("float32", pb.DT_FLOAT32, _normal(1_000_003)),
    "matrix": ("float32", pb.DT_FLOAT32, _normal(1024, 1024)),
    "conv.weight": ("float32", pb.DT_FLOAT32, _normal(6, 1, 5, 5)),
    "pointwise.weight": ("float32", pb.DT_FLOAT32, _normal(64, 32, 1, 1)),
    "five_axes": ("float32", pb.DT_FLOAT32, _normal(2, 3, 4, 5, 6)),
    "double": (
        "float64",
        pb.DT_FLOAT64,
        lambda random: random.normal(size=(5, 6)) * 10.0 ** random.integers(-300, 300),
    ),
    "holes": ("float32", pb.DT_FLOAT32, _holes),
    "all_nan": ("float32", pb.DT_FLOAT32, lambda random: np.full((4, 6), np.nan, np.float32)),
    "all_zero": ("float32", pb.DT_FLOAT32, lambda random: np.zeros((5, 8), np.float32)),
    "transposed": ("float32", pb.DT_FLOAT32, lambda random: _normal(40, 12)(random)[::2].T),
    "half": ("float16", pb.DT_FLOAT16, _half),
    "brain": ("bfloat16", pb.DT_BFLOAT16, _bfloat16),
    "eighth": ("float8_e4m3fn", pb.DT_UNDEFINED, lambda random: random.integers(0, 256, (16, 16), np.uint8)),
    "logical": ("bool", pb.DT_BOOL, lambda random: random.random((8, 16)) < 0.5),
    "bytes": ("uint8", pb.DT_UINT8, lambda random: random.choice(np.array([0, 1, 254, 255], np.uint8), (12, 10))),
    "whole": ("int32", pb.DT_INT32, lambda random: random.integers(-50, 50, (30, 20), np.int32)),
    "large_whole": ("int64", pb.DT_INT64, lambda random: 2**60 + random.integers(-9, 9, (6, 5))),
    "unsigned": (
        "uint64",
        pb.DT_UINT64,
        lambda random: np.uint64(2**64 - 1) - random.integers(0, 9, (4, 4), np.uint64),
    ),
    "waves": ("complex64", pb.DT_BASE_COMPLEX, _complex),
    "words": ("string", pb.DT_STRING, lambda random: random.choice(np.array(["cat", "lion", "zebra"]), (3, 2))),
}
WEIGHTS = {f"layers.{number}.weight": (WIDTH, WIDTH) for number in range(LAYERS)}
INPUTS = {"x": (BATCH, WIDTH), "y": (BATCH, WIDTH)}
_CONSTANTS = {"zero": 0.0, "one": 1.0, "learning_rate": float(_RATE)}

_OPS: dict[str, Callable[..., Any]] = {
    "Identity": lambda value: value,
    "MatMul": lambda a, b: a @ b,
    "MatMulTransposedA": lambda a, b: a.T @ b,
    "MatMulTransposedB": lambda a, b: a @ b.T,
    "Sigmoid": lambda value: 1 / (1 + np.exp(-value - np.float32(5))),  # with a bias that saturates it
    "SigmoidGrad": lambda value, gradient: value * (1 - value) * gradient,
    "ReLU": lambda value: np.maximum(value - np.float32(WIDTH / 2), 0),
    "OnesLike": np.ones_like,
    "Log": np.log,
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "ReduceMean": lambda value: np.asarray(value.mean(), np.float32),
    "ApplyGradientDescent": lambda weight, rate, gradient: weight - rate * gradient,
}
_SHOWN_AS = {"MatMulTransposedA": "MatMul", "MatMulTransposedB": "MatMul"}

_Nodes = dict[str, tuple[str, tuple[str, ...]]]  # full name → op of the table above, inputs


def _nodes() -> _Nodes:
    """In the order in which they run."""
    nodes: _Nodes = {
        f"Default/zoo-Zoo/Identity-op{number}": ("Identity", (name,)) for number, name in enumerate(PARAMETERS)
    }
    value, values = "x", []
    for number in range(LAYERS):
        scope = f"{NETWORK}/{number}-Dense"
        nodes[f"{scope}/MatMul-op{number}"] = ("MatMul", (value, f"layers.{number}.weight"))
        nodes[f"{scope}/Sigmoid-op{number}"] = ("Sigmoid", (f"{scope}/MatMul-op{number}",))
        values.append(value)
        value = f"{scope}/Sigmoid-op{number}"
    nodes[f"{NETWORK}/loss/Mul-op0"] = ("Mul", (value, "y"))
    nodes[f"{NETWORK}/loss/ReLU-op0"] = ("ReLU", (f"{NETWORK}/loss/Mul-op0",))
    nodes[LOG] = ("Log", (f"{NETWORK}/loss/ReLU-op0",))
    nodes[f"{NETWORK}/loss/Mul-op1"] = ("Mul", (LOG, "zero"))
    nodes[f"{NETWORK}/loss/ReduceMean-op0"] = ("ReduceMean", (f"{NETWORK}/loss/Mul-op1",))
    gradient = f"{GRADIENTS}/loss/OnesLike-op0"
    nodes[gradient] = ("OnesLike", (value,))
    for number in reversed(range(LAYERS)):
        scope = f"{GRADIENTS}/{number}-Dense"
        nodes[f"{scope}/SigmoidGrad-op{number}"] = (
            "SigmoidGrad",
            (f"{NETWORK}/{number}-Dense/Sigmoid-op{number}", gradient),
        )
        gradient = f"{scope}/SigmoidGrad-op{number}"
        nodes[f"{scope}/MatMul-op{LAYERS + 2 * number}"] = ("MatMulTransposedA", (values[number], gradient))
        below = f"{scope}/MatMul-op{LAYERS + 2 * number + 1}"
        nodes[below] = ("MatMulTransposedB", (gradient, f"layers.{number}.weight"))
        gradient = below
    for number, name in enumerate(WEIGHTS):
        of = f"{GRADIENTS}/{number}-Dense/MatMul-op{LAYERS + 2 * number}"
        nodes[f"{OPTIMIZER}/ApplyGradientDescent-op{number}"] = ("ApplyGradientDescent", (name, "learning_rate", of))
    value = "x"
    for number in range(CHAIN):
        below = value
        op, inputs = ("Mul", (value, "one")) if number % 2 else ("Add", (value, "one"))
        if number == CHAIN // 2 - 1:
            op, inputs = "Sub", (value, value)
        elif number == CHAIN // 2:
            op, inputs = "Log", (value,)
        value = f"Default/chain-Chain/{op}-op{100 + number}"
        nodes[value] = (op, inputs)
    return nodes


NODES = _nodes()
PLANTED = next(name for name in NODES if name.startswith("Default/chain-Chain/Log"))
CHAIN_END = list(NODES)[-1]

_Values = dict[str, Array]


class Zoo:
    """For a `FakeSource`: the training and what is known of its last two steps."""

    graph_name = "zoo"

    def __init__(self) -> None:
        self.step = 0
        self.loss: float | None = None
        random = np.random.default_rng(3)
        self._weights = {name: random.normal(size=shape).astype(np.float32) for name, shape in WEIGHTS.items()}
        self._values: dict[int, _Values] = {0: self._state()}
        self._read: dict[int, _Values] = {}  # the weights as the ops of the step read them

    def run_step(self) -> None:
        self.step += 1
        random = np.random.default_rng(100 + self.step)
        read = dict(self._weights)
        values = self._state() | {name: random.random(shape).astype(np.float32) for name, shape in INPUTS.items()}
        with np.errstate(all="ignore"):
            for name, (op, inputs) in NODES.items():
                values[name] = _OPS[op](*(values[each] for each in inputs))
                if op == "ApplyGradientDescent":
                    self._weights[inputs[0]] = values[name]
        self._values = {self.step - 1: self._values[self.step - 1], self.step: values | self._weights}
        self._read = {self.step - 1: self._read.get(self.step - 1, {}), self.step: read}
        self.loss = float(values[f"{NETWORK}/loss/ReduceMean-op0"])

    @property
    def recorded_steps(self) -> tuple[int, ...]:
        return tuple(sorted(self._values))

    def tensor(self, key: TensorKey) -> Tensor:
        """Raises NotAvailable and UnknownNode, as a real source does."""
        if key.graph != self.graph_name or not any(key.node in names for names in (NODES, *_LEAVES)):
            raise UnknownNode(f"no node {key.node!r} in graph {key.graph!r}")
        step = self.step - (key.when == "previous")
        name = key.node if key.input is None else NODES[key.node][1][key.input]
        values = self._values.get(step, {})
        array = (self._read.get(step, {}) if key.input is not None else {}).get(name, values.get(name))
        if array is None:
            raise NotAvailable(f"{key.node} has no value in step {step}", code="not_run")
        home = NODES[name][1][0] if name in NODES and NODES[name][0] == "Identity" else name
        dtype = PARAMETERS[home][0] if home in PARAMETERS else str(array.dtype)
        return Tensor(array, dtype, array.shape, step)

    def execution(self) -> list[ExecutedNode]:
        """The nodes of the last step in order; none before the first."""
        return [ExecutedNode(self.graph_name, name) for name in NODES] if self.step else []

    @staticmethod
    def graph_proto() -> pb.GraphProto:
        """Its graph, as an agent sends it."""
        shapes = {name: value.shape for name, value in _sample().items()}
        graph = pb.GraphProto(name=Zoo.graph_name)
        for name in (*PARAMETERS, *WEIGHTS, *INPUTS):
            kind = PARAMETERS[name][1] if name in PARAMETERS else pb.DT_FLOAT32
            message = graph.parameters.add(name=name, type=tensor_type(shapes[name], kind))
            message.role = pb.ParameterProto.INPUT if name in INPUTS else pb.ParameterProto.PARAMETER
            if name not in INPUTS:
                message.trainable = True
        for name, value in _CONSTANTS.items():
            content = pb.ValueProto(dtype=pb.DT_FLOAT32, float_val=value)
            graph.const_vals.add(key=name, full_name=name, value=content)
        ids = {name: str(number) for number, name in enumerate(NODES, 1)}
        for name, (op, inputs) in NODES.items():
            shown = _SHOWN_AS.get(op, op)
            node = graph.node.add(name=ids[name], op_type=shown, full_name=name, scope=name.rpartition("/")[0])
            node.input.extend(pb.InputProto(name=ids.get(each, each)) for each in inputs)
            kind = PARAMETERS[inputs[0]][1] if op == "Identity" else pb.DT_FLOAT32
            node.output_type.CopyFrom(tensor_type(shapes[name], kind))
            line = f"{10 + int(ids[name])}, 8~30/        out = self.{shown.lower()}(x)/"
            node.source_address = f"# In file /home/me/zoo.py:{line}\n"
        return graph

    def _state(self) -> _Values:
        random = np.random.default_rng(1000 + self.step)
        parameters = {name: make(random) for name, (_, _, make) in PARAMETERS.items()}
        constants = {name: np.asarray(value, np.float32) for name, value in _CONSTANTS.items()}
        return parameters | constants | self._weights


_LEAVES: tuple[dict[str, Any], ...] = (PARAMETERS, WEIGHTS, INPUTS, _CONSTANTS)


def _sample() -> _Values:
    """The values of a step."""
    zoo = Zoo()
    zoo.run_step()
    return zoo._values[1]
