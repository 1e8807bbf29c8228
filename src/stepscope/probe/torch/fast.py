"""Watches single nodes of a step whose operations are known from a trace, at the least cost per operation.

Each call is told by its place in the step alone. As long as the calls are those of a trace, an operation costs a look
into a list; where they are not (another branch, a last batch of another size makes none) another trace that began the
same way takes over. If there is none, nothing more is seen in this step: it has to be traced. What makes no value
(`Operation.idle`) may come and go: reading the loss now and then does not make another step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from torch import Tensor

from stepscope.probe.torch import compat
from stepscope.probe.torch.events import Event
from stepscope.probe.torch.operations import operation, outputs_of

Arguments = tuple[tuple[Any, ...], dict[str, Any] | None]
_After = Callable[[Any, Any, Any], None]  # result, args, kwargs
_Step = tuple[Any, Any, "Callable[[Any], bool] | None", "_After | None"]  # what is expected, how it is called, a look


class Look(NamedTuple):
    """`at` is given what a node has just put out, in the order of `Event.outputs`, and what it was called with; but for
    a result that `passes`, at less cost. `sees` is what it looks at, by any names that all looks share."""

    at: Callable[[Sequence[Tensor | None], Arguments], None]
    passes: Callable[[Any], bool] | None = None
    sees: frozenset[Any] = frozenset(("outputs",))


VARIANTS = 8  # programs that are known at a time


class Program:
    """What a traced step called. `events` are its nodes; `about` is for those who ask which one it was."""

    def __init__(self, program: Sequence[tuple[Any, Event | None]], about: Any = None) -> None:
        self.about = about
        self.events = [event for _, event in program if event is not None]
        self.functions: list[Any] = []
        self.names: list[str] = []  # of their nodes
        self.places: list[int] = []  # of each of the functions, its event
        for place, event in enumerate(self.events):
            if not event.operation.idle:
                self.functions.append(event.func)
                self.names.append(event.name)
                self.places.append(place)
        self.calls: list[_Step] = []
        self.seen: list[frozenset[Any]] = []  # of each of the calls

    def watch(self, looks: Sequence[Look | None]) -> None:
        """`looks`: for each event."""
        self.calls = [
            (function, compat.entry_of(function), *_after(self.events[place], looks[place]))
            for function, place in zip(self.functions, self.places, strict=True)
        ]
        looked_at = (looks[place] for place in self.places)
        self.seen = [look.sees if look is not None else frozenset() for look in looked_at]


class FastPath(compat.DebugMode):
    """`strayed` is the number of calls after which the step was no longer a known one, None while it is. `unseen` is
    called when it turns out that nodes to be looked at went by without that, as they were taken for others.

    A fault of a look stops the watching and is kept in `fault`; what is no Exception leaves through the training.
    """

    def __init__(self, unseen: Callable[[], None] = compat.nothing) -> None:
        super().__init__()
        self._unseen = unseen
        self.fault: Exception | None = None
        self.strayed: int | None = None
        self.renamed: dict[str, str] = {}  # nodes looked at that turned out to be others, of another program
        self._variants: list[Program] = []
        self._looks: Callable[[Program], Sequence[Look | None]] = lambda program: [None] * len(program.events)
        self._program: Program | None = None
        self._calls: Sequence[_Step] = ()
        self._at = 0
        self._undo: Callable[[], None] = compat.nothing

    # ------------------------------------------------------------ what is known, and what is looked at

    def learn(self, program: Program) -> None:
        """Adds the program of a traced step; it is expected first from now on."""
        others = [one for one in self._variants if one.functions != program.functions]
        self._variants = [program, *others[: VARIANTS - 1]]
        program.watch(self._looks(program))
        self._program = program

    def watch(self, looks: Callable[[Program], Sequence[Look | None]]) -> None:
        """From the next step on, looks at these nodes instead of those before."""
        self._looks = looks
        for program in self._variants:
            program.watch(looks(program))

    @property
    def program(self) -> Program | None:
        """The one that the present step follows, or that the next one is expected to; None as long as none is known."""
        return self._program

    @property
    def ran(self) -> list[Event]:
        """The nodes that have run in the step, as far as it was a known one."""
        if self._program is None or not self._at:
            return []
        return self._program.events[: self._program.places[self._at - 1] + 1]

    # ------------------------------------------------------------ steps

    def new_step(self) -> None:
        """A step begins."""
        self.strayed = None
        self.renamed = {}
        self._at = 0
        self._calls = self._program.calls if self._program is not None else ()
        self.seeing = True

    @property
    def complete(self) -> bool:
        """Whether the step has been a known one, to the end."""
        return self.strayed is None and self._at == len(self._calls)

    def push(self) -> None:
        self._undo()
        self._undo = compat.run_compiled_code_eagerly()
        if not compat.is_on(self):
            self.__enter__()

    def pop(self) -> bool:
        """False where a mode of the user's is on top of this one, which stays, blind, until the next call."""
        self.blind()
        self._undo()
        self._undo = compat.nothing
        if compat.is_on_top(self):
            self.__exit__(None, None, None)
        return not compat.is_on(self)

    def blind(self) -> None:
        super().blind()
        self._calls = ()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        at = self._at
        try:
            expected, call, passes, after = self._calls[at]
        except IndexError:
            return self._other(at, func, args, kwargs or {})
        if expected is not func:
            return self._other(at, func, args, kwargs or {})
        self._at = at + 1
        result = call(*args, **kwargs) if kwargs else call(*args)
        if after is not None:
            try:
                if passes is None or not passes(result):
                    after(result, args, kwargs)
            except Exception as error:
                self.fault = error
                self.blind()
        return result

    def _other(self, at: int, func: Any, args: Any, kwargs: Any) -> Any:
        """Not the call that is expected."""
        if self.seeing and not operation(func).idle:
            self._find_variant(at, func)
            if self.seeing:
                return self.__torch_dispatch__(func, (), args, kwargs)
        return func(*args, **kwargs)

    def _find_variant(self, at: int, func: Any) -> None:
        """Goes over to another program that began the same way; else the step has strayed."""
        before = self._program
        for program in self._variants if before is not None else ():
            if program.functions[: at + 1] == [*before.functions[:at], func]:
                names_now = dict(zip(before.names[:at], program.names, strict=False))
                self.renamed = {old: names_now.get(new, new) for old, new in self.renamed.items()} | names_now
                self._program, self._calls = program, program.calls
                if any(to_see - saw for saw, to_see in zip(before.seen[:at], program.seen, strict=False)):
                    self._unseen()
                return
        self.strayed = at
        self.blind()


def _after(event: Event, look: Look | None) -> tuple[Callable[[Any], bool] | None, _After | None]:
    """What is done after a call, given what was learnt of it in the trace."""
    if look is None:
        return None, None
    operation, at = event.operation, look.at

    def look_at_all(result: Any, args: Any, kwargs: Any) -> None:
        tensors, written, _ = operation.read(args, kwargs or {})
        at(outputs_of(result, [tensors[place] for place in written]), (args, kwargs))

    return look.passes, look_at_all
