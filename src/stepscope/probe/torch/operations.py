"""What an operation of the dispatcher is: its name, which arguments it writes, whether its result is a view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from torch import Tensor

from stepscope.core.graph.fold import FOLDED_OPS
from stepscope.probe.torch import compat

# Operations that call functions (`torch.cond`) have none.
_NO_SCHEMA = SimpleNamespace(name="higher_order::", arguments=(), returns=())

# Not operations on tensors: marks of the profiler, questions about an object, and calls of functions.
_HIDDEN_NAMESPACES = frozenset(("profiler", "prim", "prims", "debugprims", "higher_order"))

# Views whose schema does not tell, or that are none of what they are given.
_MORE_VIEWS = frozenset(("aten._unsafe_view", "aten._reshape_alias"))
FRESH = frozenset(("aten.lift_fresh",))  # hands out a new tensor whose making nobody saw

# Writes of running statistics that the schema does not tell, while training: (arguments, the flag's place).
_STATISTICS = dict.fromkeys(("aten.native_batch_norm", "aten.cudnn_batch_norm", "aten.miopen_batch_norm"), ((3, 4), 5))

# Writes that the schema does not tell, whatever they depend on: the arguments that they may happen to.
_RUNNING = ("running_mean", "running_var")
_UNDECLARED: dict[str, tuple[str, ...]] = {
    "aten.native_batch_norm": _RUNNING,
    "aten.cudnn_batch_norm": _RUNNING,
    "aten.miopen_batch_norm": _RUNNING,
    "aten.batch_norm_gather_stats": _RUNNING,
    "aten.batch_norm_gather_stats_with_counts": _RUNNING,
    "aten.batch_norm_update_stats": _RUNNING,
    "aten.mkldnn_rnn_layer_backward": ("workspace",),
    "aten._cudnn_rnn_backward": ("reserve",),
}
_COLLECTIVES = ("c10d", "fsdp", "symm_mem")  # their schemas tell of none at all


class Operation:
    """`name` is without the overload: "aten.addmm". `view`: its outputs are views of an input. `idle`: it makes no
    value and writes none (it views a tensor, or asks it for a number): a step is the same with it and without.
    `native`: it is PyTorch's own, and runs no Python."""

    __slots__ = (
        *("_arguments", "_may_write", "_numbers", "_positional", "_statistics", "_written"),
        *("fresh", "hidden", "idle", "name", "native", "view", "writes"),
    )

    def __init__(self, func: Any) -> None:
        schema = getattr(func, "_schema", None)
        if schema is None:
            schema = _NO_SCHEMA
            compat.leave_compiled_code_alone()
        namespace, _, name = schema.name.partition("::")
        self.name = f"{namespace}.{name}"
        self.hidden = namespace in _HIDDEN_NAMESPACES
        self.native = namespace == "aten"
        self.fresh = self.name in FRESH
        self._arguments = [argument.name for argument in schema.arguments]
        self._positional = [argument.name for argument in schema.arguments if not argument.kwarg_only]
        self._numbers = {
            key
            for place, one in enumerate(schema.arguments)
            if "Tensor" not in str(one.type)
            for key in (place, one.name)
        }
        aliases = [argument.alias_info for argument in schema.arguments]
        self._written = {
            key
            for place, (argument, alias) in enumerate(zip(schema.arguments, aliases, strict=True))
            if alias is not None and alias.is_write
            for key in (place, argument.name)
        }
        hidden = self._arguments if namespace in _COLLECTIVES else _UNDECLARED.get(self.name, ())
        self._may_write = self._written | {
            key for place, argument in enumerate(self._arguments) if argument in hidden for key in (place, argument)
        }
        if namespace == "c10d" and name.endswith("_") and not self._written:
            self._written = {0, self._arguments[0]}
        self._statistics = _STATISTICS.get(self.name)
        self.writes = bool(self._written) or self._statistics is not None
        returned = [value.alias_info for value in schema.returns]
        makes = any("Tensor" in str(value.type) for value in schema.returns)
        self.idle = self.hidden or not (makes or self._may_write) or self.name in FOLDED_OPS
        self.view = any(one is not None and not one.is_write for one in returned) or self.name in _MORE_VIEWS

    def read(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[Tensor], list[int], list[tuple[str, Any]]]:
        """The arguments of a call, apart: its tensors in order (one in a list counts as one of its own), the indices of
        those that the call writes, and the rest by name."""
        tensors: list[Tensor] = []
        written: list[int] = []
        literals: list[tuple[str, Any]] = []
        writes = self._written_by(args) if self.writes else ()
        for place, value in enumerate(args):
            if isinstance(value, Tensor):
                if place in writes:
                    written.append(len(tensors))
                tensors.append(value)
            elif isinstance(value, (list, tuple)) and _holds_tensors(value):
                first = len(tensors)
                _flatten(value, tensors)
                if place in writes:
                    written += range(first, len(tensors))
            else:
                literals.append((self._arguments[place], value))
        for name, value in kwargs.items():
            if isinstance(value, Tensor) or (isinstance(value, (list, tuple)) and _holds_tensors(value)):
                first = len(tensors)
                _flatten((value,), tensors)
                if name in writes:
                    written += range(first, len(tensors))
            else:
                literals.append((name, value))
        return tensors, written, literals

    def dispatched(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What the dispatcher is called with where Python calls this with `args` and `kwargs`."""
        named = dict(kwargs)
        if "input" in named and "self" in self._positional:
            named["self"] = named.pop("input")
        bound = list(args[: len(self._arguments)])  # sizes may be given one by one
        for name in self._positional[len(bound) :]:
            if name not in named:
                break
            bound.append(named.pop(name))
        for values, keys in ((bound, range(len(bound))), (named, list(named))):
            for key in keys:
                if key in self._numbers and isinstance(values[key], Tensor):
                    values[key] = values[key].item()
        return tuple(bound), named

    def may_write(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Tensor]:
        """The tensors among the arguments of a call into whose memory it may write: no less than those that it does."""
        found: list[Tensor] = []
        if self._may_write:
            for place, value in enumerate(args):
                if place in self._may_write:
                    _flatten((value,), found)
            for name, value in kwargs.items():
                if name in self._may_write:
                    _flatten((value,), found)
        return found

    def _written_by(self, args: tuple[Any, ...]) -> Any:
        if self._statistics is None:
            return self._written
        places, flag = self._statistics
        return self._written | set(places) if len(args) > flag and args[flag] else self._written


def outputs_of(result: Any, written: list[Tensor]) -> list[Tensor | None]:
    """The outputs of a call in order, then what it wrote and did not return. None for an output that there is not."""
    if isinstance(result, Tensor):
        found: list[Tensor | None] = [result]
    else:
        found = []
        if isinstance(result, (list, tuple)):
            _flatten(result, found, holes=True)
    if written:
        returned = set(map(id, found))
        found += [tensor for tensor in written if id(tensor) not in returned]
    return found


def _holds_tensors(values: Any) -> bool:
    for one in values:
        if isinstance(one, Tensor):
            return True
        if isinstance(one, (int, float, str)):  # a list of these holds nothing else
            return False
        if isinstance(one, (list, tuple)) and _holds_tensors(one):
            return True
    return False


def _flatten(values: Any, into: list[Any], holes: bool = False) -> None:
    for one in values:
        if isinstance(one, Tensor):
            into.append(one)
        elif isinstance(one, (list, tuple)):
            _flatten(one, into, holes)
        elif holes and one is None:
            into.append(None)


_known: dict[Any, Operation] = {}


def operation(func: Any) -> Operation:
    """Of an overload, made once."""
    known = _known.get(func)
    if known is None:
        known = _known[func] = Operation(func)
    return known
