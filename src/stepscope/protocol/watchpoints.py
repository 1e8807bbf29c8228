"""Watchpoints and hits as messages of the protocol and back.

A set of watchpoints with many ticks, and the hits of a large graph, are larger than one message may be: both travel in
parts. Invariants as in `convert`: what goes through comes out equal; what comes in is not trusted (BadRequest).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import get_args

from google.protobuf.message import DecodeError

from stepscope.core.errors import BadRequest
from stepscope.core.watch.records import (
    Base,
    ErrorKind,
    Hit,
    HitBatch,
    ParameterCheck,
    Rule,
    Selection,
    Watchpoint,
    WatchpointSet,
)
from stepscope.protocol.gen import stepscope_pb2 as pb

CHUNK_BYTES = 2 << 20
HITS_IN_A_PART = 2000
_BASES: dict[str, Base] = {base: base for base in get_args(Base)}
_ERRORS: dict[str, ErrorKind] = {error: error for error in get_args(ErrorKind)}


def watchpoints_to_proto(watchpoints: WatchpointSet) -> Iterator[pb.Chunk]:
    """At least one chunk; the last is `finished`."""
    data = pb.WatchpointSet(
        revision=watchpoints.revision, watchpoints=map(_watchpoint_to_proto, watchpoints.watchpoints)
    ).SerializeToString()
    for start in range(0, max(len(data), 1), CHUNK_BYTES):
        end = start + CHUNK_BYTES
        yield pb.Chunk(buffer=data[start:end], finished=end >= len(data))


def watchpoints_from_proto(chunks: Iterable[pb.Chunk]) -> WatchpointSet:
    """Of all chunks in order."""
    try:
        message = pb.WatchpointSet.FromString(b"".join(chunk.buffer for chunk in chunks))
    except DecodeError:
        raise BadRequest("a set of watchpoints that can't be read") from None
    return WatchpointSet(message.revision, tuple(map(_watchpoint_from_proto, message.watchpoints)))


def hits_to_proto(batch: HitBatch) -> Iterator[pb.Hits]:
    """At least one message; the last is `finished`."""
    for start in range(0, max(len(batch.hits), 1), HITS_IN_A_PART):
        end = start + HITS_IN_A_PART
        yield pb.Hits(
            step=batch.step,
            revision=batch.revision,
            warning=batch.warning,
            hits=map(_hit_to_proto, batch.hits[start:end]),
            finished=end >= len(batch.hits),
        )


def hits_from_proto(parts: Iterable[pb.Hits]) -> HitBatch:
    """Of all parts in order; at least one."""
    messages = list(parts)
    first = messages[0]
    hits = tuple(_hit_from_proto(hit, first.step) for message in messages for hit in message.hits)
    return HitBatch(first.step, first.revision, hits, first.warning)


def _watchpoint_to_proto(watchpoint: Watchpoint) -> pb.Watchpoint:
    selection = watchpoint.selection
    return pb.Watchpoint(
        id=watchpoint.id,
        condition=watchpoint.condition,
        parameters=[pb.WatchParameter(name=name, value=value) for name, value in watchpoint.parameters.items()],
        base=selection.base,
        ops=selection.ops,
        rules=[
            pb.WatchRule(path=rule.path, on=rule.on, scope=rule.scope, graph_name=rule.graph)
            for rule in selection.rules
        ],
        name=watchpoint.name,
        enabled=watchpoint.enabled,
        recommended=watchpoint.recommended,
    )


def _watchpoint_from_proto(message: pb.Watchpoint) -> Watchpoint:
    if message.base not in _BASES:
        raise BadRequest(f"this version of stepscope does not know the selection {message.base!r}")
    rules = tuple(Rule(rule.path, rule.on, rule.scope, rule.graph_name) for rule in message.rules)
    return Watchpoint(
        id=message.id,
        condition=message.condition,
        parameters={parameter.name: parameter.value for parameter in message.parameters},
        selection=Selection(_BASES[message.base], tuple(message.ops), rules),
        name=message.name,
        enabled=message.enabled,
        recommended=message.recommended,
    )


def _hit_to_proto(hit: Hit) -> pb.Hit:
    return pb.Hit(
        graph_name=hit.graph,
        node_name=hit.node,
        slot=hit.slot,
        watchpoint_id=hit.watchpoint,
        parameters=[
            pb.WatchParameter(name=each.name, value=each.value, hit=each.hit, actual=each.actual) for each in hit.params
        ],
        errors=sorted(hit.error),
        position=hit.position,
    )


def _hit_from_proto(message: pb.Hit, step: int) -> Hit:
    strangers = [error for error in message.errors if error not in _ERRORS]
    if strangers:
        raise BadRequest(f"this version of stepscope does not know the error {strangers[0]!r} of a watchpoint")
    return Hit(
        step=step,
        graph=message.graph_name,
        node=message.node_name,
        slot=message.slot,
        watchpoint=message.watchpoint_id,
        params=tuple(
            ParameterCheck(each.name, each.value, each.hit, each.actual if each.HasField("actual") else None)
            for each in message.parameters
        ),
        error=frozenset(_ERRORS[error] for error in message.errors),
        position=message.position,
    )
