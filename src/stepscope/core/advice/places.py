"""Tensors on the way back from a bad one, and what each of them was made from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from stepscope.core.graph import Graph, Kind, Node, Port
from stepscope.core.graph.optimizers import OPTIMIZERS
from stepscope.core.graph.updates import overwritten
from stepscope.core.ports import TensorKey, When


@dataclass(frozen=True)
class Place:
    """An output of a node in a step. `key` is how its value is asked for: as the node that reads it has seen it.

    `as_read`: a parameter as it was when it was read, which may be before or after it was updated in that step.
    """

    node: str
    slot: int
    kind: Kind
    key: TensorKey
    as_read: bool = False

    @property
    def when(self) -> When:
        return self.key.when

    @property
    def identity(self) -> tuple[str, int, str, bool]:
        return self.node, self.slot, self.when, self.as_read


def placed(graph: Graph, key: TensorKey) -> Place:
    """The place of a tensor that was asked for; of an input, that which is read there."""
    node = graph.node(key.node)
    if key.input is not None:
        port = next((port for port in node.inputs if port.index == key.input and port.node), None)
        if port is not None:
            return replace(_read(graph, node, port, key.when), key=key)
    if node.folded:
        home = graph.resolve(key.node, key.slot)
        return Place(home.name, home.slot, home.kind, key)
    return Place(key.node, key.slot, node.kind, key)


def made_from(graph: Graph, place: Place, gradients_only: bool) -> Iterator[Place]:
    """What a tensor was computed from; of a parameter, what the ops read that write into it.

    gradients_only: of an optimizer the gradient alone, not its state and its rates.
    Constants are left out: what is wrong with a constant is wrong with the op that uses it.
    """
    makers = [place.node] if place.kind == "op" else []
    if place.kind == "parameter" and not place.as_read:
        makers = graph.updates.writers(place.node)
    for maker in makers:
        node = graph.node(maker)
        update = OPTIMIZERS.get(node.op)
        for port, read in inputs(graph, node, place.when):
            wanted = not gradients_only or update is None or port.data_index == update.gradient
            if wanted and read is not None and read.kind != "constant":
                yield read


def inputs(graph: Graph, node: Node, when: When) -> Iterator[tuple[Port, Place | None]]:
    """What goes into a node. None for a parameter that it writes over, in the step before.

    Of such a parameter what went in is recorded as it was written over; it is the value after the step before.
    """
    written = overwritten(node.op, sum(not port.control for port in node.inputs), len(node.outputs))
    for port in node.inputs:
        if port.control or not port.node:
            continue
        read = _read(graph, node, port, when)
        if read.kind != "parameter" or port.data_index not in written:
            yield port, read
        elif when == "previous":
            yield port, None
        else:
            yield port, replace(read, key=TensorKey(graph.name, read.node, read.slot, "previous"), as_read=False)


def writer_of(graph: Graph, place: Place) -> Place | None:
    """The output that stands for a parameter of the one op that writes into it; None for several, and for what is no
    parameter."""
    writers = graph.updates.writers(place.node) if place.kind == "parameter" and not place.as_read else []
    if len(writers) != 1:
        return None
    if (last := graph.updates.last_write(place.node)) is not None:
        return Place(last[0], last[1], "op", TensorKey(graph.name, *last, place.when))
    node = graph.node(writers[0])
    shown = OPTIMIZERS[node.op].shown if node.op in OPTIMIZERS else ()
    at = {port.data_index for port in node.inputs if port.node == place.node and not port.control}
    slot = next((slot for slot, index in enumerate(shown) if index in at), 0)
    return Place(node.name, slot, "op", TensorKey(graph.name, node.name, slot, place.when))


def _read(graph: Graph, reader: Node, port: Port, when: When) -> Place:
    kind = graph.summarize(port.node).kind
    key = TensorKey(graph.name, reader.name, when=when, input=port.index)
    if port.element is not None:  # one of several that come in there together
        key = TensorKey(graph.name, port.node, port.slot, when)
    return Place(port.node, port.slot, kind, key, as_read=kind == "parameter")
