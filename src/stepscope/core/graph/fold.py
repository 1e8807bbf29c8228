"""Values followed through the nodes that only pass them on, and the edges that are left between the others.

Folded nodes: `Load` and `Depend` pass on their first input, `TupleGetItem` an element of it, `MakeTuple` bundles its
inputs, `UpdateState` only keeps an order. PyTorch's views of all elements pass on what they view, and memory that
nobody wrote is none. None of them has a value of its own.

An address is (node, slot). The slot WHOLE stands for all that a node puts out: its output 0, or the tuple of all its
outputs, of which a `TupleGetItem` picks one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

import numpy as np

from stepscope.core.graph.columns import OP, Bools, Columns, Ints
from stepscope.core.graph.records import TensorType
from stepscope.core.graph.torch_ops import SAME_ELEMENTS, UNWRITTEN

WHOLE = -1
Address = tuple[int, int]

_PASS, _ITEM, _TUPLE, _STATE = 1, 2, 3, 4
FOLDED_OPS = {
    "Load": _PASS,
    "Depend": _PASS,
    "Return": _PASS,
    "TupleGetItem": _ITEM,
    "tuple_getitem": _ITEM,
    "MakeTuple": _TUPLE,
    "make_tuple": _TUPLE,
    "UpdateState": _STATE,
    "ControlDepend": _STATE,
    **dict.fromkeys(SAME_ELEMENTS, _PASS),
    **dict.fromkeys(UNWRITTEN, _STATE),
}


class Flow:
    """The edges between nodes that are not folded, ordered by target and input.

    Edge e carries output `slot[e]` of `source[e]` into `target[e]`, through its input number `port[e]` (an index into
    the `input_…` columns). `element[e]` numbers the elements of a tuple that was made up on the way, else it is -1.
    Where `control[e]`, it carries no value. `folded[i]` tells whether node i is folded.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        codes = np.array([FOLDED_OPS.get(op, 0) for op in columns.op_names], np.uint8)
        self._fold = np.where(columns.kinds == OP, codes[columns.ops], 0)
        self.folded: Bools = self._fold > 0
        self._home_node: Ints = np.arange(len(columns), dtype=np.int32)
        self._home_slot: Ints = np.full(len(columns), WHOLE, np.int32)
        self._element_types: dict[Address, TensorType] = {}
        # Views whose elements are Python's own ints: one at a time they are read far faster than out of an array.
        self._start, self._from = columns.input_start.data, columns.input_source.data
        self._from_slot, self._how = columns.input_slot.data, self._fold.data
        self._to_node, self._to_slot = self._home_node.data, self._home_slot.data
        self._find_homes()
        self._make_edges()

    # ------------------------------------------------------------ asking

    def home(self, node: int, slot: int) -> Address:
        """Where output `slot` of any node really lives: a node not folded, or a folded one that leads nowhere."""
        address = self._value(node, slot)
        if self._is_tuple(address):
            address = self._select(address, 0)
        return address[0], max(address[1], 0)

    def producers(self, port: int) -> Iterator[tuple[int, int, int]]:
        """(node, slot, element) of what comes in at a data input, -1 as the element unless it is a made-up tuple."""
        source = self._from[port]
        if source < 0:
            return
        address = self._value(source, self._from_slot[port])
        if not self._is_tuple(address):
            yield address[0], max(address[1], 0), -1
            return
        for element, (node, slot) in enumerate(self._elements(address[0])):
            yield node, max(slot, 0), element

    def output_type(self, node: int, slot: int) -> TensorType:
        """Of a tuple output the source may only know the shape where an element of it is taken out."""
        return self._element_types.get((node, slot)) or declared_type(self._columns, node, slot)

    # ------------------------------------------------------------ building

    def _find_homes(self) -> None:
        done = bytearray((~self.folded).tobytes())
        for first in np.flatnonzero(self.folded).tolist():
            stack, opened = [first], set[int]()
            while stack:
                node = stack[-1]
                if done[node]:
                    stack.pop()
                    continue
                sources = [self._from[port] for port in self._passed_on(node)]
                waiting = [source for source in sources if source >= 0 and not done[source]]
                if waiting and node not in opened:
                    opened.add(node)  # comes up again when its sources are done; in a circle they never are
                    stack += waiting
                    continue
                self._set_home(node)
                done[node] = True

    def _passed_on(self, node: int) -> range:
        """The inputs that a folded node passes on."""
        start, end = self._start[node], self._start[node + 1]
        how = self._how[node]
        return range(start, end if how == _TUPLE else start if how == _STATE else min(start + 1, end))

    def _set_home(self, node: int) -> None:
        how, passed_on = self._how[node], self._passed_on(node)
        if how == _TUPLE or not passed_on or self._from[passed_on[0]] < 0:
            return
        address = self._value(self._from[passed_on[0]], self._from_slot[passed_on[0]])
        if how == _ITEM:
            which = self._item_index(node)
            if which is None:
                return
            address = self._select(address, which)
            outputs = self._columns.outputs[node]
            if outputs and outputs[0].shape is not None and declared_type(self._columns, *address).shape is None:
                self._element_types.setdefault(address, outputs[0])
        self._to_node[node], self._to_slot[node] = address

    def _item_index(self, node: int) -> int | None:
        port = self._start[node] + 1
        value = self._columns.values.get(self._from[port]) if port < self._start[node + 1] else None
        return value if isinstance(value, int) else None

    def _value(self, source: int, slot: int) -> Address:
        address = self._to_node[source], self._to_slot[source]
        return self._select(address, slot) if slot > 0 else address

    def _select(self, address: Address, element: int) -> Address:
        node, slot = address
        if slot != WHOLE:
            return address  # a tuple inside an op's output: the source counts no slots there
        if self._how[node] != _TUPLE:
            return node, element if element >= 0 else max(element + len(self._columns.outputs[node]), 0)
        start, end = self._start[node], self._start[node + 1]
        port = start + element if element >= 0 else end + element
        if not start <= port < end or self._from[port] < 0:
            return node, max(element, 0)
        return self._value(self._from[port], self._from_slot[port])

    def _is_tuple(self, address: Address) -> bool:
        return self._how[address[0]] == _TUPLE and address[1] == WHOLE

    def _elements(self, node: int) -> Iterator[Address]:
        """The values in a made-up tuple; one in another is laid out flat, each once at most (a circle ends)."""
        stack, seen = [iter(self._passed_on(node))], {node}
        while stack:
            port = next(stack[-1], None)
            if port is None:
                stack.pop()
                continue
            if self._from[port] < 0:
                continue
            address = self._value(self._from[port], self._from_slot[port])
            if not self._is_tuple(address):
                yield address
            elif address[0] not in seen:
                seen.add(address[0])
                stack.append(iter(self._passed_on(address[0])))

    def _make_edges(self) -> None:
        columns = self._columns
        source = columns.input_source
        known = (source >= 0) & ~self.folded[columns.input_target]
        control = known & columns.input_control & ~self.folded[source]
        data = known & ~columns.input_control
        made_up = data & (self._fold[self._home_node[source]] == _TUPLE)
        made_up |= data & self.folded[source] & (columns.input_slot > 0)
        plain = np.flatnonzero((data & ~made_up) | control).astype(np.int32)
        through = self.folded[source[plain]]
        nodes = np.where(through, self._home_node[source[plain]], source[plain])
        slots = np.where(through, np.maximum(self._home_slot[source[plain]], 0), columns.input_slot[plain])
        more_port, more_node, more_slot, more_element = array("i"), array("i"), array("i"), array("i")
        for port in np.flatnonzero(made_up).tolist():
            for one, its_slot, element in self.producers(port):
                more_port.append(port)
                more_node.append(one)
                more_slot.append(its_slot)
                more_element.append(element)
        elements = np.concatenate([np.full(len(plain), -1, np.int32), np.array(more_element, np.int32)])
        ports = np.concatenate([plain, np.array(more_port, np.int32)])
        nodes = np.concatenate([nodes, np.array(more_node, np.int32)]).astype(np.int32)
        slots = np.concatenate([slots, np.array(more_slot, np.int32)]).astype(np.int32)
        order = np.argsort(ports, kind="stable")
        order = order[~self.folded[nodes[order]]]  # a folded node that leads nowhere has no value
        self.port: Ints = ports[order]
        self.source: Ints = nodes[order]
        self.slot: Ints = slots[order]
        self.element: Ints = elements[order]
        self.target: Ints = columns.input_target[self.port]
        self.control: Bools = columns.input_control[self.port]


def declared_type(columns: Columns, node: int, slot: int) -> TensorType:
    outputs = columns.outputs[node]
    slot = max(slot, 0)
    return outputs[slot] if slot < len(outputs) else TensorType()
