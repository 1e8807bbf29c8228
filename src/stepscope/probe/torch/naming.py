"""The names of modules, parameters and step inputs, as the user's code calls them; the same from step to step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from types import FrameType
from typing import Any

from torch import Tensor, nn

from stepscope.probe.torch import stacks
from stepscope.probe.torch.storages import address_of
from stepscope.probe.torch.users import CONTAINERS, attributes, is_a, items, named_modules, registered

# What frameworks wrap a module in: DataParallel and DDP, torch.compile, FSDP, activation checkpointing.
WRAPPERS = frozenset(("module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"))
_OF_THE_OBJECT = frozenset(("self", "cls", "module", "mod"))  # names that say nothing
_kept = lru_cache(maxsize=1 << 16)  # the same names are made in each step
_NO_NAME = re.compile(r"[^\w.\-]+")


@_kept
def module_path(root: str, qualified: str) -> str:
    """("net", "blocks.3.fc") → "net/blocks.3/fc": what a number stands for is part of its container's name."""
    parts = [root]
    for part in _unwrapped(qualified):
        if part.isdigit() and len(parts) > 1:
            parts[-1] += "." + part
        else:
            parts.append(clean(part))
    return "/".join(parts)


@_kept
def tensor_name(root: str, qualified: str) -> str:
    """("net", "module.fc.weight") → "net.fc.weight"."""
    return ".".join([root, *map(clean, _unwrapped(qualified))])


@_kept
def clean(text: str) -> str:
    """The text as a part of a name, which has no slash."""
    return _NO_NAME.sub("_", text)


def numbered(name: str, counts: dict[str, int]) -> str:
    """The name, with a number from its second use on; `counts` holds how often each was used."""
    used = counts.get(name, 0)
    counts[name] = used + 1
    return f"{name}_{used}" if used else name


def find_module(module: nn.Module, frame: FrameType | None) -> tuple[str, nn.Module]:
    """The variable or attribute that holds a module where it is called, and the module that the name stands for:
    that one, or one that it is a part of. By its class where nothing holds it."""
    for live in _callers(frame):
        variables = stacks.local_variables(live)
        for name, value in variables.items():
            if value is module and name not in _OF_THE_OBJECT:
                return clean(name), module
        for name, value in variables.items():
            if is_a(value, nn.Module) and name not in _OF_THE_OBJECT and _is_part(module, value):
                return clean(name), value
        for name, value in variables.items():
            found = _held(module, value, name if name not in _OF_THE_OBJECT else "")
            if found:
                return found
    return type(module).__name__, module


def held(module: nn.Module | None, qualified: str) -> Tensor | None:
    """The parameter or buffer that a module has now under a qualified name; None for none."""
    *path, name = qualified.split(".")
    part: Any = module
    try:
        for key in path:
            part = part._modules[key]
        tensor: Tensor | None = part._parameters[name] if name in part._parameters else part._buffers[name]
    except (AttributeError, KeyError, RuntimeError, TypeError):
        return None
    return tensor


def find_tensor(tensor: Tensor, frame: FrameType | None) -> str:
    """The variable, element or attribute that holds a tensor, as the outermost code calls it; "" where none does."""
    address = address_of(tensor)
    for live in reversed(stacks.user_frames(frame)):
        for name, value in stacks.local_variables(live).items():
            found = _tensor_in(address, value, name)
            if found:
                return clean(found)
    return ""


def _unwrapped(qualified: str) -> Iterator[str]:
    return (part for part in qualified.split(".") if part and part not in WRAPPERS)


def _callers(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        if stacks.kind_of(frame) == stacks.USER:
            yield frame
        frame = frame.f_back


def _is_part(module: nn.Module, of: nn.Module) -> bool:
    return any(one is module for _, one in named_modules(of))


def _held(module: nn.Module, by: Any, name: str) -> tuple[str, nn.Module] | None:
    """The attribute or element of an object that is a module, or that it is a part of."""
    if is_a(by, nn.Module):
        parts = list(registered(by, "_modules"))
        name = ""
    else:
        parts = items(by)
        if not parts and not name:  # an object of whatever kind: only the caller's own is looked into
            parts = list(attributes(by).items())
    for key, value in parts:
        if type(key) not in (str, int):
            continue
        path = f"{name}.{key}" if name else str(key)
        if is_a(value, nn.Module) and _is_part(module, value):
            return clean(path), value
        if not name and type(value) in CONTAINERS and (found := _held(module, value, path)):
            return found
    return None


def _tensor_in(address: int, value: Any, name: str) -> str:
    if is_a(value, Tensor):
        return name if _lies_at(address, value) else ""
    parts = items(value)
    if not parts and name == "self":
        parts = list(attributes(value).items())
        if is_a(value, nn.Module):
            parts += [*registered(value, "_parameters"), *registered(value, "_buffers")]
    for key, one in parts:
        if is_a(one, Tensor) and type(key) in (str, int) and _lies_at(address, one):
            return f"{name}.{key}" if type(key) is int else key
    return ""


def _lies_at(address: int, tensor: Tensor) -> bool:
    try:
        return address_of(tensor) == address
    except Exception:  # tensors without a storage that can be asked for
        return False
