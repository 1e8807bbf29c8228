"""Watches single nodes of a step whose operations are known from a trace, at the least cost per operation.

Each call is told by its place in the step alone. As long as the calls are those of a trace, an operation costs a look
into a list; where they are not (another branch, a last batch of another size makes none) another trace that began the
same way takes over. If there is none, nothing more is seen in this step: it has to be traced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from torch import Tensor

from stepscope.probe.torch import compat
from stepscope.probe.torch.events import Event
from stepscope.probe.torch.operations import outputs_of

Look = Callable[[Sequence["Tensor | None"]], None]
"""Is given the outputs of a node as soon as it has run, in the order of `Event.outputs`."""

_After = Callable[[Any, Any, Any], None]  # result, args, kwargs


class _Call(NamedTuple):
    func: Any
    node: str  # "" for what is no node
    event: Event | None


class FastPath(compat.DebugMode):
    """`strayed` is the number of calls after which the step was no longer a known one, None while it is.

    A fault of a look stops the watching and is kept in `fault`; what is no Exception leaves through the training.
    """

    def __init__(self) -> None:
        super().__init__()
        self.fault: Exception | None = None
        self.strayed: int | None = None
        self._variants: list[list[_Call]] = []
        self._looks: Mapping[str, Look] = {}
        self._compiled: list[list[tuple[Any, _After | None]]] = []
        self._current = 0
        self._steps: Sequence[tuple[Any, _After | None]] = ()
        self._at = 0
        self._undo: Callable[[], None] = compat.nothing

    # ------------------------------------------------------------ what is known, and what is looked at

    def learn(self, program: Sequence[tuple[Any, Event | None]]) -> None:
        """Adds the program of a traced step; it is expected first from now on."""
        calls = [_Call(func, event.name if event else "", event) for func, event in program]
        functions = [call.func for call in calls]
        self._variants = [one for one in self._variants if [call.func for call in one] != functions]
        self._variants.insert(0, calls)
        self.watch(self._looks)

    def forget(self) -> None:
        """No program is known any more."""
        self._variants, self._compiled, self._steps = [], [], ()

    @property
    def knows(self) -> bool:
        """Whether a program is known."""
        return bool(self._variants)

    def watch(self, looks: Mapping[str, Look]) -> None:
        """Looks at these nodes, by name, from the next step on, instead of those before."""
        self._looks = looks
        self._compiled = [
            [(call.func, _after(call.event, looks.get(call.node)) if call.node else None) for call in calls]
            for calls in self._variants
        ]
        self._current = 0

    # ------------------------------------------------------------ steps

    def new_step(self) -> None:
        """A step begins."""
        self.strayed = None
        self._at = 0
        self._steps = self._compiled[self._current] if self._compiled else ()
        self.seeing = True

    @property
    def complete(self) -> bool:
        """Whether the step has been a known one, to the end."""
        return self.strayed is None and self._at == len(self._steps)

    def push(self) -> None:
        self._undo = compat.run_compiled_code_eagerly()
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
        self._steps = ()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        at = self._at
        self._at = at + 1
        try:
            expected, after = self._steps[at]
        except IndexError:
            return self._stray(at, func, args, kwargs or {})
        if expected is not func:
            return self._stray(at, func, args, kwargs or {})
        result = func(*args, **kwargs) if kwargs else func(*args)
        if after is not None:
            try:
                after(result, args, kwargs)
            except Exception as error:
                self.fault = error
                self.blind()
        return result

    def _stray(self, at: int, func: Any, args: Any, kwargs: Any) -> Any:
        if self.seeing:
            self._find_variant(at, func)
        if not self.seeing:
            return func(*args, **kwargs)
        self._at = at
        return self.__torch_dispatch__(func, (), args, kwargs)

    def _find_variant(self, at: int, func: Any) -> None:
        """Goes over to another program that began the same way; else the step has strayed."""
        begun = [call.func for call in self._variants[self._current][:at]] if self._variants else []
        for number, calls in enumerate(self._variants):
            if len(calls) > at and calls[at].func is func and [call.func for call in calls[:at]] == begun:
                self._current, self._steps = number, self._compiled[number]
                return
        self.strayed = at
        self.blind()


def _after(event: Event | None, look: Look | None) -> _After | None:
    """What is done after a call, given what was learnt of it in the trace."""
    if event is None or look is None:
        return None
    operation = event.operation
    if not event.writes and len(event.types) == 1:
        return lambda result, _args, _kwargs: look((result,))

    def look_at_all(result: Any, args: Any, kwargs: Any) -> None:
        tensors, written, _ = operation.read(args, kwargs or {})
        look(outputs_of(result, [tensors[place] for place in written]))

    return look_at_all
