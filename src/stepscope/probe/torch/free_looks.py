"""What looks at the nodes of a program that runs free: made once, so that little is left to be done in each step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from stepscope.core.errors import BadRequest, NotAvailable
from stepscope.core.graph import Graph
from stepscope.core.graph.masks import told_infinity
from stepscope.core.tensors import all_finite
from stepscope.core.tensors.one_pass import finite, finite_at
from stepscope.core.watch.step_check import Watching
from stepscope.probe.torch import arrays, compat, on_device
from stepscope.probe.torch.events import Event, Literals, attributes_of, type_of
from stepscope.probe.torch.free_step import Call, FreeStep, Output, Read, as_bits
from stepscope.probe.torch.memory import TENSORS, address_of
from stepscope.probe.torch.program import Arguments, Look


class _Watched(NamedTuple):
    """An output of a node."""

    of: Output
    here: Watching


class Looks:
    """For one graph, and whichever step is the present one. `parameters`: all that are watched, buffers and states of
    optimizers among them; `compared`: those of them that are compared with the step before. `inputs`: as far as they
    are watched; `reads` has where each of them is looked at."""

    def __init__(
        self,
        graph: Graph,
        watching: Mapping[str, Watching],
        events: Sequence[Event],
        present: Callable[[], FreeStep],
    ) -> None:
        self._graph, self._watching, self._present = graph, watching, present
        self.parameters = {
            name: watching[name]
            for name in graph.of_kind("parameter")
            if name in watching and not (watching[name].plan.only_overflow and self._is_whole(name))
        }
        self.compared = [name for name, here in self.parameters.items() if here.plan.needs_previous]
        self.inputs = [name for name in graph.of_kind("input") if name in watching]
        self._outputs = {event.name: self._watched(event) for event in events if not event.operation.idle}
        self._writers = _Writers(events)
        self.looks = self._looks(events)

    def with_previous(self) -> Iterator[Output]:
        """The outputs of nodes, and the inputs of the graph, that are compared with the step before."""
        for outputs in self._outputs.values():
            yield from (one.of for one in outputs if one.here.plan.needs_previous)
        yield from ((name, 0) for name in self.inputs if self._watching[name].plan.needs_previous)

    def is_settled(self, parameter: str, step: FreeStep) -> bool:
        """Whether there is nothing to tell of a parameter after the step, as what wrote it last has been looked at."""
        if not self.parameters[parameter].plan.only_overflow or parameter in self._writers.hidden:
            return False
        last = self._writers.last.get(parameter)
        if last is not None and not any(
            one.of == last and one.here.plan.only_overflow for one in self._outputs.get(last[0], ())
        ):
            return False
        return (parameter, 0) not in step.bad and last not in step.bad

    # ------------------------------------------------------------ making

    def _is_whole(self, parameter: str) -> bool:
        """Whether its elements are whole numbers, which are always finite."""
        return self._graph.output_types(parameter)[0].dtype.startswith(("int", "uint", "bool"))

    def _watched(self, event: Event) -> list[_Watched]:
        here = self._watching.get(event.name)
        found = []
        for slot, (dtype, shape) in enumerate(event.types if here is not None else ()):
            one = here.of(type_of(dtype, shape)) if here is not None else None
            if one is None or not one.watchpoints or dtype is None:
                continue
            if not one.plan.only_overflow or dtype.is_floating_point or dtype.is_complex:
                found.append(_Watched((event.name, slot), one))
        return found

    def _looks(self, events: Sequence[Event]) -> list[Look | None]:
        """For each node. An input of the graph is looked at before its first reader, which may write it, and not at all
        if only idle operations read it."""
        self.reads: dict[Read, str] = {}
        inputs = set(self.inputs)
        looks = []
        for event in events:
            read: list[tuple[int, str]] = []
            for port in self._graph.node(event.name).inputs if inputs and not event.operation.idle else ():
                if port.node in inputs:
                    inputs.remove(port.node)
                    read.append((port.index, port.node))
                    self.reads[event.name, port.index] = port.node
            watched = self._outputs.get(event.name, [])
            looks.append(self._look(event, watched, read) if watched or read else None)
        return looks

    def _look(self, event: Event, watched: Sequence[_Watched], read: Sequence[tuple[int, str]]) -> Look:
        present = self._present

        def look(outputs: Sequence[Tensor | None], arguments: Arguments) -> None:
            step, call, hit = present(), Call(event, outputs, arguments), False
            for of, here in watched:
                tensor = outputs[of[1]]
                if tensor is None:
                    continue
                if here.plan.needs_previous:
                    step.copy_for_next(of, tensor)
                if on_device.lies_here(tensor):
                    inputs_finite = partial(self._inputs_finite, step, of, call)
                else:  # asked when the tensors are gone
                    literals = call.literals if here.plan.needs_inputs else []
                    inputs_finite = partial(self._inputs_were_finite, step, event, literals)
                hit = step.check(here, of, tensor, inputs_finite) or hit
            if hit:
                step.keep(call)

        only_overflow = len(watched) == len(event.types) == 1 and watched[0].here.plan.only_overflow
        dtype = event.types[0][0] if event.types else None
        sees = frozenset([*(("output", of[1]) for of, _ in watched), *(("input", place) for place, _ in read)])
        passes = finite_of(dtype) if dtype is not None and only_overflow else None
        before = partial(self._look_at_inputs, event, read) if read else None
        return Look(look if watched else None, passes, sees, before)

    # ------------------------------------------------------------ looking

    def _look_at_inputs(self, event: Event, read: Sequence[tuple[int, str]], arguments: Arguments) -> None:
        step, tensors = self._present(), Call(event, (), arguments).tensors
        for place, name in read:
            here, of = self._watching[name], (name, 0)
            if here.plan.needs_previous:
                step.copy_for_next(of, tensors[place])
            step.check_input(here, of, tensors[place], (event.name, place))

    def _inputs_finite(self, step: FreeStep, of: Output, call: Call) -> bool | None:
        """Of a node whose output `of` is not; None where that is not known."""
        step.bad.add(of)
        node, known = self._graph.node(of[0]), True
        if told_infinity(attributes_of(call.literals)):
            return False
        ports = {port.index: (port.node, port.slot) for port in node.inputs if not port.control}
        for place, tensor in enumerate(call.tensors if ports else ()):  # what a fresh one is made of is no node
            gone = place in call.event.writes or not on_device.lies_here(tensor)
            finite = self._was_finite(step, ports.get(place)) if gone else _finite(tensor)
            if finite is False:
                return False
            known = known and finite is True
        return True if known else None

    def _inputs_were_finite(self, step: FreeStep, event: Event, literals: Literals) -> bool | None:
        """The same at the end of the step."""
        node = self._graph.node(event.name)
        if told_infinity(attributes_of(literals)):
            return False
        found = {self._was_finite(step, (port.node, port.slot)) for port in node.inputs if not port.control}
        return False if False in found else None if None in found else True

    def _was_finite(self, step: FreeStep, of: Output | None) -> bool | None:
        """Of what is gone since: what was found when it was looked at."""
        here = self._watching.get(of[0]) if of is not None else None
        return of not in step.bad if here is not None and here.plan.needs_inputs else None


class _Writers:
    """Which output of which node is, at the end of a program, what each parameter holds: `last`, for those that are
    written as a whole. `hidden` are those that are written in part, or by way of a view."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.last: dict[str, Output] = {}
        self.hidden: set[str] = set()
        self._owner: dict[Output, str] = {}  # of what lies in the memory of a parameter
        self._whole: set[Output] = set()  # all of it, as it is
        for event in events:
            for place, slot in event.rewrites:
                self._write(event, place, (event.name, slot))
            if event.operation.view and event.inputs:
                owner = self._owner_of(tuple(event.inputs[0]))
                self._owner.update({(event.name, slot): owner for slot in range(len(event.types))})

    def _write(self, event: Event, place: int, output: Output) -> None:
        source = tuple(event.inputs[place])
        owner = self._owner[output] = self._owner_of(source)
        if event.exact[place] and (source in self._whole or source == (owner, 0)):
            self.last[owner] = output
            self._whole.add(output)
        else:
            self.hidden.add(owner)

    def _owner_of(self, output: Output) -> str:
        """A parameter, or whatever else was there before the program; a node that made it."""
        return self._owner.get(output, output[0])


def finite_of(dtype: torch.dtype) -> Callable[[Any], bool]:
    """Tells of a result whether it surely is one tensor of this type, whose memory lies here, and finite."""
    name, size, unseen = arrays.dtype_name(dtype), dtype.itemsize, compat.unseen_in_python

    def is_finite(result: Tensor) -> bool:
        if not on_device.lies_here(result) or result.dtype is not dtype:
            return False
        if not result.is_contiguous():
            array = arrays.plain(result)
            return array is not None and finite(array, "")
        count = result.numel()
        return count == 0 or bool(finite_at(address_of(result, count, size), count, name))

    def passes(result: Any) -> bool:
        if type(result) not in TENSORS:
            return False
        try:
            with unseen():
                return is_finite(result)
        except RuntimeError:  # without memory of its own
            return False

    return passes


def _finite(tensor: Tensor) -> bool | None:
    try:
        return all_finite(*as_bits(tensor))
    except (NotAvailable, BadRequest):
        return None
