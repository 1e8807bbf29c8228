"""Watchpoints as the client takes them, and its hits as ours.

The client has one list of watchpoints, by number. One of ours may be several of its own: no message may be larger than
the 4 MiB that it takes. Whatever changed is deleted there and set anew under fresh numbers, so that a hit always tells
which definition it is of.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from stepscope.core.graph import Graph
from stepscope.core.watch.conditions import ATOL, CONDITIONS, EPSILON, NOT_CHANGED, OPERATOR_OVERFLOW, Condition
from stepscope.core.watch.records import ErrorKind, Hit, ParameterCheck, Watchpoint, WatchpointSet
from stepscope.core.watch.selection import Watched
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.server.mindspore.names import Names, slot_of

log = logging.getLogger(__name__)

MOST_BYTES = 3 << 20  # of a message; the client's limit is gRPC's own, 4 MiB
_SWAPPED_UNTIL = (1, 2)  # up to this version the client reads atol from the first place and rtol from the second
_ERRORS: dict[int, ErrorKind] = {1: "nan", 2: "inf", 4: "no_previous", 8: "unreadable", 16: "no_previous"}
_NOT_MEASURED = ("rtol", "atol", "equal_nan", "epsilon", "range_start_inclusive", "range_end_inclusive")
_DEFAULTS = {"epsilon": EPSILON, "atol": ATOL, "equal_nan": 0.0}


class _Set(NamedTuple):
    """One of ours as the client has it."""

    watchpoint: Watchpoint
    graphs: tuple[Graph, ...]
    numbers: tuple[int, ...]


class ClientWatchpoints:
    """What the client has been told, and what it is to be told next."""

    def __init__(self, version: tuple[int, ...]) -> None:
        self._version = version
        self._wanted = WatchpointSet()
        self._sent: dict[int, _Set] = {}
        self._of: dict[int, Watchpoint] = {}  # every number that was ever given, as a hit may come late
        self._left: list[int] = []  # to be deleted, if they are there at all
        self._last = 0

    @property
    def revision(self) -> int:
        return self._wanted.revision

    @property
    def active(self) -> bool:
        return any(one.enabled for one in self._wanted.watchpoints)

    def want(self, watchpoints: WatchpointSet) -> None:
        self._wanted = watchpoints

    def forget(self) -> None:
        """The client has begun anew, and may know of none. To delete one that it does not know does no harm."""
        self._left += [number for known in self._sent.values() for number in known.numbers]
        self._sent = {}

    def changes(self, graphs: Mapping[str, Graph]) -> list[pb.SetCMD]:
        """What to tell the client now, after which it is taken to know it."""
        now = tuple(graphs.values())
        wanted = {one.id: one for one in self._wanted.watchpoints if one.enabled}
        left, self._left = self._left, []
        commands = [pb.SetCMD(id=number, delete=True) for number in left]
        for id, known in list(self._sent.items()):
            if not _same(wanted.get(id), known.watchpoint) or known.graphs != now:
                commands += [pb.SetCMD(id=number, delete=True) for number in known.numbers]
                del self._sent[id]
        for id, one in wanted.items():
            if id not in self._sent:
                new = list(self._set(one, graphs))
                commands += new
                self._sent[id] = _Set(one, now, tuple(command.id for command in new))
        return commands

    def _set(self, one: Watchpoint, graphs: Mapping[str, Graph]) -> Iterator[pb.SetCMD]:
        condition = self._condition(one)
        nodes: list[pb.WatchNode] = []
        size = 0
        for node in _nodes(one, graphs):
            size += node.ByteSize() + 5  # its tag and length
            if size > MOST_BYTES:
                yield self._numbered(one, nodes, condition)
                nodes, size = [], node.ByteSize() + 5
            nodes.append(node)
        if nodes:
            yield self._numbered(one, nodes, condition)

    def _numbered(self, one: Watchpoint, nodes: list[pb.WatchNode], condition: pb.WatchCondition) -> pb.SetCMD:
        self._last += 1
        self._of[self._last] = one
        return pb.SetCMD(id=self._last, watch_nodes=nodes, watch_condition=condition, delete=False)

    def _condition(self, one: Watchpoint) -> pb.WatchCondition:
        """All parameters in the order of the table: the client reads some of them by their places."""
        known = CONDITIONS[one.condition]
        names = [parameter.name for parameter in known.parameters]
        if known.code == NOT_CHANGED and self._version <= _SWAPPED_UNTIL:
            names[:2] = reversed(names[:2])
        given = {name: _DEFAULTS[name] for name in names if name in _DEFAULTS} | dict(one.parameters)
        condition = pb.WatchCondition(condition=pb.WatchCondition.Condition.ValueType(known.code))
        for name in names:
            if name in given:
                condition.params.add(name=name, disabled=False, value=given[name])
                condition.value = given[name]  # what the oldest clients look at
            else:
                condition.params.add(name=name, disabled=True)
        return condition

    def hit(self, message: pb.WatchpointHit, step: int, names: Names) -> Hit | None:
        """None for one of which we don't know the watchpoint or the node."""
        one = self._of.get(message.id)
        found = names.find(message.tensor.node_name)
        if one is None or found is None:
            log.warning("a hit of watchpoint %d on %.200r: not known", message.id, message.tensor.node_name)
            return None
        graph, node = found
        slot = slot_of(message.tensor)
        error = frozenset(kind for bit, kind in _ERRORS.items() if message.error_code & bit)
        params = _checks(CONDITIONS[one.condition], one, message.watch_condition, bool(error))
        return Hit(step, graph, node, slot, one.id, params, error, names.position(graph, node)[0])

    def warning(self, device: str) -> str:
        """What this device can't check at all."""
        overflow = [
            one.id
            for one in self._wanted.watchpoints
            if one.enabled and CONDITIONS[one.condition].code == OPERATOR_OVERFLOW
        ]
        if not overflow or device.startswith("Ascend"):
            return ""
        return f"watchpoint {', '.join(map(str, overflow))}: overflow of operators is only seen on Ascend"


def _same(wanted: Watchpoint | None, known: Watchpoint) -> bool:
    """Whether the client need not be told of the change: a name means nothing to it."""
    return wanted is not None and (
        (wanted.condition, wanted.parameters, wanted.selection) == (known.condition, known.parameters, known.selection)
    )


def _nodes(one: Watchpoint, graphs: Mapping[str, Graph]) -> Iterator[pb.WatchNode]:
    names = Names(graphs)
    seen = set()
    for graph in graphs.values():
        for node in Watched(graph, one.selection).names():
            wire = names.of(graph.name, node)
            if wire.name in seen:  # a parameter that several graphs read
                continue
            seen.add(wire.name)
            which = graph.name if len(graphs) > 1 else None
            yield pb.WatchNode(node_name=wire.name, node_type=wire.type, graph_name=which)


def _checks(
    known: Condition, one: Watchpoint, condition: pb.WatchCondition, is_error: bool
) -> tuple[ParameterCheck, ...]:
    """What was set comes from us; the client tells what it found."""
    told = {parameter.name: parameter for parameter in condition.params}
    checks = [parameter for parameter in known.parameters if parameter.name in one.parameters]
    only = [parameter.name for parameter in checks if parameter.role == "check"]
    result = []
    for parameter in checks:
        name = parameter.name
        found = told.get(name)
        measured = found is not None and not is_error and name not in _NOT_MEASURED and found.HasField("actual_value")
        actual = found.actual_value if found is not None and measured else None
        hit = not is_error and (only == [name] or (found is not None and found.hit))
        result.append(ParameterCheck(name, one.parameters[name], hit, actual))
    return tuple(result)
