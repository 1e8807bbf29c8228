"""Tells when an outermost module is called, by global hooks: nothing hangs on a module of the user's, which may be
copied or saved at any time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from torch import nn
from torch.nn.modules import module as global_hooks

from stepscope.probe.torch import compat, stacks, users
from stepscope.probe.torch.compiled import CompiledFunction


class Forwards:
    """`begins` is told of each call of an outermost module, `ended` of its end. A compiled function that calls modules
    is as good as one, and given as None."""

    def __init__(self, begins: Callable[[nn.Module | None], None], ended: Callable[[], None]) -> None:
        self._begins, self._ended = begins, ended
        self._handles: list[Any] = []
        self._follows = False
        self._running = 0  # the outermost module that runs
        self._call: stacks.Call | None = None  # of it
        self._depth = 0  # how often it calls itself
        self._compiled: CompiledFunction | None = None  # the outermost that runs

    def await_first(self) -> None:
        """Until anything else is asked for: tells of the first call of a module that has parameters."""
        self._handles = [global_hooks.register_module_forward_pre_hook(self._first)]

    def follow(self, inside: nn.Module | None = None) -> None:
        """From now on. `inside`: a module whose call has begun."""
        if self._follows:
            return
        self.remove()
        self._follows = True
        self._handles = [
            global_hooks.register_module_forward_pre_hook(self._enter),
            global_hooks.register_module_forward_hook(self._leave, always_call=True),
        ]
        if inside is not None:
            self._note(inside)

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles, self._follows = [], False
        self._running = self._depth = 0

    def enter_compiled(self, function: CompiledFunction) -> bool:
        """A compiled function is called; whether it is the outermost one."""
        if self._compiled is not None:
            return False
        self._compiled = function
        if function.calls_modules and self._follows:
            self._begin(function)
        return True

    def leave_compiled(self, function: CompiledFunction) -> None:
        """The outermost one is over."""
        self._compiled = None
        self._end(function)

    # ------------------------------------------------------------ hooks, of which Dynamo must not see any

    def _first(self, module: nn.Module, _args: Any) -> None:
        if compat.is_compiling():
            return
        if users.first_parameter(module) is not None:  # else a transformation of data
            self._note(module)
            self._begins(module)

    def _enter(self, module: nn.Module, _args: Any) -> None:
        if compat.is_compiling():
            return
        if self._compiled is not None:
            self._compiled.calls_modules = True
        self._begin(module)

    def _leave(self, module: nn.Module, _args: Any, _output: Any) -> None:
        if compat.is_compiling():
            return
        self._end(module)

    # ------------------------------------------------------------ parts

    def _begin(self, called: nn.Module | CompiledFunction) -> None:
        if self._depth and id(called) != self._running:
            return
        if self._depth and self._calls_itself():
            self._depth += 1
            return
        self._note(called)  # it may have been left by what is no Exception, of which no hook tells
        self._begins(called if isinstance(called, nn.Module) else None)

    def _calls_itself(self) -> bool:
        """Whether the call that begins was made by the one that is known to run."""
        call = stacks.nearest(sys._getframe(), compat.module_code)
        return stacks.is_within(self._call, call.f_back if call is not None else None)

    def _note(self, called: nn.Module | CompiledFunction) -> None:
        is_module = isinstance(called, nn.Module)
        self._running, self._depth = id(called), 1
        self._call = stacks.call_of(stacks.nearest(sys._getframe(), compat.module_code)) if is_module else None

    def _end(self, called: nn.Module | CompiledFunction) -> None:
        if self._depth and id(called) == self._running:
            self._depth -= 1
            if not self._depth:
                self._ended()
