"""Questions about objects of the user's that run none of their code: it might raise, or draw a random number."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from torch import Tensor, nn

_DICTS = (dict, OrderedDict, defaultdict)
CONTAINERS = (*_DICTS, list, tuple)  # that are looked into: of just these classes
_MOST = 64  # elements of a container that are looked at


def is_a(thing: Any, kind: type | tuple[type, ...]) -> bool:
    """As `isinstance`, which believes what an object says of its class."""
    return issubclass(type(thing), kind)


def class_name(thing: Any) -> str:
    return str(type.__getattribute__(type(thing), "__name__"))


def items(container: Any, most: int | None = _MOST) -> list[tuple[Any, Any]]:
    """The first of a plain container, by their keys or places; none of any other object."""
    if type(container) in _DICTS:
        return _first(dict.items(container), most)
    if type(container) in (list, tuple):
        return _first(enumerate(container), most)
    return []


def attribute(thing: Any, name: str) -> Any:
    """None where there is none."""
    try:
        return object.__getattribute__(thing, name)
    except Exception:  # of a property
        return None


def attributes(thing: Any) -> dict[str, Any]:
    """What an object itself has."""
    found = attribute(thing, "__dict__")
    return dict(_first(dict.items(found), _MOST)) if is_a(found, dict) else {}


def named_modules(module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """As of `nn.Module`, whatever the classes make of it."""
    return _named_modules(module, "", set())


def named_tensors(module: nn.Module, kind: str) -> Iterator[tuple[str, Tensor]]:
    """The same of parameters ("_parameters") or buffers ("_buffers")."""
    seen: set[int] = set()
    for path, part in named_modules(module):
        for name, tensor in registered(part, kind):
            if is_a(tensor, Tensor) and id(tensor) not in seen:
                seen.add(id(tensor))
                yield f"{path}.{name}" if path else name, tensor


def registered(module: nn.Module, kind: str) -> list[tuple[str, Any]]:
    """What a module itself has of one kind: "_parameters", "_buffers" or "_modules"."""
    found = attribute(module, kind)
    if is_a(found, dict):
        return list(dict.items(found))
    if found is None and _is_pytorchs(module):  # of a module that was traced
        found = getattr(module, kind, None)
    return list(found.items()) if _is_pytorchs(found) else []  # of a script


def first_parameter(module: nn.Module) -> Tensor | None:
    return next((tensor for _, tensor in named_tensors(module, "_parameters")), None)


def _is_pytorchs(thing: Any) -> bool:
    return str(type.__getattribute__(type(thing), "__module__")).startswith("torch.")


def _named_modules(module: nn.Module, path: str, seen: set[int]) -> Iterator[tuple[str, nn.Module]]:
    if id(module) in seen:
        return
    seen.add(id(module))
    yield path, module
    for name, part in registered(module, "_modules"):
        if is_a(part, nn.Module):
            yield from _named_modules(part, f"{path}.{name}" if path else name, seen)


def _first(items: Iterable[tuple[Any, Any]], most: int | None) -> list[tuple[Any, Any]]:
    try:
        return list(islice(items, most))
    except RuntimeError:  # another thread changes it
        return []
