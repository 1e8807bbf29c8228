"""The values of one step by node: what each read and made, as it was when it ran, and the parameters after the step.

Inputs and outputs are held (`holding`) around each operation. When all that is held takes more than its budget, the
oldest nodes that nobody watches are released first, those of the step before the present one before all others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

import torch

from stepscope.core.errors import NotAvailable
from stepscope.core.graph.fold import FOLDED_OPS
from stepscope.probe.torch.events import Event, Literals
from stepscope.probe.torch.holding import Held, Holding

Slot = Held | NotAvailable  # a value, or why there is none


class KeptNode(NamedTuple):
    """Of a node that ran free; `literals` are those that it was called with."""

    inputs: list[Slot]
    outputs: list[Slot]
    literals: Literals | None = None


NOT_KEPT = NotAvailable(
    "not kept: this step ran free, and of such a step only the nodes with hits are; step on to record the next one",
    code="ran_free",
)
_RELEASED = NotAvailable(
    "released, to keep within the memory for values; watch this node, or set STEPSCOPE_HOLD_MIB higher", code="released"
)

NOTHING_RETURNED = NotAvailable("nothing was returned here", code="no_output")


def _again(reason: NotAvailable) -> NotAvailable:
    return NotAvailable(*reason.args, code=reason.code)


def is_stop(event: Event) -> bool:
    """Whether the training can stand at an operation: not if the graph folds it, as one that passes on a value."""
    return event.op not in FOLDED_OPS


class _Node:
    """What a node read and made. Empty once it is gone, for the reason `gone`. `literals`: None if it was not seen."""

    __slots__ = ("gone", "inputs", "literals", "name", "outputs", "ran")

    def __init__(self, name: str) -> None:
        self.name = name
        self.literals: Literals | None = None
        self.inputs: list[Slot] = []
        self.outputs: list[Slot] = []
        self.ran = False
        self.gone: NotAvailable | None = None


class StepValues:
    """Of step `number`. `nodes` are the names of those that ran so far, in order, without those that only pass a value
    on: these have values too, but nobody stops at them."""

    def __init__(self, number: int, holding: Holding) -> None:
        self.number = number
        self.nodes: list[str] = []
        self._holding = holding
        self._of: list[_Node] = []
        self._places: dict[str, int] = {}
        self._positions: dict[str, int] = {}  # of `nodes`, from 1
        self._met: dict[str, Held] = {}  # parameters and inputs, as they were when a node first read them
        self._after: dict[str, Held] = {}  # parameters when the step had ended
        self._oldest = 0
        self._oldest_watched = 0

    # ------------------------------------------------------------ while the step runs

    def before(self, event: Event, keep: bool = True) -> None:
        """An operation is about to run. `keep`: what it reads and makes is to be held."""
        holding = self._holding
        holding.settle()
        node = self._add(event)
        node.literals = event.literals
        if keep:
            node.inputs = [self._hold(tensor) for tensor in event.tensors]
            for source, held in zip(event.inputs, node.inputs, strict=False):
                if source.node not in self._places and source.node not in self._met and isinstance(held, Held):
                    held.users += 1
                    self._met[source.node] = held
        else:
            node.gone = _RELEASED
        holding.before_write(event.operation.may_write(event.args, event.kwargs))

    def after(self, event: Event, keep: bool = True) -> None:
        """It has run."""
        node = self._of[self._places[event.name]]
        self._has_run(event, node)
        if not keep:
            return
        node.outputs = [NOTHING_RETURNED if one is None else self._hold(one) for one in event.outputs]
        if event.writes:
            for held in node.outputs:
                if isinstance(held, Held):
                    self._holding.written(held)

    def ended(self, parameters: Mapping[str, torch.Tensor]) -> None:
        """The step is over; these are the parameters, buffers and states by then."""
        self._holding.settle()
        self._holding.exempt(parameters.values())
        for name, tensor in parameters.items():
            held = self._hold(tensor)
            if isinstance(held, Held):
                self._after[name] = held

    def ran_free(self, events: Iterable[Event], kept: Mapping[str, KeptNode]) -> None:
        """These have run, and of some of them values were kept, which are this step's from now on."""
        for event in events:
            node = self._add(event)
            self._has_run(event, node)
            if event.name in kept:
                node.inputs, node.outputs, node.literals = kept[event.name]
            else:
                node.gone = NOT_KEPT

    def _add(self, event: Event) -> _Node:
        node = _Node(event.name)
        self._places[event.name] = len(self._of)
        self._of.append(node)
        return node

    def _has_run(self, event: Event, node: _Node) -> None:
        node.ran = True
        if is_stop(event):
            self.nodes.append(event.name)
            self._positions[event.name] = len(self.nodes)

    def _hold(self, tensor: torch.Tensor) -> Slot:
        try:
            return self._holding.hold(tensor)
        except NotAvailable as reason:
            return reason

    # ------------------------------------------------------------ asking

    def position(self, node: str) -> int | None:
        """1-based, in the order of execution; None if it has not run."""
        return self._positions.get(node)

    def output(self, node: str, slot: int) -> torch.Tensor:
        return self._read(node, slot, "outputs")

    def input(self, node: str, index: int) -> torch.Tensor:
        return self._read(node, index, "inputs")

    def literals(self, node: str) -> Literals | None:
        """That the node was called with in this step; None where that was not seen, or has not come."""
        place = self._places.get(node)
        return None if place is None else self._of[place].literals

    def variable(self, name: str) -> torch.Tensor:
        """A parameter after the step, if that has ended; else it, or an input, as a node first read it."""
        held = self._after.get(name) or self._met.get(name)
        if held is None:
            raise NotAvailable(f"{name} was not read in step {self.number}", code="not_run")
        return held.read()

    def _read(self, name: str, place: int, what: str) -> torch.Tensor:
        number = self._places.get(name)
        if number is None:
            raise NotAvailable(f"{name} has not run in step {self.number}", code="not_run")
        node = self._of[number]
        if node.gone is not None:
            raise _again(node.gone)
        slots: list[Slot] = getattr(node, what)
        if what == "outputs" and not node.ran:
            raise NotAvailable(f"{name} is about to run", code="about_to_run")
        if not 0 <= place < len(slots):
            raise NotAvailable(f"{name} had {len(slots)} {what} in step {self.number}", code="no_slot")
        slot = slots[place]
        if isinstance(slot, NotAvailable):
            raise _again(slot)
        return slot.read()

    # ------------------------------------------------------------ letting go

    def release_oldest(self, watched: Collection[str], also_watched: bool = False) -> bool:
        """Releases the oldest node that is left; False if there is none but the last."""
        start = self._oldest_watched if also_watched else self._oldest
        for place in range(start, len(self._of) - 1):
            node = self._of[place]
            if also_watched:
                self._oldest_watched = place + 1
            else:
                self._oldest = place + 1
            if not node.gone and (also_watched or node.name not in watched):
                self._release(node)
                return True
        return False

    def release_nodes(self) -> None:
        """All but the parameters."""
        for node in self._of:
            self._release(node)
        for held in self._met.values():
            self._holding.release(held)
        self._met = {}

    def close(self) -> None:
        self.release_nodes()
        for held in self._after.values():
            self._holding.release(held)
        self._after = {}

    def _release(self, node: _Node) -> None:
        if node.gone:
            return
        node.gone = _RELEASED
        for slot in (*node.inputs, *node.outputs):
            if isinstance(slot, Held):
                self._holding.release(slot)
        node.inputs, node.outputs = [], []


