"""GraphProto, as MindSpore's clients and stepscope's agents send it, to the records of `core.graph`; and back.

What the wire leaves open is settled here: edges that only keep an order look like all others (UpdateState, the later
inputs of Depend), and constants stand apart from the nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from stepscope.core.graph.records import InputRef, Kind, NodeRecord, TensorType
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.protocol.raw_graph import RawGraph
from stepscope.protocol.values import output_types, types_to_proto, value, value_to_proto, value_type

_TUPLE = "MakeTuple"
_SEQUENCES = (pb.DT_TUPLE, pb.DT_LIST)
_MONADS = {pb.TypeProto(data_type=kind).SerializeToString() for kind in (pb.DT_UMONAD, pb.DT_IOMONAD)}
_ORDER_FROM = {"UpdateState": 0, "ControlDepend": 0, "Load": 1, "Depend": 1}  # from this input on, no value comes in


def records(graph: pb.GraphProto | bytes) -> Iterator[NodeRecord]:
    """Parameters and inputs, then constants, then the nodes, each in the order of `graph`.

    A record's id is the name that inputs use: the node's `name` ("1", "2", …), the parameter's name, the constant's
    key. Serialised bytes are read faster than a message. Raises DecodeError where the bytes are no GraphProto.
    """
    raw = RawGraph.FromString(graph if isinstance(graph, bytes) else graph.SerializeToString())
    reader = _Reader(raw)
    yield from map(reader.parameter, raw.parameters)
    yield from map(reader.constant, raw.const_vals)
    yield from map(reader.node, raw.node)


def to_proto(name: str, records: Iterable[NodeRecord]) -> pb.GraphProto:
    """The graph of these records, of which `records` makes them again: parameters, inputs and constants first.

    The wire has no id besides the name of a parameter or an input, which so becomes its id; of constants the type is
    that of their value. Raises ValueError for two records of one id, and for one without a name.
    """
    of_records = list(records)
    ids = {one.id: one.name if one.kind in ("parameter", "input") else one.id for one in of_records}
    if len(set(ids.values())) < len(of_records) or not all(one.name for one in of_records):
        raise ValueError(f"the nodes of graph {name!r} need names and ids of their own")
    graph = pb.GraphProto(name=name)
    for one in of_records:
        if one.kind == "constant":
            graph.const_vals.add(key=one.id, full_name=one.name, value=value_to_proto(one.value))
        elif one.kind == "op":
            _node_to_proto(graph.node.add(name=one.id), one, ids)
        else:
            role = pb.ParameterProto.INPUT if one.kind == "input" else pb.ParameterProto.PARAMETER
            type_of = types_to_proto(one.outputs)
            graph.parameters.add(name=one.name, type=type_of, role=role, trainable=one.trainable)
    return graph


def _node_to_proto(node: pb.NodeProto, record: NodeRecord, ids: Mapping[str, str]) -> None:
    node.full_name, node.op_type, node.source_address = record.name, record.op, record.stack
    node.output_type.CopyFrom(types_to_proto(record.outputs))
    for name, content in record.attributes.items():
        node.attribute.add(name=name, value=value_to_proto(content))
    for one in record.inputs:
        kind = pb.InputProto.CONTROL_EDGE if one.control else None
        node.input.add(name=ids.get(one.source, one.source), type=kind, slot=one.slot or None)


class _Reader:
    """Keeps what it has decoded by its bytes: equal types and attributes become one object."""

    def __init__(self, raw: Any) -> None:
        self._states = _states(raw)
        self._tuples = _tuples(raw)
        self._types: dict[bytes, tuple[TensorType, ...]] = {}
        self._values: dict[bytes, tuple[tuple[TensorType, ...], Any]] = {}
        self._attributes: dict[tuple[bytes, ...], _Attributes] = {(): _Attributes(())}
        self._inputs: dict[bytes, InputRef] = {}
        self._orders: dict[bytes, InputRef] = {}

    def parameter(self, parameter: Any) -> NodeRecord:
        kind: Kind = "input" if parameter.role == pb.ParameterProto.INPUT else "parameter"
        trainable = parameter.trainable if parameter.HasField("trainable") else None
        name = parameter.name
        length = self._tuples.get(name)
        outputs = self._output(parameter.type) if length is None else (TensorType(),) * length
        return NodeRecord(name, name, kind.capitalize(), kind, outputs=outputs, trainable=trainable)

    def constant(self, constant: Any) -> NodeRecord:
        key, raw = constant.key, constant.value
        known = self._values.get(raw)
        if known is None:
            content = pb.ValueProto.FromString(raw)
            known = self._values[raw] = (value_type(content),), value(content)
        return NodeRecord(key, constant.full_name or key, "Constant", "constant", outputs=known[0], value=known[1])

    def node(self, node: Any) -> NodeRecord:
        op, number = node.op_type, node.name
        name = node.full_name or f"{node.scope}/{op}-op{number}".lstrip("/")
        key = tuple(node.attribute)
        attributes = self._attributes.get(key) or self._attributes.setdefault(key, _Attributes(key))
        outputs = self._output(node.output_type)
        return NodeRecord(
            number, name, op, "op", self._read_inputs(op, node.input), outputs, attributes, node.source_address
        )

    def _read_inputs(self, op: str, inputs: Sequence[bytes]) -> list[InputRef]:
        if self._tuples and op == _TUPLE:
            return list(self._elements(inputs))
        order_from = _ORDER_FROM.get(op, len(inputs))
        return [
            self._inputs.get(one) or self._input(one)
            if index < order_from
            else self._orders.get(one) or self._order(one)
            for index, one in enumerate(inputs)
        ]

    def _elements(self, inputs: Sequence[bytes]) -> Iterator[InputRef]:
        """The inputs of a MakeTuple; a tuple that is handed in stands there once for each of its elements."""
        seen: Counter[str] = Counter()
        for one in map(self._input, inputs):
            if one.source in self._tuples:
                yield one._replace(slot=seen[one.source])
                seen[one.source] += 1
            else:
                yield one

    def _input(self, raw: bytes) -> InputRef:
        name = _plain_name(raw)
        if name is not None:
            return self._inputs.setdefault(raw, InputRef(name, 0, name in self._states))
        one = pb.InputProto.FromString(raw)
        control = one.type == pb.InputProto.CONTROL_EDGE or one.name in self._states
        return self._inputs.setdefault(raw, InputRef(one.name, one.slot, control))

    def _order(self, raw: bytes) -> InputRef:
        return self._orders.setdefault(raw, InputRef(_plain_name(raw) or pb.InputProto.FromString(raw).name, 0, True))

    def _output(self, raw: bytes) -> tuple[TensorType, ...]:
        types = self._types.get(raw)
        if types is None:
            types = self._types[raw] = output_types(pb.TypeProto.FromString(raw))
        return types


def _tuples(raw: Any) -> dict[str, int]:
    """Inputs of the graph that are tuples, with their lengths: their types say nothing of their elements."""
    names = {one.name for one in raw.parameters if pb.TypeProto.FromString(one.type).data_type in _SEQUENCES}
    lengths: dict[str, int] = {}
    for node in raw.node if names else ():
        if node.op_type == _TUPLE:
            count = Counter(pb.InputProto.FromString(one).name for one in node.input)
            lengths.update((name, max(count[name], lengths.get(name, 0))) for name in names & count.keys())
    return lengths


def _plain_name(raw: bytes) -> str | None:
    """The name in an InputProto that has a short name only, or a name and the type DATA_EDGE: in practice, all."""
    if len(raw) > 2 and raw[0] == 0x0A and raw[1] < 0x80 and raw[raw[1] + 2 :] in (b"", b"\x10\x00"):
        return raw[2 : raw[1] + 2].decode()
    return None


class _Attributes(Mapping[str, Any]):
    """The attributes of a node, kept as they came: few of them are ever looked at."""

    __slots__ = ("_raw",)

    def __init__(self, raw: tuple[bytes, ...]) -> None:
        self._raw = raw

    def _decode(self) -> dict[str, Any]:
        return {one.name: value(one.value) for one in map(pb.AttributeProto.FromString, self._raw)}

    def __getitem__(self, name: str) -> Any:
        return self._decode()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._decode())

    def __len__(self) -> int:
        return len(self._decode())

    def __bool__(self) -> bool:
        return True  # decodes nothing


def _states(raw: Any) -> set[str]:
    """Names of all that carries an order, not a value: UpdateState nodes and the like, and what they begin with."""
    result = {one.name for one in raw.parameters if one.type in _MONADS}
    firsts: set[bytes] = set()
    for node in raw.node:
        op = node.op_type
        if op == "UpdateState":
            result.add(node.name)
            firsts.update(node.input[:1])
        elif op == "Load":
            firsts.update(node.input[1:2])
        elif node.output_type in _MONADS:
            result.add(node.name)
    return result.union(pb.InputProto.FromString(one).name for one in firsts)
