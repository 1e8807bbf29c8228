"""The watchpoints of a training that runs free, with as little in its way as they need.

To trace and hold a step costs half as much again. Here the program of a step is known from a trace, so that what
nobody watches costs next to nothing, and each tensor is checked as soon as it is there (`free_step`).

A step that takes a way which no trace has seen is checked up to there. The next ones have to be traced then, each time
this happens twice as many as before, so that one that comes now and then is among them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from stepscope.core.errors import NotAvailable
from stepscope.core.watch.records import Hit, HitBatch
from stepscope.core.watch.step_check import StepCheck, batch_of
from stepscope.probe.torch import compat
from stepscope.probe.torch.events import Event
from stepscope.probe.torch.fast import FastPath
from stepscope.probe.torch.free_looks import Looks
from stepscope.probe.torch.free_step import FreeStep, Output
from stepscope.probe.torch.program import Look, Program
from stepscope.probe.torch.telling import Known
from stepscope.probe.torch.values import NOT_KEPT, KeptNode, Memory, StepValues, is_stop

Parameters = Callable[[Collection[str]], Mapping[str, Tensor]]
"""Those of the training, buffers and states of optimizers among them, as they are at this moment: at least those of
these names, as far as there are any."""

MOST_TRACED = 64  # steps in a row, because of one that went another way


@dataclass
class _Traced:
    """What is known of a program: the graph that it came out as, and what looks at it."""

    known: Known
    looks: Looks | None = None


class FreeWatch:
    """`on`: the present step is watched here; else somebody else sees it, or nobody."""

    def __init__(self, check: StepCheck, memory: Memory) -> None:
        self.on = False
        self._check, self._memory = check, memory
        self._fast = FastPath(self._note_unseen)
        self._unseen = False  # nodes of the present step, before its way was known
        self._step = FreeStep(memory, {}, set())
        self._revision = -1
        self._to_trace = 0  # steps that have to be traced before the next one can run free
        self._detour = 0  # as many as those were the last time

    # ------------------------------------------------------------ what is known

    def learn(self, program: Sequence[tuple[Any, Event | None]], known: Known, exits: Iterable[int]) -> None:
        """A step was traced. Arguments are as of `Program`."""
        self._to_trace = max(0, self._to_trace - 1)
        traced, before = Program(program, _Traced(known), exits), self._fast.program
        if before is None or before.about.known is not known or not before.is_as(traced):
            self._fast.learn(traced)

    @property
    def ready(self) -> bool:
        """Whether the next step can run free."""
        return self._fast.program is not None and not self._to_trace

    @property
    def known(self) -> Known:
        """The graph of the step."""
        return self._traced.known

    # ------------------------------------------------------------ steps

    def begin(self, parameters: Parameters) -> None:
        """A step begins. Not to be called within `compat.unseen`, where modes can't come or go."""
        if self._revision != self._check.revision:
            self._revision = self._check.revision
            self._fast.watch(self._make_looks)
            self.stop()
        is_first, self.on = not self.on, True
        if is_first:
            self._fast.put_on()
        with compat.unseen():
            if is_first:
                self._look_back(parameters)
            compared = {name for looks in self._all_looks for name in looks.compared}
            now = parameters(compared) if compared else {}
            self._step = self._step.next({name: now[name] for name in compared if name in now})
        self._unseen = False
        self._fast.new_step()

    def begin_anew(self) -> None:
        """What was seen since `begin` was no part of the step."""
        self._step = FreeStep(self._memory, self._step.before, self._step.bad_before)
        self._unseen = False
        self._fast.new_step()

    def settle(self) -> None:
        self._fast.settle()

    def optimizing(self) -> AbstractContextManager[None]:
        """As `FastPath.optimizing`."""
        return self._fast.optimizing()

    def stop(self) -> None:
        """The next step is seen by somebody else, or by nobody."""
        if self.on:
            self.on = False
            self._fast.take_off()
            self._step = FreeStep(self._memory, {}, set())

    def end(self, number: int, parameters: Parameters) -> HitBatch:
        """All hits of step `number`, which is over. Raises what went wrong in here."""
        fast = self._fast
        strayed, ran = fast.strayed is not None, fast.ran
        fast.blind()
        if fast.fault is not None:
            raise fast.fault
        looks, step = self._looks, self._step
        measured = [name for name, here in looks.parameters.items() if not here.plan.only_overflow]
        self._check_parameters(looks, measured, parameters)
        step.settle()
        if fast.renamed:
            step.rename(fast.renamed, looks.reads)
        rest = [name for name, here in looks.parameters.items() if here.plan.only_overflow]
        open_ones = [name for name in rest if strayed or self._unseen or not looks.is_settled(name, step)]
        self._check_parameters(looks, open_ones, parameters)
        step.settle()
        step.passed_over(looks.parameters)
        warning = ""
        if strayed or self._unseen:
            self._detour = self._to_trace = min(2 * self._detour or 1, MOST_TRACED)
        if strayed:
            after = f" after {ran[-1].name}" if ran else ""
            warning = f"step {number} went a way that was not known{after}: from there on, nodes were not checked"
        elif self._unseen:
            warning = f"step {number} went another way than was expected: some of its first nodes were not checked"
        return batch_of(number, self._revision, self._hits(number, ran) if step.has_found else (), warning)

    def hand_over(self, number: int, parameters: Mapping[str, Tensor]) -> None:
        """Gives the memory what there is of the values of step `number`, which was ended, and of the one before."""
        holding, before = self._memory.holding, self._step.before
        previous, current = StepValues(number - 1, holding), StepValues(number, holding)
        nodes = {event.name for event in self._fast.ran}
        outputs: dict[str, KeptNode] = {}
        for (name, slot), tensor in before.items():
            if name in nodes:
                slots = outputs.setdefault(name, KeptNode([], [])).outputs
                slots += [NOT_KEPT] * (slot - len(slots)) + [holding.hold(tensor)]
        previous.ran_free(self._fast.ran, outputs)
        previous.ended({name: tensor for (name, _), tensor in before.items() if name not in nodes})
        current.ran_free(self._fast.ran, self._step.kept)
        current.ended(parameters)
        self._memory.adopt(previous, current)

    # ------------------------------------------------------------ parts

    def _note_unseen(self) -> None:
        self._unseen = True

    def _look_back(self, parameters: Parameters) -> None:
        """What has to be known of the step before, which was not watched here."""
        self._step = FreeStep(self._memory, {}, set())
        self._step.now = self._outputs_before()
        for looks in self._all_looks:
            self._check_parameters(looks, looks.parameters, parameters)
        self._step.settle()

    @property
    def _traced(self) -> _Traced:
        assert self._fast.program is not None
        traced: _Traced = self._fast.program.about
        return traced

    @property
    def _looks(self) -> Looks:
        assert self._traced.looks is not None
        return self._traced.looks

    @property
    def _all_looks(self) -> list[Looks]:
        """Of each way that the step may take."""
        return [program.about.looks for program in self._fast.programs]

    def _make_looks(self, program: Program) -> list[Look | None]:
        traced: _Traced = program.about
        graph = traced.known.graph
        traced.looks = Looks(graph, self._check.watching(graph), program.events, lambda: self._step)
        return traced.looks.looks

    def _hits(self, number: int, ran: Iterable[Event]) -> list[Hit]:
        graph = self.known.graph
        stops = [event.name for event in ran if is_stop(event)]
        positions = dict.fromkeys(graph.of_kind("input"), 0) | {name: place for place, name in enumerate(stops, 1)}
        positions |= dict.fromkeys(graph.of_kind("parameter"), len(stops))
        looks = self._looks
        hits = self._step.hits(number, graph.name, positions, [*looks.inputs, *looks.parameters])
        if not self._fast.renamed:
            return hits
        watching = self._check.watching(graph)  # what was taken for another node may not be watched
        asked = {(node, one.id) for node, here in watching.items() for one in here.watchpoints}
        return [hit for hit in hits if (hit.node, hit.watchpoint) in asked]

    def _check_parameters(self, looks: Looks, names: Collection[str], parameters: Parameters) -> None:
        now = parameters(names) if names else {}
        for name in names:
            if name in now:
                self._step.check_parameter(looks.parameters[name], (name, 0), now[name])

    def _outputs_before(self) -> dict[Output, Tensor]:
        """Of a step that was held."""
        found: dict[Output, Tensor] = {}
        held, inputs = self._memory.current, {name for looks in self._all_looks for name in looks.inputs}
        if held is not None:
            for name, slot in {of for looks in self._all_looks for of in looks.with_previous()}:
                try:
                    value = held.variable(name) if name in inputs else held.output(name, slot)
                    found[name, slot] = value.clone()
                except (NotAvailable, RuntimeError):  # a tensor of an odd kind
                    continue
        return found
