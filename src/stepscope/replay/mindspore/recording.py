"""A MindSpore dump directory with its graphs: any tensor of the recorded steps, by node.

What is shown for a node is what the node made, which the files alone don't say: optimizers write into their
parameters and dump recycled memory as their output, views dump the shape of their input, and nodes such as `Load` or
`TupleGetItem` never run. `core.graph` knows where a value really lives; here it is fetched.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from stepscope.core import declared
from stepscope.core.errors import NotAvailable, UnknownNode
from stepscope.core.graph import Graph, Node, NodeSummary, Port
from stepscope.core.graph.optimizers import OPTIMIZERS
from stepscope.core.ports import ExecutionOrder, NodeAttributes, Tensor, TensorKey
from stepscope.core.step_data import BEFORE, NET
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.protocol.graphs import records
from stepscope.replay.mindspore.files import DumpFile, read
from stepscope.replay.mindspore.names import Renamer
from stepscope.replay.mindspore.steps import NodeNames, RecordedStep, SavedParameter

_Home = tuple[NodeSummary, int, tuple[int, ...] | None]  # node, slot, shape
_VIEWS = ("Reshape", "Flatten", "ExpandDims", "Squeeze")


class Recording:
    """Feed it the graphs by rising number (`add_graph`) and say which steps are there (`set_steps`)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._renamer = Renamer()
        self._names = NodeNames()
        self._graphs: dict[str, Graph] = {}
        self._numbers: dict[str, str] = {}  # the dump's folder → graph
        self._homes: dict[tuple[str, str, int], _Home] = {}  # by graph, node and slot
        self._steps: dict[int, RecordedStep] = {}
        self._last = 0
        self._at: int | None = None
        self._lock = threading.Lock()  # queries come from several threads

    @property
    def graphs(self) -> Mapping[str, Graph]:
        return self._graphs

    def attributes(self, graph: str, node: str) -> NodeAttributes:
        """Constants of the graph."""
        return NodeAttributes(self._last, self._graphs[graph].node(node).attributes)

    def add_graph(self, number: int, path: Path, trainable: Mapping[str, bool]) -> pb.GraphProto:
        """Reads a graph file; returns the graph with the dump's names and the parameters' roles filled in."""
        graph: pb.GraphProto = pb.ModelProto.FromString(path.read_bytes()).graph
        self._renamer.rename(graph)
        graph.name = f"graph_{number}"
        for parameter in graph.parameters:
            known = parameter.name in trainable
            parameter.role = pb.ParameterProto.PARAMETER if known else pb.ParameterProto.INPUT
            if known:
                parameter.trainable = trainable[parameter.name]
        index = self._graphs[graph.name] = Graph(graph.name, records(graph))
        self._homes = {}
        self._numbers[str(number)] = graph.name
        self._names.add(
            graph.name,
            ((node.op_type, node.full_name, index.name_of(node.name)) for node in graph.node),
            ((parameter.name, index.name_of(parameter.name)) for parameter in graph.parameters),
        )
        return graph

    def set_steps(self, recorded: tuple[int, ...], current: int) -> None:
        """Which steps have been recorded; `current` is the one that the training stands after."""
        with self._lock:
            self._last, self._at = current, None
            self._steps = {step: index for step, index in self._steps.items() if step in recorded}

    def unmatched(self) -> int:
        """How many tensors of the current step belong to no node that we know: a graph was missed, or misnamed."""
        return len(self._step(self._last).unmatched)

    def set_position(self, position: int | None) -> None:
        """Where in the current step the cursor stands (None: after it): what a node made when it ran last before."""
        with self._lock:
            self._at = position

    @property
    def moment(self) -> tuple[int, int | None]:
        """The step and the cursor's position in it: as long as they are the same, all values are."""
        with self._lock:
            return self._last, self._at

    def step_bytes(self) -> int:
        """About what a recorded step of all graphs needs: every output, and again as an input."""
        return 2 * sum(
            declared.size(output)
            for graph in self._graphs.values()
            for name in graph.nodes()
            for output in graph.output_types(name)
        )

    # ------------------------------------------------------------ reading

    def execution(self, offset: int = 0, limit: int = 1000) -> ExecutionOrder:
        order = self._step(self._last).order
        return ExecutionOrder(len(order), tuple(order[offset : offset + limit]))

    def tensor(self, key: TensorKey) -> Tensor:
        """The whole tensor, memory-mapped where it can be; bfloat16 as its bits."""
        graph = self._graph(key.graph)
        step = self._step(self._last if key.when == "current" else self._last - 1)
        if key.input is None:
            return self._slot(graph, key.node, key.slot, step)
        return self._input(graph, graph.node(key.node), key.input, step)

    def _input(self, graph: Graph, node: Node, index: int, step: RecordedStep) -> Tensor:
        ports = [port for port in node.inputs if port.index == index and not port.control]
        if not ports:
            raise UnknownNode(f"{node.name} has no data input {index}")
        file = self._input_file(graph, node.name, ports[0], step) if len(ports) == 1 else None
        if file is not None:
            return _tensor(_in_shape(read(file.path), ports[0].type.shape), file.dtype, step.step)
        if not ports[0].node:
            raise NotAvailable(
                f"input {index} of {node.name} is fed from another graph and was not recorded", code="not_recorded"
            )
        return self._slot(graph, ports[0].node, ports[0].slot, step)

    def _input_file(self, graph: Graph, node: str, port: Port, step: RecordedStep) -> DumpFile | None:
        if port.data_index is None:
            return None
        return step.find(graph.name, node, port.data_index, is_input=True, at=self._position(step))

    def _position(self, step: RecordedStep) -> int | None:
        return self._at if step.step == self._last else None

    def _slot(self, graph: Graph, name: str, slot: int, step: RecordedStep) -> Tensor:
        """All of a `Node` is only made where it is needed: this runs for each tensor of a step that is checked."""
        home, slot, shape = self._home(graph, name, slot)
        if home.kind == "constant" and (constant := graph.node(home.name)).value is not None:
            return declared.constant(constant, step.step)
        found: DumpFile | SavedParameter | None
        if home.kind == "op":
            if home.op in OPTIMIZERS and (overwritten := _overwritten(graph.node(home.name), slot)) is not None:
                return self._input(graph, graph.node(home.name), overwritten, step)
            found = step.find(graph.name, home.name, slot, is_input=False, at=self._position(step))
        else:
            found = step.parameter(graph.name, home.name) or step.saved(home.name, _static(shape))
        found = found or self._read_by_consumer(graph, graph.node(home.name), slot, step)
        if found is None and home.op in _VIEWS and not step.ran(graph.name, home.name):
            # Its kernel was left out: it only changes the shape.
            viewed = self._input(graph, graph.node(home.name), 0, step)
            return _tensor(_in_shape(viewed.array, shape), viewed.dtype, step.step)
        if found is None:
            raise _missing(graph, graph.node(home.name), slot, step)
        return _tensor(_in_shape(read(found.path), shape), found.dtype, step.step)

    def _home(self, graph: Graph, name: str, slot: int) -> _Home:
        """Where a value lives, of which shape it is."""
        known = self._homes.get((graph.name, name, slot))
        if known is None:
            resolved = graph.resolve(name, slot)
            known = graph.summarize(resolved.name), resolved.slot, _shape(graph, resolved.name, resolved.slot)
            self._homes[graph.name, name, slot] = known
        return known

    def _read_by_consumer(self, graph: Graph, node: Node, slot: int, step: RecordedStep) -> DumpFile | None:
        """What a consumer read: the only record of constant tensors and of tuples that are handed into a graph.

        Not for parameters: their consumers may have read the value from before or after the update.
        """
        output = next((output for output in node.outputs if output.slot == slot), None)
        if output is None or node.kind == "parameter":
            return None
        for consumer, index in output.consumers:
            ports = [port for port in graph.node(consumer).inputs if port.index == index]
            file = self._input_file(graph, consumer, ports[0], step) if len(ports) == 1 else None
            if file is not None:
                return file
        return None

    def _step(self, number: int) -> RecordedStep:
        with self._lock:
            if number not in self._steps:
                self._steps[number] = self._read_step(number)
            return self._steps[number]

    def _read_step(self, number: int) -> RecordedStep:
        before = self._folder / BEFORE / str(number)
        folders = {
            self._numbers[folder.parent.name]: folder
            for folder in self._folder.glob(f"rank_*/{NET}/*/{number}")
            if folder.parent.name in self._numbers
        }
        if number < 0:
            raise NotAvailable("there is no step before the first", code="no_previous")
        if not folders and not before.exists():
            raise NotAvailable(f"step {number} was not recorded: the training ran free", code="not_recorded")
        try:
            return RecordedStep(number, folders, before, self._names)
        except FileNotFoundError as error:
            raise NotAvailable("the step has moved on; its values are gone", code="moved_on") from error

    def _graph(self, name: str) -> Graph:
        try:
            return self._graphs[name]
        except KeyError:
            raise UnknownNode(f"no graph {name!r}", self._graphs) from None


