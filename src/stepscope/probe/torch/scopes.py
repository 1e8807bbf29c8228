"""Which module runs, per thread, by global forward hooks that are there only while a step is traced.

A root is a module that is called while no other runs; it is called as the caller's variable is, and its parts as it
calls them. Modules that are made on the way, and belong to none, hang below the one that calls them.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from contextlib import suppress
from threading import get_ident
from types import FrameType
from typing import Any, NamedTuple

from torch import nn
from torch.nn.modules import module as global_hooks

from stepscope.probe.torch import compat, naming, stacks, users

_OF_OURS = 200  # frames that our own code takes at most, below the user's innermost one


class Running(NamedTuple):
    """A module that runs. `task` is the backward pass in which it was called, -1 for none."""

    module: int
    path: str
    task: int
    call: stacks.Call | None


class Root(NamedTuple):
    name: str
    module: weakref.ref[nn.Module]


class Scopes:
    """`found` is told of each new root."""

    def __init__(self, found: Callable[[Root], None]) -> None:
        self.roots: list[Root] = []
        self._found = found
        self._paths: dict[int, str] = {}  # by the id of a module, as long as it lives
        self._alive: dict[int, weakref.ref[nn.Module]] = {}
        self._stacks: dict[int, list[Running]] = {}
        self._handles: list[Any] = []
        self._limits = (0, 0)  # of recursion: the user's, and that which stands for it

    # ------------------------------------------------------------ hooks

    def install(self, inside: nn.Module | None = None) -> None:
        """From now on calls are followed. `inside`: a module whose call has begun already."""
        if not self._handles:
            self._stacks.clear()
            self._handles = [
                global_hooks.register_module_forward_pre_hook(self._enter),
                global_hooks.register_module_forward_hook(self._leave, always_call=True),
            ]
        self._make_room()
        if inside is not None:
            self._entered(inside, stacks.nearest(sys._getframe(), compat.module_code))

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []
        self._stacks.clear()
        if sys.getrecursionlimit() == self._limits[1]:
            with suppress(RecursionError):  # we stand deeper than that ourselves: the next time, then
                sys.setrecursionlimit(self._limits[0])

    def _make_room(self) -> None:
        """With hooks, PyTorch calls each module with one more frame, in the place of three or four."""
        limit = sys.getrecursionlimit()
        if limit != self._limits[1]:
            self._limits = limit, limit + limit // 2 + _OF_OURS
            sys.setrecursionlimit(self._limits[1])

    def top(self, frame: FrameType | None) -> Running | None:
        """The innermost module that runs in this thread and has led to a frame. None leads there from any other: what
        is no Exception (Ctrl-C) leaves a module without its hooks."""
        stack = self._stacks.get(get_ident())
        while stack and not stacks.is_within(stack[-1].call, frame):
            stack.pop()
        return stack[-1] if stack else None

    def path_of(self, module: nn.Module) -> str:
        """The path of a module that is known, else ""."""
        return self._paths.get(id(module), "")

    def _enter(self, module: nn.Module, _args: Any) -> None:
        if compat.is_compiling():
            return
        caller = sys._getframe(1)
        calls = (one for one in (caller, caller.f_back) if one is not None and one.f_code is compat.module_code)
        self._entered(module, next(calls, None))

    def _entered(self, module: nn.Module, call: FrameType | None) -> None:
        """`call` is of the module; None where it is called in a way that is not known, as within compiled code."""
        self.top(call.f_back if call is not None else sys._getframe())
        stack = self._stacks.setdefault(get_ident(), [])
        try:
            path = self._paths.get(id(module)) or self._find(module, stack)
        except Exception:  # a module with attributes of its own ideas
            path = type(module).__name__
        stack.append(Running(id(module), path, compat.current_graph_task(), stacks.call_of(call)))

    def _leave(self, module: nn.Module, _args: Any, _output: Any) -> None:
        if compat.is_compiling():
            return
        stack = self._stacks.get(get_ident(), [])
        for place in range(len(stack) - 1, -1, -1):
            if stack[place].module == id(module):
                del stack[place:]
                return

    # ------------------------------------------------------------ names

    def _find(self, module: nn.Module, stack: list[Running]) -> str:
        if not stack:
            return self._add_root(module)
        caller = self._alive.get(stack[-1].module)
        parent = caller() if caller is not None else None
        if parent is not None:
            self._add_parts(parent, stack[-1].path)
        known = self._paths.get(id(module))
        return known or self._remember(module, f"{stack[-1].path}/{type(module).__name__}")

    def _add_root(self, module: nn.Module) -> str:
        name, root = naming.find_module(module, sys._getframe(2))
        self.roots = [one for one in self.roots if one.module() is not None]
        known = self._paths.get(id(root))
        if known is None:
            taken = {one.name for one in self.roots}
            unique, number = name, 0
            while unique in taken:
                number += 1
                unique = f"{name}_{number}"
            known = self._remember(root, unique)
            added = Root(unique, weakref.ref(root))
            self.roots.append(added)
            self._found(added)
        self._add_parts(root, known)
        return self._paths.get(id(module), known)

    def _add_parts(self, module: nn.Module, path: str) -> None:
        for qualified, part in users.named_modules(module):
            if id(part) not in self._paths:
                self._remember(part, naming.module_path(path, qualified))

    def _remember(self, module: nn.Module, path: str) -> str:
        key = id(module)

        def forget(_dead: Any) -> None:
            self._paths.pop(key, None)
            self._alive.pop(key, None)

        self._alive[key] = weakref.ref(module, forget)
        self._paths[key] = path
        return path
