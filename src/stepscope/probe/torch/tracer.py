"""Watches a step at the dispatcher: every operation of forward, backward and optimizer becomes a node of its graph.

A fault in here never reaches the training: it is kept in `fault`, and nothing is traced from then on. What the
callbacks raise on purpose (to end the training) is no fault; they raise what is no Exception.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import optimizer as optimizers

from stepscope.core.graph.records import NodeRecord
from stepscope.probe.signals import is_of_a_handler
from stepscope.probe.torch import compat
from stepscope.probe.torch.autograd import Origin, SequenceMap
from stepscope.probe.torch.events import Event, type_of
from stepscope.probe.torch.operations import Operation, operation, outputs_of
from stepscope.probe.torch.phases import Phases
from stepscope.probe.torch.scopes import Root, Scopes
from stepscope.probe.torch.storages import Source, Storages, shape_of, spot_of
from stepscope.probe.torch.variables import Variables

Callback = Callable[[Event], None]


class Tracer(compat.DebugMode):
    """`before` and `after` are called around each operation, in the thread that runs it, and may take their time.

    hold_frames: each node knows the lines of code that it came from, for 2 to 4 µs more. `events` are those of the step
    so far, in order; `program` has each call of it, with its event (None for what is no node), and `exits` how many
    events there were whenever the step of an optimizer was over: both for `fast`.
    """

    def __init__(self, before: Callback | None = None, after: Callback | None = None, hold_frames: bool = True) -> None:
        super().__init__()
        self.fault: Exception | None = None
        self.events: list[Event] = []
        self.program: list[tuple[Any, Event | None]] = []
        self.exits: list[int] = []
        self._before, self._after = before, after
        self._storages = Storages()
        self._variables = Variables(self._storages)
        self._scopes = Scopes(self._found_root)
        self._numbers = SequenceMap()
        self._phases = Phases(self._scopes, self._numbers, self._variables, hold_frames)
        self._names: dict[str, int] = {}
        self._lock = threading.RLock()
        self._optimizer_hooks: list[Any] = []

    # ------------------------------------------------------------ on and off

    def follow_optimizers(self) -> None:
        """Installs the hooks that tell when an optimizer works. They stay; they may not come or go inside a step."""
        if not self._optimizer_hooks:
            self._optimizer_hooks = [
                optimizers.register_optimizer_step_pre_hook(self._optimizer_begins),
                optimizers.register_optimizer_step_post_hook(self._optimizer_ends),
            ]

    def close(self, keep_hooks: bool = False) -> None:
        """Takes all hooks away, and lets go of every tensor.

        keep_hooks: leaves those of optimizers, which do nothing any more; for a caller that is in such a hook itself.
        """
        self.pop()
        if not keep_hooks:
            for hook in self._optimizer_hooks:
                hook.remove()
            self._optimizer_hooks = []
        self.clear()

    def push(self, inside: nn.Module | None = None) -> None:
        """From now on this thread's operations are seen. `inside`: a module whose call has just begun."""
        self._scopes.install(inside)
        if self._owner != threading.get_ident():
            self._numbers.clear()
        self._numbers.resume(compat.next_sequence_number())
        self.seeing = True
        self.put_on()

    def pop(self) -> bool:
        """Nothing is seen any more. As `take_off`."""
        self._scopes.remove()
        return self.take_off()

    @contextmanager
    def optimizing(self) -> Iterator[None]:
        """Around the step of an optimizer, whose end is noted in `exits`."""
        yield
        if self.seeing:
            self.exits.append(len(self.events))

    def new_step(self) -> None:
        """A step begins: its graph is empty, but for the parameters, buffers and optimizer state that are known."""
        self._forget_step()
        with compat.unseen():  # a sparse gradient is asked for its values
            self._variables.begin(self._scopes.roots)
        self._numbers.forget_old()

    def clear(self, keep_parameters: bool = False) -> None:
        """Forgets the step, and lets go of its tensors. `keep_parameters`: as for `Variables.let_go`."""
        self._forget_step()
        self._variables.let_go(keep_parameters)

    def _forget_step(self) -> None:
        self.events, self.program, self.exits = [], [], []
        self._names = {}
        self._phases.forget()
        self._storages.clear()
        self._variables.clear()

    # ------------------------------------------------------------ what came of it

    def records(self) -> list[NodeRecord]:
        """The graph of the step so far."""
        return [*self._variable_records(), *(event.record() for event in self.events)]

    def tensors(self) -> dict[str, Tensor]:
        """The parameters, buffers, optimizer state and inputs of the step so far, by the names of their nodes."""
        return {name: variable.tensor for name, variable in self._variables.known.items()}

    def parameters(self) -> dict[str, Tensor]:
        """Those of `tensors` that last from step to step: parameters, buffers and optimizer state."""
        return {name: one.tensor for name, one in self._variables.known.items() if one.kind == "parameter"}

    def found(self, names: Iterable[str]) -> dict[str, Tensor]:
        """Parameters and buffers of modules, where they were when they were named; none if any is not there."""
        return self._variables.found(names)

    @property
    def is_pushed(self) -> bool:
        """Whether it sees what this thread does, or is to be taken off once that is possible."""
        return self.wanted or self._unsettled

    # ------------------------------------------------------------ the mode

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not self.seeing:
            return _run(func, types, args, kwargs)
        event, told = Event(), False
        try:
            try:
                known = operation(func)
                if known.hidden:
                    self.program.append((func, None))
                else:
                    with self._lock, compat.unseen_in_python():
                        self._begin(event, func, known, args, kwargs, sys._getframe().f_back)
                    if self._before is not None:
                        self._before(event)
                    told = True
            except Exception as error:
                self._fail(error)
            result = _run(func, types, args, kwargs)
            if told:
                try:
                    with self._lock, compat.unseen_in_python():
                        self._end(event, result)
                    if self._after is not None:
                        self._after(event)
                except Exception as error:
                    self._fail(error)
            return result
        finally:  # also where the operation raises, or a callback ends the training: a frame holds all there is
            event.release()

    def _begin(
        self, event: Event, func: Any, known: Operation, args: Any, kwargs: Any, frame: FrameType | None
    ) -> None:
        """`frame` called the operation; None in a thread of the engine, where no Python code stands above it."""
        event.operation, event.func, event.args, event.kwargs, event.frame = known, func, args, kwargs, frame
        event.has_run = False
        event.tensors, event.writes, event.literals = tensors, written, _ = known.read(args, kwargs)
        event.inputs, event.exact, event.outputs, event.types, event.rewrites = [], [], [], [], []
        spots = [spot_of(tensor) for tensor in tensors]
        if not known.fresh:
            for tensor, spot in zip(tensors, spots, strict=True):
                source, exact = self._storages.find(spot)
                if source is None:
                    source, exact = self._variables.name_unknown(tensor, spot, frame)
                event.inputs.append(source)
                event.exact.append(exact)
        place = self._phases.place(frame, event.inputs, spots, written)
        event.phase, scope, event.module, origin, event.stack, event.owner = place
        name = f"{scope}/{known.name}" if scope else known.name
        used = self._names.get(name, 0)
        self._names[name] = used + 1
        event.name = name = f"{name}_{used}" if used else name
        if event.owner:
            self._phases.owned(name, event.owner)
        number = compat.next_sequence_number()
        if tensors and self._numbers.is_new(number) and threading.get_ident() == self._owner:
            self._numbers.note(number, Origin(name, origin, event.stack))
        self.events.append(event)
        event.position = len(self.events)
        self.program.append((func, event))

    def _end(self, event: Event, result: Any) -> None:
        event.has_run = True
        written = [event.tensors[place] for place in event.writes]
        event.outputs = outputs = outputs_of(result, written)
        in_place = dict(zip(map(id, written), event.writes, strict=True)) if written else {}
        for slot, tensor in enumerate(outputs):
            if tensor is None:
                event.types.append((None, None))
                continue
            spot = spot_of(tensor)
            event.types.append((spot[1][3], shape_of(tensor)))
            if id(tensor) in in_place:
                event.rewrites.append((in_place[id(tensor)], slot))
            register = self._storages.wrote if id(tensor) in in_place else self._storages.made
            register(tensor, spot, Source(event.name, slot))

    # ------------------------------------------------------------ parts

    def _variable_records(self) -> list[NodeRecord]:
        used = {source.node for event in self.events for source in event.inputs}
        return [
            NodeRecord(
                id=name,
                name=name,
                op={"parameter": "Parameter", "input": "Input"}.get(variable.kind, ""),
                kind=variable.kind,
                outputs=[type_of(variable.tensor.dtype, shape_of(variable.tensor))],
                trainable=variable.trainable,
            )
            for name, variable in self._variables.known.items()
            if variable.always or name in used
        ]

    def _found_root(self, root: Root) -> None:
        with compat.unseen():
            self._variables.add_root(root)

    def _optimizer_begins(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if not self._mine():
            return
        try:
            with self._lock, compat.unseen():
                closure = any(callable(one) for one in (*args, *kwargs.values()))
                self._phases.begin_optimizer(optimizer, closure, sys._getframe(1))
        except Exception as error:
            self._fail(error)

    def _optimizer_ends(self, optimizer: torch.optim.Optimizer, _args: Any, _kwargs: Any) -> None:
        if self._mine():
            self._phases.end_optimizer(optimizer)

    def _mine(self) -> bool:
        return self.seeing and threading.get_ident() == self._owner

    def _fail(self, error: Exception) -> None:
        """Raises what is not ours."""
        if is_of_a_handler(error):
            raise error
        self.seeing = False
        if self.fault is None:
            self.fault = error


def _run(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """As without a mode: a call from Python is one that function modes see, and classes of tensors whose operation does
    nothing else in Python."""
    try:
        native = not types and operation(func).native
    except Exception:  # it is kept elsewhere
        native = False
    if not native:
        return func(*args, **kwargs)
    with compat.unseen_in_python():
        return func(*args, **kwargs)
