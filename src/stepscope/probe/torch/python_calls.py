"""Sees operations where Python calls them, at half of what it costs to see them at the dispatcher.

Not all of them pass there (none of a backward pass does), and not as they are: a function may call several operations,
or others than its name says. So this is for code that is known, and for functions that are nothing but the binding of
one operation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

QUIET = "."  # the name of what makes no value
PLAIN = frozenset(((), (torch.Tensor,), (torch.nn.Parameter,)))  # classes whose functions do what PyTorch's do

_BINDINGS = (type(torch.Tensor.add_), type(torch.sqrt))
_GETTER = type(torch.Tensor.grad.__get__)
_QUIET_NAMES = frozenset(("is_complex", "is_floating_point", "item", "numel", "size", "dim"))
_names: dict[Any, str] = {}


def name_of(function: Any) -> str:
    """The operation that a function is the binding of: if the dispatcher is called by it with that, it is so once, and
    with nothing else. "" for what may call anything."""
    known = _names.get(function)
    if known is None:
        kind, name = type(function), getattr(function, "__name__", "")
        if kind is _GETTER and name == "__get__":  # at most a view
            known = QUIET
        elif kind in _BINDINGS:
            known = QUIET if name in _QUIET_NAMES else name
        else:
            return ""  # not kept: there may be any number of them
        _names[function] = known
    return known


class PythonCalls(TorchFunctionMode):
    """`see` is called with each function and its arguments instead of the function."""

    def __init__(self, see: Callable[[Any, Any, Any, Any], Any]) -> None:
        super().__init__()
        self._see = see

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self._see(func, types, args, kwargs)
