"""One step that runs free, under watchpoints: what is checked of it, and what is kept.

A tensor is checked when its node has run, and then let go. Of nodes with hits, the inputs and outputs are kept as
copies: the training stops at the end of such a step. Where a condition compares with the step before, a copy of the
value stays until the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from torch import Tensor

from stepscope.core.errors import BadRequest, NotAvailable
from stepscope.core.graph import Graph
from stepscope.core.tensors import all_finite
from stepscope.core.watch.records import Check, Hit
from stepscope.core.watch.step_check import Watching
from stepscope.probe.torch import arrays, compat
from stepscope.probe.torch.events import Event, type_of
from stepscope.probe.torch.fast import Arguments, Look
from stepscope.probe.torch.values import KeptNode, Memory, Slot

Output = tuple[str, int]  # a node and its slot
InputsFinite = Callable[[], "bool | None"]  # None where that is not known
_Read = list[tuple[int, str, Watching]]  # of an input of the graph: the place among the arguments, its name

_OVERWRITTEN = "overwritten by the node itself, in a step that ran free; step on to record the next one"
_TOO_MUCH = "not kept, to keep within the memory for values; watch fewer nodes, or set STEPSCOPE_HOLD_MIB higher"


class Call(NamedTuple):
    """A node that has just run."""

    event: Event
    outputs: Sequence[Tensor | None]
    arguments: Arguments

    @property
    def tensors(self) -> list[Tensor]:
        args, kwargs = self.arguments
        return self.event.operation.read(args, kwargs or {})[0]


class FreeStep:
    """`before` has copies of values of the step before. `bad` are the outputs that were found not to be finite:
    those of parameters before the step, those of nodes in it."""

    def __init__(self, memory: Memory, before: dict[Output, Tensor], bad: set[Output]) -> None:
        self.before, self.bad = before, bad
        self.now: dict[Output, Tensor] = {}  # copies for the next step
        self.kept: dict[str, KeptNode] = {}
        self._memory = memory
        self._bad_after: set[Output] = set()  # parameters
        self._found: list[tuple[Output, Watching, Sequence[Check]]] = []

    def check(self, here: Watching, of: Output, tensor: Tensor, inputs_finite: InputsFinite = lambda: None) -> bool:
        """Whether something is to be told of this tensor."""
        plan = here.plan
        try:
            array, dtype = _as_bits(tensor)
            previous = _as_bits(self.before[of])[0] if plan.needs_previous and of in self.before else None
            checks = plan.check(array, previous, dtype=dtype, inputs_finite=inputs_finite)
        except (NotAvailable, BadRequest):  # no numbers
            return False
        except Exception:  # whatever is wrong with one tensor, the others are checked
            checks = here.unreadable()
        if not any(check.reported for check in checks):
            return False
        self._found.append((of, here, checks))
        return True

    def check_parameter(self, here: Watching, of: Output, tensor: Tensor) -> None:
        """As it is when the step is over."""

        def note() -> None:
            self._bad_after.add(of)

        self.check(here, of, tensor, note)

    def next(self, parameters: Iterable[tuple[Watching, Output, Tensor]]) -> FreeStep:
        """The step that comes. `parameters` are as they are now; what is kept of their old values is overwritten."""
        before = self.now
        for here, of, tensor in parameters:
            if here.plan.needs_previous:
                old = self.before.get(of)
                if old is not None and (old.shape, old.dtype) == (tensor.shape, tensor.dtype):
                    before[of] = old.copy_(tensor)
                else:
                    before[of] = tensor.detach().clone()
        return FreeStep(self._memory, before, self._bad_after)

    def keep(self, call: Call) -> None:
        """What a node with a hit read and put out."""
        if call.event.name not in self.kept:
            inputs = [
                _OVERWRITTEN if place in call.event.writes else self._copy(tensor)
                for place, tensor in enumerate(call.tensors)
            ]
            outputs = ["nothing was returned here" if one is None else self._copy(one) for one in call.outputs]
            self.kept[call.event.name] = (inputs, outputs)

    def hits(self, number: int, graph: str, positions: Mapping[str, int]) -> list[Hit]:
        """Of step `number`, in the order of execution, which `positions` has for all that can be watched."""
        hits: list[Hit] = []
        for (node, slot), here, checks in self._found:
            hits += here.hits(checks, number, (graph, node, positions[node]), slot)
        return sorted(hits, key=lambda hit: hit.position)

    def _copy(self, tensor: Tensor) -> Slot:
        holding = self._memory.holding
        if holding.bytes > self._memory.budget:
            return _TOO_MUCH
        try:
            return holding.hold(tensor.detach().clone())
        except (NotAvailable, RuntimeError) as reason:
            return str(reason)


class Looks:
    """What looks at the nodes of one graph, for whichever step is the present one. `parameters`: all that are watched,
    buffers and states of optimizers among them."""

    def __init__(self, graph: Graph, watching: Mapping[str, Watching], present: Callable[[], FreeStep]) -> None:
        self._graph, self._watching, self._present = graph, watching, present
        self.parameters = {name: watching[name] for name in graph.of_kind("parameter") if name in watching}

    def with_previous(self) -> Iterator[Output]:
        """The outputs of nodes that are compared with the step before."""
        for name, here in self._watching.items():
            if here.plan.needs_previous and name not in self.parameters:
                yield from ((name, slot) for slot in range(len(self._graph.output_types(name))))

    def of(self, events: Sequence[Event]) -> list[Look | None]:
        """For each node. An input of the graph is looked at after its first reader, unless that writes it."""
        inputs = {name for name in self._graph.of_kind("input") if name in self._watching}
        looks = []
        for event in events:
            read: _Read = []
            for port in self._graph.node(event.name).inputs if inputs and not event.operation.idle else ():
                if port.node in inputs:
                    inputs.remove(port.node)
                    if port.index not in event.writes:
                        read.append((port.index, port.node, self._watching[port.node]))
            here = self._watching.get(event.name)
            looks.append(self._look(event, here, read) if here is not None or read else None)
        return looks

    def _look(self, event: Event, here: Watching | None, read: _Read) -> Look:
        slots = [here.of(type_of(*one)) for one in event.types] if here is not None else []
        watched = [(slot, one) for slot, one in enumerate(slots) if one.watchpoints]
        present = self._present

        def look(outputs: Sequence[Tensor | None], arguments: Arguments) -> None:
            step, call = present(), Call(event, outputs, arguments)
            for place, name, one in read:
                step.check(one, (name, 0), call.tensors[place])
            hit = False
            for slot, one in watched:
                tensor = outputs[slot] if slot < len(outputs) else None
                if tensor is not None:
                    of = (event.name, slot)
                    hit = step.check(one, of, tensor, lambda of=of: self._inputs_finite(step, of, call)) or hit
                    if one.plan.needs_previous:
                        with compat.unseen_by_others():
                            step.now[of] = tensor.detach().clone()
            if hit:
                with compat.unseen_by_others():
                    step.keep(call)

        return look

    def _inputs_finite(self, step: FreeStep, of: Output, call: Call) -> bool | None:
        """Of a node whose output `of` is not; None where that is not known."""
        step.bad.add(of)
        known = True
        ports = {port.index: (port.node, port.slot) for port in self._graph.node(of[0]).inputs if not port.control}
        for place, tensor in enumerate(call.tensors):
            finite = self._was_finite(step, ports.get(place)) if place in call.event.writes else _finite(tensor)
            if finite is False:
                return False
            known = known and finite is True
        return True if known else None

    def _was_finite(self, step: FreeStep, of: Output | None) -> bool | None:
        """Of what has been overwritten since: what was found when it was looked at."""
        here = self._watching.get(of[0]) if of is not None else None
        return of not in step.bad if here is not None and here.plan.needs_inputs else None


def _finite(tensor: Tensor) -> bool | None:
    try:
        return all_finite(*_as_bits(tensor))
    except (NotAvailable, BadRequest):
        return None


def _as_bits(tensor: Tensor) -> tuple[Any, str]:
    plain = arrays.plain(tensor)
    if plain is not None:
        return plain, arrays.dtype_name(tensor.dtype)
    with compat.unseen_by_others():
        return arrays.as_bits(tensor)