def _tensor(array: np.ndarray[Any, Any], dtype: str, step: int) -> Tensor:
    return Tensor(array, dtype, array.shape, step)


def _overwritten(node: Node, slot: int) -> int | None:
    """The input where an optimizer leaves what this output stands for, if no parameter of the graph comes in there."""
    update = OPTIMIZERS.get(node.op)
    shown = update.shown[slot] if update and slot < len(update.shown) else None
    return next((port.index for port in node.inputs if port.data_index == shown), None) if shown is not None else None


def _missing(graph: Graph, node: Node, slot: int, step: RecordedStep) -> NotAvailable:
    if node.kind != "op":
        text, code = f"the value of {node.kind} {node.name} was not recorded in step {step.step}", "not_recorded"
    elif step.step == 0:
        text, code = "nothing has run before the first step; run a step to see this tensor", "no_step"
    elif not step.order:
        text, code = f"step {step.step} was not recorded; of it only the parameters are known", "only_parameters"
    elif not step.ran(graph.name, node.name):
        text, code = f"{node.name} did not run in step {step.step}", "not_run"
    else:
        text, code = f"output {slot} of {node.name} was not recorded in step {step.step}", "not_recorded"
    return NotAvailable(text, code=code)


def _in_shape(array: np.ndarray[Any, Any], shape: tuple[int, ...] | None) -> np.ndarray[Any, Any]:
    """Views (Reshape, Flatten, …) are dumped, and read by others, in the shape of their input; the graph knows best."""
    shape = _static(shape)
    if shape is None or shape == array.shape or int(np.prod(shape, dtype=np.int64)) != array.size:
        return array
    return array.reshape(shape)


def _shape(graph: Graph, node: str, slot: int) -> tuple[int, ...] | None:
    types = graph.output_types(node)
    return types[slot].shape if slot < len(types) else None


def _static(shape: tuple[int, ...] | None) -> tuple[int, ...] | None:
    return None if shape is None or min(shape, default=0) < 0 else tuple(shape)
