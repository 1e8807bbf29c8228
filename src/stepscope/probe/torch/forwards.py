"""Tells when an outermost module is called: by global hooks where those are harmless, else by hooks on the roots."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from torch import nn
from torch.nn.modules import module as global_hooks

from stepscope.probe.torch import compat
from stepscope.probe.torch.compiled import CompiledFunction


class Forwards:
    """`begins` is told of each call of an outermost module, `ended` of its end. A compiled function that calls modules
    is as good as one, and given as None."""

    def __init__(self, begins: Callable[[nn.Module | None], None], ended: Callable[[], None]) -> None:
        self._begins, self._ended = begins, ended
        self._handles: list[Any] = []
        self._how = ""
        self._running = 0  # the outermost module that runs
        self._depth = 0  # how often it calls itself
        self._roots: dict[int, weakref.ref[nn.Module]] = {}  # that were called so far
        self._compiled: CompiledFunction | None = None  # the outermost that runs

    def await_first(self) -> None:
        """Until anything else is asked for: tells of the first call of a module that has parameters."""
        self._how = "first"
        self._handles = [global_hooks.register_module_forward_pre_hook(self._first)]

    def follow_all(self, inside: nn.Module | None = None) -> None:
        """From now on, whatever modules there are. `inside`: one whose call has begun."""
        if self._how == "all":
            return
        self.remove()
        self._how = "all"
        self._handles = [
            global_hooks.register_module_forward_pre_hook(self._enter),
            global_hooks.register_module_forward_hook(self._leave, always_call=True),
        ]
        if inside is not None:
            self._note(inside)

    def follow_roots(self) -> None:
        """From now on, those that were outermost so far: Dynamo can compile what is inside of them."""
        if self._how == "roots":
            return
        self.remove()
        self._how = "roots"
        for reference in self._roots.values():
            root = reference()
            if root is not None:
                self._handles.append(root.register_forward_pre_hook(self._enter))
                self._handles.append(root.register_forward_hook(self._leave, always_call=True))

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles, self._how = [], ""
        self._running = self._depth = 0

    def enter_compiled(self, function: CompiledFunction) -> bool:
        """A compiled function is called; whether it is the outermost one."""
        if self._compiled is not None:
            return False
        self._compiled = function
        if function.calls_modules and self._how in ("all", "roots"):
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
        if next(module.parameters(), None) is not None:  # else a transformation of data
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
        if self._depth:
            self._depth += id(called) == self._running
            return
        self._note(called)
        self._begins(called if isinstance(called, nn.Module) else None)

    def _end(self, called: nn.Module | CompiledFunction) -> None:
        if self._depth and id(called) == self._running:
            self._depth -= 1
            if not self._depth:
                self._ended()

    def _note(self, called: nn.Module | CompiledFunction) -> None:
        key = id(called)
        self._running, self._depth = key, 1
        if key not in self._roots and isinstance(called, nn.Module):
            self._roots[key] = weakref.ref(called, lambda _dead: self._roots.pop(key, None))
