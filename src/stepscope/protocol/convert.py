"""The plain types of `core.ports` as messages of the protocol and back: the only place where the two meet.

Invariants: `x_from_proto(x_to_proto(value)) == value`, not-a-number figures included; a field that is None is left out.
What comes in is not trusted: the `*_from_proto` functions raise BadRequest for values that this version does not know
and for tensors whose bytes don't fit their description.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, Literal, TypeVar

import numpy as np

from stepscope.core.errors import BadRequest, StepscopeError, from_wire
from stepscope.core.ports import (
    Command,
    CommandKind,
    Comparison,
    Cursor,
    ExecutedNode,
    ExecutionOrder,
    Farewell,
    Local,
    Moment,
    NodeAttributes,
    Report,
    SourceInfo,
    StackFrame,
    State,
    Tensor,
    TensorKey,
    TensorStats,
    When,
)
from stepscope.core.tensors import index_shape
from stepscope.core.tensors.blocks import blocks, working_dtype
from stepscope.core.tensors.formats import as_bits, decode
from stepscope.protocol import values
from stepscope.protocol.gen import stepscope_pb2 as pb

PROTOCOL_VERSION = 2
PART_BYTES = 2 << 20  # of a tensor in one message; gRPC refuses messages over 4 MiB

_STORABLE = {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
_STORABLE |= {"float16", "float32", "float64", "complex64", "complex128"}

_COMMANDS: dict[CommandKind, pb.Command.Kind] = {
    "run": pb.Command.RUN,
    "resume": pb.Command.RUN,  # without a number of steps
    "pause": pb.Command.PAUSE,
    "terminate": pb.Command.TERMINATE,
    "next_node": pb.Command.NEXT_NODE,
    "previous_node": pb.Command.PREVIOUS_NODE,
    "run_to": pb.Command.RUN_TO_NODE,
    "recheck": pb.Command.RECHECK,
}
_STATES = {State.RUNNING: pb.Report.RUNNING, State.PAUSED: pb.Report.PAUSED}
_OUTCOMES: dict[Literal["finished", "terminated", "lost"], pb.Farewell.Outcome] = {
    "finished": pb.Farewell.FINISHED,
    "terminated": pb.Farewell.TERMINATED,
    "lost": pb.Farewell.LOST,
}
_WHENS: dict[When, pb.TensorKey.When] = {"current": pb.TensorKey.CURRENT, "previous": pb.TensorKey.PREVIOUS}

_Key = TypeVar("_Key")


def info_to_proto(info: SourceInfo, stepscope_version: str = "") -> pb.Hello:
    return pb.Hello(
        job_id=info.job_id,
        protocol_version=PROTOCOL_VERSION,
        framework=info.framework,
        framework_version=info.framework_version,
        device=info.device,
        rank=info.rank,
        rank_count=info.rank_count,
        host=info.host,
        pid=info.pid,
        command_line=[_clean(argument) for argument in info.command_line],
        working_directory=_clean(info.working_directory),
        step_unit=info.step_unit,
        stepping=info.stepping,
        started_at=info.started_at,
        stepscope_version=stepscope_version,
    )


def info_from_proto(hello: pb.Hello) -> SourceInfo:
    if hello.stepping not in ("recorded", "live"):
        raise BadRequest(f"stepping has to be recorded or live, not {hello.stepping!r}")
    return SourceInfo(
        job_id=hello.job_id,
        framework=hello.framework,
        framework_version=hello.framework_version,
        device=hello.device,
        rank=hello.rank,
        rank_count=hello.rank_count,
        host=hello.host,
        pid=hello.pid,
        command_line=tuple(hello.command_line),
        working_directory=hello.working_directory,
        step_unit=hello.step_unit,
        stepping="live" if hello.stepping == "live" else "recorded",
        started_at=hello.started_at,
    )


def command_to_proto(command: Command) -> pb.Command:
    """`steps` only goes with "run"."""
    return pb.Command(
        kind=_COMMANDS[command.kind],
        steps=command.steps if command.kind == "run" else None,
        graph_name=command.graph,
        node_name=command.node,
        sequence=command.sequence,
        before=command.before,
    )


def command_from_proto(message: pb.Command) -> Command:
    kind = named(_COMMANDS, message.kind, "command")
    limited = message.HasField("steps")
    return Command(
        kind="resume" if kind == "run" and not limited else kind,
        steps=message.steps if limited else 1,
        graph=message.graph_name,
        node=message.node_name,
        sequence=message.sequence,
        before=message.before,
    )


def report_to_proto(report: Report) -> pb.Report:
    cursor = report.cursor
    return pb.Report(
        state=_STATES[report.state],
        step=report.step,
        reason=report.reason,
        cursor=None if cursor is None else _cursor_to_proto(cursor),
        recorded_steps=report.recorded_steps,
        loss=report.loss,
        step_seconds=report.step_seconds,
        command_sequence=report.command_sequence,
        warning=_clean(report.warning),
        notes=report.notes,
        skipped_updates=report.skipped_updates,
    )


def report_from_proto(message: pb.Report) -> Report:
    return Report(
        state=named(_STATES, message.state, "state"),
        step=message.step,
        reason=message.reason,
        cursor=_cursor_from_proto(message.cursor) if message.HasField("cursor") else None,
        recorded_steps=tuple(message.recorded_steps),
        loss=message.loss if message.HasField("loss") else None,
        step_seconds=message.step_seconds if message.HasField("step_seconds") else None,
        command_sequence=message.command_sequence,
        warning=message.warning,
        notes=tuple(message.notes),
        skipped_updates=message.skipped_updates,
    )


def farewell_to_proto(farewell: Farewell) -> pb.Farewell:
    return pb.Farewell(
        outcome=_OUTCOMES[farewell.outcome], detail=_clean(farewell.detail), exit_status=farewell.exit_status
    )


def farewell_from_proto(message: pb.Farewell) -> Farewell:
    return Farewell(
        outcome=named(_OUTCOMES, message.outcome, "outcome"),
        detail=message.detail,
        exit_status=message.exit_status if message.HasField("exit_status") else None,
    )


def key_to_proto(key: TensorKey) -> pb.TensorKey:
    return pb.TensorKey(graph_name=key.graph, node_name=key.node, slot=key.slot, input=key.input, when=_WHENS[key.when])


def key_from_proto(message: pb.TensorKey) -> TensorKey:
    return TensorKey(
        graph=message.graph_name,
        node=message.node_name,
        slot=message.slot,
        when=named(_WHENS, message.when, "time of a tensor"),
        input=message.input if message.HasField("input") else None,
    )


def stats_to_proto(stats: TensorStats) -> pb.TensorStatistics:
    return pb.TensorStatistics(**{field.name: getattr(stats, field.name) for field in fields(stats)})


def stats_from_proto(message: pb.TensorStatistics) -> TensorStats:
    values: dict[str, Any] = {field.name: getattr(message, field.name) for field in fields(TensorStats)}
    return TensorStats(**values | {"shape": tuple(message.shape)})


def comparison_to_proto(comparison: Comparison) -> pb.TensorComparison:
    return pb.TensorComparison(
        current=stats_to_proto(comparison.current),
        previous=stats_to_proto(comparison.previous),
        difference=stats_to_proto(comparison.difference),
        changed_count=comparison.changed_count,
        update_ratio=comparison.update_ratio,
    )


def comparison_from_proto(message: pb.TensorComparison) -> Comparison:
    return Comparison(
        current=stats_from_proto(message.current),
        previous=stats_from_proto(message.previous),
        difference=stats_from_proto(message.difference),
        changed_count=message.changed_count,
        update_ratio=message.update_ratio,
    )


def failure_to_proto(error: StepscopeError) -> pb.Failure:
    return pb.Failure(kind=error.kind, message=_clean(str(error)), field=error.field or None, code=error.code or None)


def failure_from_proto(message: pb.Failure) -> StepscopeError:
    return from_wire(message.kind, message.message, field=message.field, code=message.code)


def execution_to_proto(order: ExecutionOrder) -> pb.ExecutionOrder:
    nodes = [
        pb.ExecutedNode(graph_name=node.graph, node_name=node.node, occurrence=node.occurrence) for node in order.nodes
    ]
    return pb.ExecutionOrder(total=order.total, nodes=nodes)


def execution_from_proto(message: pb.ExecutionOrder) -> ExecutionOrder:
    nodes = tuple(ExecutedNode(node.graph_name, node.node_name, node.occurrence) for node in message.nodes)
    return ExecutionOrder(message.total, nodes)


def frames_to_proto(frames: Sequence[StackFrame]) -> pb.Frames:
    return pb.Frames(frames=map(_frame_to_proto, frames))


def frames_from_proto(message: pb.Frames) -> tuple[StackFrame, ...]:
    return tuple(map(_frame_from_proto, message.frames))


def attributes_to_proto(told: NodeAttributes) -> pb.NodeAttributes:
    attributes = [
        pb.AttributeProto(name=_clean(name), value=values.value_to_proto(one)) for name, one in told.attributes.items()
    ]
    return pb.NodeAttributes(step=told.step, attribute=attributes)


def attributes_from_proto(message: pb.NodeAttributes) -> NodeAttributes:
    return NodeAttributes(message.step, {one.name: values.value(one.value) for one in message.attribute})


def tensor_to_proto(tensor: Tensor) -> Iterator[pb.TensorPart]:
    """The messages that carry a tensor, each of at most `PART_BYTES` of content; at least one.

    The first has the description, with the shape of the whole tensor: who asked knows which part it asked for. Arrays
    of any layout are copied only a message at a time. Bits in formats that numpy lacks are sent as float32.
    """
    array, format = as_bits(tensor.array, tensor.dtype)
    working_dtype(array.dtype)  # raises for what holds no numbers
    stored = np.dtype(np.float32) if format else array.dtype
    if stored.name not in _STORABLE:
        raise BadRequest(f"a tensor that holds {array.dtype} can't be sent")
    part = pb.TensorPart(dtype=tensor.dtype, storage_dtype=stored.name, shape=tensor.shape, step=tensor.step)
    sent = 0
    read = array.dtype.newbyteorder("=" if format else "<")
    for (block,) in blocks(array, dtype=read, order="C", size=PART_BYTES // stored.itemsize):
        sent += block.size
        part.content = decode(block, format).astype(stored.newbyteorder("<"), copy=False).tobytes()
        if sent == array.size:
            part.finished = True
        yield part
        part = pb.TensorPart()
    if not array.size:
        part.finished = True
        yield part


def tensor_from_proto(parts: Iterable[pb.TensorPart], index: str | None = None) -> Tensor:
    """A tensor, read-only, of all its messages in order; `index` is the part of it that was asked for."""
    messages = list(parts)
    if not messages or not messages[-1].finished:
        raise BadRequest("the end of the tensor is missing")
    first = messages[0]
    if first.storage_dtype not in _STORABLE:
        raise BadRequest(f"a tensor can't be stored as {first.storage_dtype!r}")
    shape = tuple(first.shape)
    if min(shape, default=0) < 0:
        raise BadRequest(f"a tensor can't have the shape {shape}")
    dtype = np.dtype(first.storage_dtype).newbyteorder("<")
    content = b"".join(message.content for message in messages)
    part_shape = index_shape(index, shape)
    expected = math.prod(part_shape) * dtype.itemsize
    if len(content) != expected:
        raise BadRequest(f"{len(content)} bytes came for a tensor of {expected}: {dtype.name}, shape {part_shape}")
    array = np.frombuffer(content, dtype).reshape(part_shape)
    return Tensor(array=array, dtype=first.dtype, shape=shape, step=first.step)


def _frame_to_proto(frame: StackFrame) -> pb.StackFrame:
    return pb.StackFrame(
        file=_clean(frame.file),
        line=frame.line,
        function=_clean(frame.function),
        text=_clean(frame.text),
        user=frame.user,
        locals=[
            pb.LocalVariable(
                name=_clean(one.name),
                type=_clean(one.type),
                has_shape=one.shape is not None,
                shape=one.shape,
                text=_clean(one.text),
            )
            for one in frame.locals
        ],
    )


def _frame_from_proto(message: pb.StackFrame) -> StackFrame:
    variables = tuple(
        Local(one.name, one.type, tuple(one.shape) if one.has_shape else None, one.text) for one in message.locals
    )
    return StackFrame(message.file, message.line, message.function, message.text, message.user, variables)


def _cursor_to_proto(cursor: Cursor) -> pb.Cursor:
    return pb.Cursor(
        graph_name=cursor.graph,
        node_name=cursor.node,
        position=cursor.position,
        count=cursor.count,
        before=cursor.moment == "before",
    )


def _cursor_from_proto(message: pb.Cursor) -> Cursor:
    moment: Moment = "before" if message.before else "after"
    return Cursor(message.graph_name, message.node_name, message.position, message.count, moment)


def named(table: Mapping[_Key, int], number: int, what: str) -> _Key:
    """The key of a number in a table; raises BadRequest where there is none."""
    for key, value in table.items():
        if value == number:
            return key
    raise BadRequest(f"this version of stepscope does not know the {what} number {number}")


def _clean(text: str) -> str:
    """Text from the operating system may hold bytes that are no text; protobuf refuses them."""
    return text.encode("utf-8", "replace").decode("utf-8")