class Memory:
    """The values of the present step and of the one before it, within `budget` bytes.

    partial: only nodes that are watched are held at all.
    """

    def __init__(self, budget: int, partial: bool = False) -> None:
        self.budget = budget
        self.partial = partial
        self.watched: Collection[str] = frozenset()
        self.holding = Holding()
        self.current: StepValues | None = None
        self.previous: StepValues | None = None

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps whose values can be read, oldest first."""
        return tuple(one.number for one in (self.previous, self.current) if one is not None)

    def begin(self, number: int, parameters: Iterable[torch.Tensor]) -> None:
        """A step begins; the present one becomes the one before, unless it has the same number (it starts anew)."""
        old, before = self.current, self.previous
        if old is not None and old.number == number:
            old.close()
        else:
            if before is not None:
                before.close()
            self.previous = old
        self.current = StepValues(number, self.holding)
        self.holding.exempt(parameters)

    def adopt(self, previous: StepValues, current: StepValues) -> None:
        """Takes these in place of those that there were."""
        self.close()
        self.previous, self.current = previous, current

    def before(self, event: Event) -> None:
        if self.current is not None:
            self.current.before(event, not self.partial or event.name in self.watched)

    def after(self, event: Event) -> None:
        if self.current is not None:
            self.current.after(event, not self.partial or event.name in self.watched)
            if self.holding.bytes > self.budget:
                self.trim()

    def trim(self) -> None:
        """Back to the budget, as far as that goes without the parameters and the last node."""
        for step, also_watched in (
            (self.previous, False),
            (self.current, False),
            (self.previous, True),
            (self.current, True),
        ):
            while step is not None and self.holding.bytes > self.budget:
                if not step.release_oldest(self.watched, also_watched):
                    break

    def close(self) -> None:
        """Lets go of everything."""
        for step in (self.previous, self.current):
            if step is not None:
                step.close()
        self.previous = self.current = None
