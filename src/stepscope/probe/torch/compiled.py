"""Functions that `torch.compile` makes. What they call is out of sight while they run compiled, and nobody may find out
by looking: what Dynamo meets of ours on its way is nothing to it (`compat.is_compiling`), or runs as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import CellType, FunctionType, MethodType
from typing import Any

from torch import nn

from stepscope.probe.torch import users

DEPTH = 3  # functions that call functions


class CompiledFunction:
    """`calls_modules`: one was seen to be called inside of it, when it ran op by op."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.calls_modules = False

    def module(self, args: Any, kwargs: Any) -> nn.Module | None:
        """One with parameters, if a call with these arguments can get at any."""
        own = getattr(self.function, "__self__", None)
        parts = [self.function, *args, *kwargs.values(), *users.attributes(own).values()]
        return next((found for part in parts for found in _modules(part, DEPTH)), None)


def is_of_torch(function: Any) -> bool:
    """Such as what `torch.cond` calls, not a method of an object of the user's."""
    return type(function) is FunctionType and str(function.__module__).partition(".")[0] == "torch"


def _modules(thing: Any, depth: int) -> Iterator[nn.Module]:
    if users.is_a(thing, nn.Module):
        if users.first_parameter(thing) is not None:
            yield thing
    elif depth:
        for part in _parts(thing):
            yield from _modules(part, depth - 1)


def _parts(thing: Any) -> Iterator[Any]:
    """What a function can name."""
    if type(thing) is MethodType:
        yield from (thing.__self__, thing.__func__)
    elif type(thing) is partial:
        yield from (thing.func, *thing.args, *thing.keywords.values())
    elif type(thing) is FunctionType:
        yield from map(_content, thing.__closure__ or ())
        yield from (thing.__globals__[name] for name in thing.__code__.co_names if name in thing.__globals__)


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None
