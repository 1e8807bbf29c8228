"""In which part of the step an operation runs, and so in which scope it stands and whose code it belongs to."""

from __future__ import annotations

import os
import sys
import threading
from types import CodeType, FrameType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from stepscope.probe.torch import compat, stacks
from stepscope.probe.torch.autograd import Origin, SequenceMap
from stepscope.probe.torch.events import Phase
from stepscope.probe.torch.scopes import Running, Scopes
from stepscope.probe.torch.storages import Source, Spot, address_of
from stepscope.probe.torch.variables import GRADIENT, INPUT, Variables

GRADIENTS, RECOMPUTE, OPTIMIZER, SCRIPT, DATA = "Gradients/", "Recompute/", "Optimizer/", "Script", "Data"
_CHECKPOINT = torch.utils.checkpoint.__file__
_OPTIMIZERS = os.path.join(os.path.dirname(torch.optim.__file__), "")
# What stands around a function without being what the user called.
_WRAPPERS = frozenset(("decorate_context", "decorate_autocast", "decorate_fwd", "inner", "wrapper", "fn"))


class Place(NamedTuple):
    """`origin` is the scope of what comes back to this operation in a backward pass."""

    phase: Phase
    scope: str
    module: str
    origin: str
    stack: stacks.Places
    owner: str = ""


class OptimizerStep(NamedTuple):
    """An optimizer's step that runs, with where it was called."""

    optimizer: torch.optim.Optimizer
    label: str
    closure: bool
    top: Running | None
    task: int
    stack: stacks.Places
    thread: int
    call: stacks.Call | None

    def runs(self, frame: FrameType | None) -> bool:
        """Whether it has led to a frame of its thread, and so is not over. What it raises, no hook tells of."""
        return threading.get_ident() != self.thread or stacks.is_within(self.call, frame)

    def is_in_closure(self, frame: FrameType | None) -> bool:
        """Whether an operation belongs to the closure: to compute the loss, or without gradients, as clipping does."""
        if not self.closure or torch.is_grad_enabled():
            return self.closure
        own = getattr(sys.modules.get(type(self.optimizer).__module__), "__file__", None)
        while frame is not None:
            file = frame.f_code.co_filename
            if file == own or file.startswith(_OPTIMIZERS):
                return False
            if stacks.kind_of(frame) == stacks.USER:
                return True
            frame = frame.f_back
        return False


