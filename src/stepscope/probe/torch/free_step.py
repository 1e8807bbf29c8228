"""One step that runs free, under watchpoints: what is checked of it, and what is kept.

A tensor is checked when its node has run, and then let go. Of nodes with hits, the inputs and outputs are kept as
copies: the training stops at the end of such a step. Where a condition compares with the step before, a copy of the
value stays until the next one. Tensors on a device are checked there, and what came of it is known at the end of the
step, too late for copies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from torch import Tensor

from stepscope.core.errors import BadRequest, NotAvailable
from stepscope.core.tensors import Figures
from stepscope.core.watch.engine import Measured
from stepscope.core.watch.records import Check, Hit
from stepscope.core.watch.step_check import Watching
from stepscope.probe.torch import arrays, compat, on_device
from stepscope.probe.torch.events import Event, Literals
from stepscope.probe.torch.memory import part_here
from stepscope.probe.torch.program import Arguments
from stepscope.probe.torch.values import NOTHING_RETURNED, KeptNode, Memory, Slot

Output = tuple[str, int]  # a node and its slot
Read = tuple[str, int]  # a node and the place among its tensors
InputsFinite = Callable[[], "bool | None"]  # None where that is not known

_OVERWRITTEN = NotAvailable("overwritten by the node itself, in a step that ran free", code="overwritten")
_TOO_MUCH = NotAvailable("not kept, to keep within the memory for values", code="released")


class Call(NamedTuple):
    """A node that has just run."""

    event: Event
    outputs: Sequence[Tensor | None]
    arguments: Arguments

    @property
    def tensors(self) -> list[Tensor]:
        return self._read()[0]

    @property
    def literals(self) -> Literals:
        return self._read()[2]

    def _read(self) -> tuple[list[Tensor], list[int], Literals]:
        args, kwargs = self.arguments
        return self.event.operation.read(args, kwargs or {})


class _Deferred(NamedTuple):
    """A tensor on a device, of which a row of figures is on its way."""

    of: Output
    here: Watching
    row: Tensor
    count: int
    previous: int | None  # the elements of the previous value, if there was one
    inputs_finite: InputsFinite
    bad: set[Output]


class FreeStep:
    """`before` has copies of values of the step before. `bad_before` are the parameters that were not finite then,
    `bad` those and the outputs of nodes in this step."""

    def __init__(self, memory: Memory, before: dict[Output, Tensor], bad_before: set[Output]) -> None:
        self.before, self.bad_before, self.bad = before, bad_before, set(bad_before)
        self.now: dict[Output, Tensor] = {}  # copies for the next step
        self.kept: dict[str, KeptNode] = {}
        self._memory = memory
        self._bad_after: set[Output] = set()  # parameters
        self._read: dict[str, Read] = {}  # of inputs
        self._found: list[tuple[Output, Watching, Sequence[Check]]] = []
        self._deferred: list[_Deferred] = []

    def check(self, here: Watching, of: Output, tensor: Tensor, inputs_finite: InputsFinite) -> bool:
        """Whether something is to be told of this tensor."""
        return self._check(here, of, tensor, inputs_finite, self.bad)

    def check_input(self, here: Watching, of: Output, tensor: Tensor, read: Read) -> None:
        """As it is when it is about to be read."""
        self._read[of[0]] = read
        self._check(here, of, tensor, lambda: self.bad.add(of), self.bad)

    def check_parameter(self, here: Watching, of: Output, tensor: Tensor) -> None:
        """As it is when the step is over."""
        self._check(here, of, tensor, lambda: self._bad_after.add(of), self._bad_after)

    def copy_for_next(self, of: Output, tensor: Tensor) -> None:
        """The next step is going to be compared with this value."""
        try:
            with compat.unseen_by_others():
                copy = part_here(tensor).detach().clone()
                self._memory.holding.release(self._memory.holding.hold(copy))  # as it will be, if somebody asks
        except Exception:  # of whatever kind it is: it has no value
            return
        self.now[of] = copy

    def next(self, parameters: Mapping[str, Tensor]) -> FreeStep:
        """The step that comes, in which these parameters, as they are now, will be compared. What is kept of their old
        values is overwritten."""
        before = self.now
        for name, tensor in parameters.items():
            of, old, tensor = (name, 0), self.before.get((name, 0)), part_here(tensor)
            if old is not None and (old.shape, old.dtype) == (tensor.shape, tensor.dtype):
                before[of] = old.copy_(tensor)
            else:
                before[of] = tensor.detach().clone()
        return FreeStep(self._memory, before, self._bad_after)

    def keep(self, call: Call) -> None:
        """What a node with a hit read and put out."""
        with compat.unseen_by_others():
            inputs = [
                _OVERWRITTEN if place in call.event.writes else self._copy(tensor)
                for place, tensor in enumerate(call.tensors)
            ]
            outputs = [NOTHING_RETURNED if one is None else self._copy(one) for one in call.outputs]
            self.kept[call.event.name] = KeptNode(inputs, outputs, call.literals)

    def settle(self) -> None:
        """Takes in what was computed on devices, with one transfer for all of it."""
        deferred, self._deferred = self._deferred, []
        rows = on_device.fetch([one.row for one in deferred])
        # First all that is bad: of each node with a hit it is asked then whether its inputs are.
        for one, row in zip(deferred, rows, strict=True):
            if any(row[: 1 if one.here.plan.only_overflow else 3]):
                one.bad.add(one.of)
        for one, row in zip(deferred, rows, strict=True):
            plan = one.here.plan
            has_previous, fits = bool(one.previous), bool(one.count) and one.previous == one.count
            if plan.only_overflow:
                if not row[0]:
                    continue
                figures = _OVERFLOW
            else:
                figures = on_device.figures(row, one.count, len(plan.ranges), fits)
            measured = Measured(figures, has_previous, fits, inputs_finite=one.inputs_finite)
            self._tell(one.of, one.here, plan.judge(measured))

    def passed_over(self, parameters: Container[str]) -> None:
        """What is none of these `parameters` was not looked at, and is what it was."""
        self._bad_after |= {of for of in self.bad_before if of[0] not in parameters}

    def rename(self, names: Mapping[str, str], inputs: Mapping[Read, str]) -> None:
        """Nodes were taken for others, which have the same operations. `inputs`: those that the others read."""
        read = {name: inputs.get((names.get(node, node), place), "") for name, (node, place) in self._read.items()}
        names = {**names, **read}

        def of(output: Output) -> Output:
            return names.get(output[0], output[0]), output[1]

        self._found = [(of(output), here, checks) for output, here, checks in self._found if of(output)[0]]
        self.kept = {names.get(name, name): values for name, values in self.kept.items()}
        self.bad, self.now = set(map(of, self.bad)), {of(output): value for output, value in self.now.items()}

    @property
    def has_found(self) -> bool:
        """Whether there is anything to tell."""
        return bool(self._found)

    def hits(self, number: int, graph: str, positions: Mapping[str, int], variables: Iterable[str]) -> list[Hit]:
        """Of step `number`, in the order of execution, which `positions` has for all that can be watched; then that of
        `variables`, the inputs and parameters."""
        order = {name: place for place, name in enumerate(variables)}
        hits: list[Hit] = []
        for (node, slot), here, checks in self._found:
            hits += here.hits(checks, number, (graph, node, positions[node]), slot)
        return sorted(hits, key=lambda hit: (hit.position, order.get(hit.node, -1)))

    def _check(self, here: Watching, of: Output, tensor: Tensor, inputs_finite: InputsFinite, bad: set[Output]) -> bool:
        plan = here.plan
        if not on_device.lies_here(tensor):
            self._defer(here, of, tensor, inputs_finite, bad)
            return False
        try:
            array, dtype = as_bits(tensor)
            previous = as_bits(self.before[of])[0] if plan.needs_previous and of in self.before else None
            if plan.is_quiet(array, previous, dtype):
                return False
            if plan.only_overflow:
                bad.add(of)
            checks = plan.check(array, previous, dtype=dtype, inputs_finite=inputs_finite)
        except (NotAvailable, BadRequest):  # no numbers
            return False
        except Exception:  # whatever is wrong with one tensor, the others are checked
            checks = here.unreadable()
        return self._tell(of, here, checks)

    def _defer(self, here: Watching, of: Output, tensor: Tensor, inputs_finite: InputsFinite, bad: set[Output]) -> None:
        plan, before = here.plan, self.before.get(of) if here.plan.needs_previous else None
        try:
            fits = before is not None and before.numel() == tensor.numel() > 0
            if on_device.is_captured(tensor):
                return
            with compat.unseen_by_others():
                if plan.only_overflow:
                    row = on_device.any_overflow(tensor)
                else:
                    row = on_device.row(tensor, before if fits else None, plan.ranges, plan.tolerances)
            if not on_device.can_be_fetched(row):
                return
            previous = before.numel() if before is not None else None
            self._deferred.append(_Deferred(of, here, row, tensor.numel(), previous, inputs_finite, bad))
        except Exception:  # of whatever kind it is: it has no value
            return

    def _tell(self, of: Output, here: Watching, checks: Sequence[Check]) -> bool:
        if not any(check.reported for check in checks):
            return False
        self._found.append((of, here, checks))
        return True

    def _copy(self, tensor: Tensor) -> Slot:
        holding = self._memory.holding
        if holding.bytes > self._memory.budget:
            return _TOO_MUCH
        try:
            return holding.hold(part_here(tensor).detach().clone())
        except NotAvailable as reason:
            return reason
        except Exception as error:  # of whatever kind it is
            return NotAvailable(str(error), code="no_memory")


_OVERFLOW = Figures(1, 1, *[0] * 5, *[math.nan] * 5)  # of what is only known not to be finite


def as_bits(tensor: Tensor) -> tuple[Any, str]:
    """As `arrays.as_bits`, from within a dispatch mode."""
    plain = arrays.plain(tensor)
    if plain is not None:
        return plain, arrays.dtype_name(tensor.dtype)
    with compat.unseen_by_others():
        return arrays.as_bits(tensor)
