"""Operations that make finite numbers of finite ones, whatever these are: their results need no look of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stepscope.probe.torch.events import Event

Rule = Callable[[Any, Any], bool]  # args, kwargs: whether it holds for this call

# What they put out is among what they read, or zeros and ones.
_MOVES = ("cat", "clone", "embedding", "gather", "index_select", "maximum", "minimum", "relu", "stack")
_MOVES += ("threshold_backward", "where")
_SHRINKS = ("_softmax", "neg", "sigmoid", "tanh")
_FILLS = ("bernoulli", "ones_like", "zero", "zeros_like")  # whatever was there before
FILLS = frozenset(f"aten.{name}" for name in _FILLS)
ALWAYS = frozenset(f"aten.{name}" for name in (*_MOVES, *_SHRINKS, *_FILLS))


def _always(_args: Any, kwargs: Any) -> bool:
    return not kwargs or "out" not in kwargs  # which may be of a narrower type


def _at_most_one(args: Any, kwargs: Any) -> bool:
    """A number; added to one so large that infinity is next, it is lost in rounding."""
    return len(args) == 2 and not kwargs and isinstance(args[1], (int, float)) and abs(args[1]) <= 1


def _at_least_one(args: Any, kwargs: Any) -> bool:
    return len(args) == 2 and not kwargs and isinstance(args[1], (int, float)) and abs(args[1]) >= 1


WITH_NUMBER: dict[str, Rule] = {
    "aten.add": _at_most_one,
    "aten.sub": _at_most_one,
    "aten.mul": _at_most_one,
    "aten.div": _at_least_one,
}


def rule_of(event: Event) -> Rule | None:
    """When a call of this operation keeps finite what is; None: nobody knows."""
    name = event.op.removesuffix("_")
    return _always if name in ALWAYS else WITH_NUMBER.get(name)


def reads_nothing(event: Event) -> bool:
    """Whether what comes of it has nothing to do with what it is given."""
    return event.op.removesuffix("_") in FILLS