class Phases:
    """Tells the place of each operation, in the order in which they run."""

    def __init__(self, scopes: Scopes, numbers: SequenceMap, variables: Variables, hold_frames: bool) -> None:
        self._places = stacks.places if hold_frames else _no_places
        self.optimizing: list[OptimizerStep] = []
        self._scopes, self._numbers, self._variables = scopes, numbers, variables
        self._interrupted = False  # operations that are not the optimizer's ran inside its step
        self._owners: dict[str, str] = {}  # node → the parameter that it is about, of the optimizer's nodes
        self._last_origin: tuple[int, Origin | None] = (-1, None)

    def owned(self, node: str, owner: str) -> None:
        """A node of an optimizer is about a parameter."""
        self._owners[node] = owner

    def begin_optimizer(self, optimizer: torch.optim.Optimizer, closure: bool, frame: FrameType | None) -> None:
        """`frame` is of the call that its step runs in."""
        label = self._variables.add_optimizer(optimizer)
        outside = frame.f_back if frame is not None else None
        self._leave_optimizers(outside)
        top, task, stack = self._scopes.top(outside), compat.current_graph_task(), self._places(frame)
        call, thread = stacks.call_of(frame), threading.get_ident()
        self.optimizing.append(OptimizerStep(optimizer, label, closure, top, task, stack, thread, call))

    def end_optimizer(self, optimizer: torch.optim.Optimizer) -> None:
        for place in range(len(self.optimizing) - 1, -1, -1):
            if self.optimizing[place].optimizer is optimizer:
                del self.optimizing[place:]
                return

    def place(self, frame: FrameType | None, inputs: list[Source], spots: list[Spot], written: list[int]) -> Place:
        """Of an operation with these inputs, which lie at these spots; it writes those at the places `written`."""
        top = self._scopes.top(frame)
        if self.optimizing:
            self._leave_optimizers(frame)
        if self.optimizing:
            step = self.optimizing[-1]
            if top is step.top and compat.current_graph_task() == step.task and not step.is_in_closure(frame):
                return self._in_optimizer(step, inputs, spots)
            self._interrupted = True
        node = compat.current_autograd_node()
        if node is not None:
            return self._in_backward(node, top, frame)
        if top is not None:
            if top.task >= 0:
                return Place("recompute", RECOMPUTE + top.path, top.path, top.path, self._places(frame))
            return Place("forward", top.path, top.path, top.path, self._places(frame))
        return self._outside(frame, inputs, [spots[place] for place in written])

    # ------------------------------------------------------------ parts

    def _leave_optimizers(self, frame: FrameType | None) -> None:
        """Those that did not lead to a frame."""
        while self.optimizing and not self.optimizing[-1].runs(frame):
            self.optimizing.pop()

    def _in_optimizer(self, step: OptimizerStep, inputs: list[Source], spots: list[Spot]) -> Place:
        if self._interrupted:
            self._interrupted = False  # its closure may have left other gradients
            self._variables.add_optimizer(step.optimizer)
        found = {self._variables.owner_at(address) for address, _ in spots}
        found.update(self._owners.get(node, "") for node, _ in inputs)
        found.discard("")
        owner = found.pop() if len(found) == 1 else ""
        scope = OPTIMIZER + step.label
        return Place("optimizer", f"{scope}/{owner}" if owner else scope, "", scope, step.stack, owner)

    def _in_backward(self, node: Any, top: Running | None, frame: FrameType | None) -> Place:
        engine = compat.engine_code
        own = () if frame is None or frame.f_code is engine else self._places(frame, until=engine)
        if top is not None and top.task == compat.current_graph_task():
            return Place("recompute", RECOMPUTE + top.path, top.path, top.path, own)
        name = node.name().rpartition("::")[2]
        if name == "AccumulateGrad":
            module = self._module_of_parameter(node.variable)
            return Place("backward", f"{GRADIENTS}{module}/{name}", module, GRADIENTS + module, own)
        origin = self._origin(node._sequence_nr())
        scope, stack = (origin.scope, origin.stack) if origin else (SCRIPT, ())
        if torch.is_grad_enabled() and _in_checkpoint(frame):
            return Place("recompute", RECOMPUTE + scope, _module(scope), scope, own)
        return Place("backward", f"{GRADIENTS}{scope}/{name}", _module(scope), GRADIENTS + scope, own + stack)

    def _origin(self, number: int) -> Origin | None:
        if number != self._last_origin[0]:
            self._last_origin = (number, self._numbers.find(number))
        return self._last_origin[1]

    def forget(self) -> None:
        """What was remembered from one operation to the next."""
        self.optimizing.clear()
        self._owners.clear()
        self._last_origin = (-1, None)

    def _module_of_parameter(self, parameter: Tensor) -> str:
        name = self._variables.parameter_at(address_of(parameter))
        return self._variables.module_of(name) or SCRIPT

    def _outside(self, frame: FrameType | None, inputs: list[Source], written: list[Spot]) -> Place:
        """An operation of no module: one of the script, or of a function that it called."""
        function, loading = _surroundings(frame)
        stack = self._places(frame)
        if loading:
            return Place("other", DATA, "", DATA, stack)
        phase: Phase = "forward" if torch.is_grad_enabled() else "other"
        below = f"/{function}" if function else ""
        if phase == "other":
            updated = {self._variables.trainable_at(address) for address, _ in written} - {""}
            if updated:
                owner = updated.pop() if len(updated) == 1 else ""
                scope = f"{OPTIMIZER}{SCRIPT}/{owner}" if owner else OPTIMIZER + SCRIPT
                return Place(phase, scope, "", scope, stack, owner)
            if any(is_gradient(node) for node, _ in inputs):
                scope = GRADIENTS + (function or SCRIPT)
                return Place(phase, scope, "", scope, stack)
        return Place(phase, SCRIPT + below, "", SCRIPT + below, stack)


def is_gradient(node: str) -> bool:
    return node.startswith(GRADIENTS) or (node.startswith(INPUT) and node.endswith(GRADIENT))


def _module(scope: str) -> str:
    while scope.startswith(GRADIENTS):
        scope = scope[len(GRADIENTS) :]
    return "" if scope == SCRIPT or scope.startswith((SCRIPT + "/", OPTIMIZER)) else scope


def _in_checkpoint(frame: FrameType | None) -> bool:
    """Whether the code that runs was called by the engine to compute a forward pass again."""
    while frame is not None and frame.f_code is not compat.engine_code:
        if frame.f_code.co_filename == _CHECKPOINT:
            return True
        frame = frame.f_back
    return False


def _no_places(_frame: FrameType | None, until: CodeType | None = None) -> stacks.Places:
    return ()


def _surroundings(frame: FrameType | None) -> tuple[str, bool]:
    """The function of PyTorch that the user's code called, and whether data are loaded."""
    function, loading = "", False
    seen_user = False
    while frame is not None:
        kind = stacks.kind_of(frame)
        if kind == stacks.USER:
            seen_user = True
        elif kind == stacks.TORCH:
            name = frame.f_code.co_name
            if not seen_user and name[0] not in "_<" and name not in _WRAPPERS:
                function = name
            loading = loading or stacks.is_data_loading(frame)
        frame = frame.f_back
    return function, loading
