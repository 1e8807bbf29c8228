"""One operation of a step, as it is told to those who watch, and as it is kept for the graph."""

from __future__ import annotations

from types import FrameType
from typing import Any, Literal

import torch
from torch import Tensor

from stepscope.core.graph.records import InputRef, NodeRecord, TensorType
from stepscope.probe.torch import stacks
from stepscope.probe.torch.arrays import dtype_name
from stepscope.probe.torch.operations import Operation
from stepscope.probe.torch.storages import Source

Literals = list[tuple[str, Any]]
Phase = Literal["forward", "backward", "recompute", "optimizer", "other"]


class Event:
    """`position` counts from 1 in the step. `tensors` are all tensors among the arguments, in order; of each, `inputs`
    has the node and slot that it came from, and `exact` whether that output is just this tensor (not a part of it, nor
    more); those at the places `writes` are written in place. `outputs` has what the operation returned, None where it
    left one out, and then what it wrote and did not return; it is empty before the operation ran. `rewrites` has the
    place among the tensors and the slot of each output that was written in place. `has_run`: it did not raise.

    The tensors, arguments and frames are there while the event is told, and gone after `release`.
    """

    __slots__ = (
        "args",
        "exact",
        "frame",
        "func",
        "has_run",
        "inputs",
        "kwargs",
        "literals",
        "module",
        "name",
        "operation",
        "outputs",
        "owner",
        "phase",
        "position",
        "rewrites",
        "stack",
        "tensors",
        "types",
        "writes",
    )

    has_run: bool
    position: int
    name: str
    operation: Operation
    phase: Phase
    module: str  # the path of the module, "" outside of any
    owner: str  # the parameter that an optimizer's operation is about
    func: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    tensors: list[Tensor]
    inputs: list[Source]
    exact: list[bool]
    writes: list[int]
    rewrites: list[tuple[int, int]]
    outputs: list[Tensor | None]
    types: list[tuple[torch.dtype | None, tuple[int, ...] | None]]  # of the outputs, as `shape_of` gives shapes
    literals: Literals
    stack: stacks.Places
    frame: FrameType | None

    @property
    def op(self) -> str:
        return self.operation.name

    @property
    def is_view(self) -> bool:
        return self.operation.view

    def frames(self) -> list[FrameType]:
        """The user's frames, innermost first, in the thread that runs the operation. Not to be kept."""
        return stacks.user_frames(self.frame)

    def release(self) -> None:
        """Lets go of everything that holds memory."""
        self.args, self.kwargs, self.tensors, self.outputs, self.frame = (), {}, [], [], None

    def record(self) -> NodeRecord:
        return NodeRecord(
            id=self.name,
            name=self.name,
            op=self.operation.name,
            inputs=[InputRef(source.node, source.slot) for source in self.inputs],
            outputs=[type_of(*one) for one in self.types],
            attributes=attributes_of(self.literals),
            stack=stacks.text(self.stack),
        )


def type_of(dtype: torch.dtype | None, shape: tuple[int, ...] | None) -> TensorType:
    if dtype is None:
        return TensorType()
    return TensorType(dtype_name(dtype), None if shape is None else tuple(shape))


def attributes_of(literals: Literals) -> dict[str, Any]:
    return {name: _plain(value) for name, value in literals if value is not None}


def _plain(value: Any) -> Any:
    """A value that goes into JSON."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return str(value).removeprefix("torch.")
