"""Watches single nodes of a step whose operations are known from a trace, at the least cost per operation.

Each call is told by its place in the step alone. As long as the calls are those of a trace, an operation costs a look
into a list; where they are not (another branch, a last batch of another size makes none) another trace that began the
same way takes over. If there is none, nothing more is seen in this step: it has to be traced. What makes no value
(`Operation.idle`) may come and go: reading the loss now and then does not make another step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from stepscope.probe.signals import is_of_a_handler
from stepscope.probe.torch import compat
from stepscope.probe.torch.events import Event
from stepscope.probe.torch.operations import operation
from stepscope.probe.torch.program import Look, Program, Step
from stepscope.probe.torch.python_calls import PLAIN, QUIET, PythonCalls, name_of

VARIANTS = 8  # programs that are known at a time

_idle: dict[Any, Callable[..., Any]] = {}  # operations that make no value, and what calls them


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
        self._calls: Sequence[Step] = ()
        self._at = 0
        self._python_calls = PythonCalls(self._called)

    # ------------------------------------------------------------ what is known, and what is looked at

    def learn(self, program: Program) -> None:
        """Adds the program of a traced step; it is expected first from now on."""
        others = [one for one in self._variants if one.functions != program.functions]
        self._variants = [program, *others[: VARIANTS - 1]]
        program.watch(self._looks(program), self._fail)
        self._program = program

    def watch(self, looks: Callable[[Program], Sequence[Look | None]]) -> None:
        """From the next step on, looks at these nodes instead of those before."""
        self._looks = looks
        for program in self._variants:
            program.watch(looks(program), self._fail)

    @property
    def program(self) -> Program | None:
        """The one that the present step follows, or that the next one is expected to; None as long as none is known."""
        return self._program

    @property
    def programs(self) -> Sequence[Program]:
        """All that are known."""
        return self._variants

    @property
    def ran(self) -> list[Event]:
        """The nodes that have run in the step, as far as it was a known one. What makes no value, or raised, is taken
        to have done as it did in the trace."""
        program = self._program
        if program is None or not self._at:
            return []
        is_over = self._at == len(program.places)
        ran = program.events if is_over else program.events[: program.places[self._at - 1] + 1]
        return [event for event in ran if event.name not in program.raised] if program.raised else ran

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

    def blind(self) -> None:
        super().blind()
        self._calls = ()

    @contextmanager
    def optimizing(self) -> Iterator[None]:
        """Inside is the step of an optimizer of PyTorch's own, which calls operations from Python and in no other way:
        it is seen there."""
        if not (self.seeing and compat.is_on_top(self) and compat.sees_python_calls()) or compat.compiles():
            yield
            return
        self.__exit__(None, None, None)
        try:
            with self._python_calls:
                yield
        finally:
            if self.wanted:
                self.__enter__()
        if self.seeing and self._program is not None and self._at not in self._program.exits:
            self._unseen()  # in another way, then

    def _called(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """A function that Python has called while an optimizer works."""
        try:
            name = name_of(func) if types in PLAIN else ""
        except TypeError:  # not hashable
            name = ""
        if name is QUIET:
            return func(*args, **kwargs) if kwargs else func(*args)
        at = self._at
        try:
            function, _, expected, passes, after = self._calls[at]
        except IndexError:
            expected = ""
        if not name or name != expected:
            with self:
                return func(*args, **kwargs) if kwargs else func(*args)
        self._at = at + 1
        result = func(*args, **kwargs) if kwargs else func(*args)
        if after is not None:
            try:
                if passes is None or not passes(result):
                    after(result, *operation(function).dispatched(args, kwargs or {}))
            except Exception as error:
                self._fail(error)
        return result

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        idle = _idle.get(func)
        if idle is not None:
            return idle(*args, **kwargs) if kwargs else idle(*args)
        at = self._at
        try:
            expected, call, _, passes, after = self._calls[at]
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
                self._fail(error)
        return result

    def _fail(self, error: Exception) -> None:
        """Raises what is not ours."""
        if is_of_a_handler(error):
            raise error
        self.fault = error
        self.blind()

    def _other(self, at: int, func: Any, args: Any, kwargs: Any) -> Any:
        """Not the call that is expected."""
        if operation(func).idle:
            _idle[func] = compat.entry_of(func)
        elif self.seeing:
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
