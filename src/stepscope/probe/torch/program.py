"""What a traced step called, in order, and what is to be looked at when it runs again."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from torch import Tensor

from stepscope.probe.torch import compat
from stepscope.probe.torch.events import Event
from stepscope.probe.torch.operations import outputs_of

Arguments = tuple[tuple[Any, ...], dict[str, Any] | None]
After = Callable[[Any, Any, Any], None]  # result, args, kwargs


class Look(NamedTuple):
    """`at` is given what a node has just put out, in the order of `Event.outputs`, and what it was called with; but for
    a result that `passes`, at less cost. `sees` is what it looks at, by any names that all looks share. `before` is
    given what the node is about to be called with."""

    at: Callable[[Sequence[Tensor | None], Arguments], None] | None = None
    passes: Callable[[Any], bool] | None = None
    sees: frozenset[Any] = frozenset(("outputs",))
    before: Callable[[Arguments], None] | None = None


class Step(NamedTuple):
    """Of a program: the operation, how it is called, its name in Python ("" where it has to be called in that way), and
    a look at what comes of it."""

    function: Any
    entry: Callable[..., Any]
    name: str
    passes: Callable[[Any], bool] | None
    after: After | None


class Program:
    """What a traced step called. `events` are its nodes, `raised` the names of those that raised; `about` is for those
    who ask which one it was. `exits`: the numbers of events after which the step of an optimizer was over; here, those
    of calls."""

    def __init__(
        self, program: Sequence[tuple[Any, Event | None]], about: Any = None, exits: Iterable[int] = ()
    ) -> None:
        self.about = about
        self.events = [event for _, event in program if event is not None]
        self.raised = {event.name for event in self.events if not event.has_run}
        self.functions: list[Any] = []
        self.names: list[str] = []  # of their nodes
        self.places: list[int] = []  # of each of the functions, its event
        for place, event in enumerate(self.events):
            if not event.operation.idle:
                self.functions.append(event.func)
                self.names.append(event.name)
                self.places.append(place)
        self.exits = {bisect_left(self.places, count) for count in exits}
        self.calls: list[Step] = []
        self.seen: list[frozenset[Any]] = []  # of each of the calls

    def is_as(self, other: Program) -> bool:
        return self.functions == other.functions and self.exits == other.exits

    def watch(self, looks: Sequence[Look | None], failed: Callable[[Exception], None]) -> None:
        """`looks`: for each event; `failed` is told what goes wrong in one that comes before."""
        self.calls = []
        for function, place in zip(self.functions, self.places, strict=True):
            namespace, _, name = self.events[place].operation.name.partition(".")
            entry, look = compat.entry_of(function), looks[place]
            if look is not None and look.before is not None:
                entry, name = _looking_first(look.before, entry, failed), ""
            after = _after(self.events[place], look)
            self.calls.append(Step(function, entry, name if namespace == "aten" else "", *after))
        looked_at = (looks[place] for place in self.places)
        self.seen = [look.sees if look is not None else frozenset() for look in looked_at]


def _looking_first(
    look: Callable[[Arguments], None], call: Callable[..., Any], failed: Callable[[Exception], None]
) -> Callable[..., Any]:
    def entry(*args: Any, **kwargs: Any) -> Any:
        try:
            look((args, kwargs))
        except Exception as error:
            failed(error)
        return call(*args, **kwargs)

    return entry


def _after(event: Event, look: Look | None) -> tuple[Callable[[Any], bool] | None, After | None]:
    """What is done after a call, given what was learnt of it in the trace."""
    if look is None or look.at is None:
        return None, None
    operation, at = event.operation, look.at

    def look_at_all(result: Any, args: Any, kwargs: Any) -> None:
        with compat.unseen_in_python():
            tensors, written, _ = operation.read(args, kwargs or {})
            at(outputs_of(result, [tensors[place] for place in written]), (args, kwargs))

    return look.passes, look_at_all
