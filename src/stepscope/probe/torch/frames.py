"""The Python stack of a training that stands still, with the user's local variables, as far as they can be shown
without running code of the user's: no `repr`, no property, no iteration over anything but plain containers."""

from __future__ import annotations

import enum
import linecache
import sys
import threading
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from stepscope.core.errors import NotAvailable
from stepscope.core.graph import source
from stepscope.core.ports import Local, StackFrame
from stepscope.probe.torch import arrays, stacks
from stepscope.probe.torch.storages import shape_of
from stepscope.probe.torch.users import class_name, is_a

MOST_FRAMES = 100
MOST_LOCALS = 200
MOST_TEXT = 120
_MOST_PARTS = 6
_DEEPEST = 2
_UNSHOWN = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type)


def frames(thread: int) -> tuple[StackFrame, ...]:
    """The frames of a thread, innermost first, without those of this package and of the interpreter's start."""
    frame = sys._getframe() if thread == threading.get_ident() else sys._current_frames().get(thread)
    found: list[StackFrame] = []
    while frame is not None and len(found) < MOST_FRAMES:
        if stacks.kind_of(frame) != stacks.OURS:
            found.append(_shown(frame))
        frame = frame.f_back
    return tuple(found)


def _shown(frame: types.FrameType) -> StackFrame:
    file, line = frame.f_code.co_filename, frame.f_lineno
    user = stacks.kind_of(frame) == stacks.USER and source.is_user_file(file)
    return StackFrame(
        file,
        line,
        frame.f_code.co_name,
        linecache.getline(file, line).strip(),
        user,
        tuple(_locals(frame)) if user else (),
    )


def _locals(frame: types.FrameType) -> Iterator[Local]:
    variables = stacks.local_variables(frame)
    shown = 0
    for name, value in variables.items():
        if name.startswith("__") or is_a(value, _UNSHOWN):
            continue
        if shown == MOST_LOCALS:
            return
        shown += 1
        yield local(str(name), value)


def local(name: str, value: Any) -> Local:
    """How a variable is shown; whatever goes wrong with its value costs the value, not the others."""
    try:
        return Local(name, class_name(value), _shape(value), _text(value, _DEEPEST)[:MOST_TEXT])
    except Exception:
        return Local(name, class_name(value))


def _shape(value: Any) -> tuple[int, ...] | None:
    shape = None
    if is_a(value, np.ndarray):
        shape = np.ndarray.shape.__get__(value)
    elif is_a(value, torch.Tensor):
        shape = shape_of(value)
    return None if shape is None else tuple(shape)


def _text(value: Any, depth: int) -> str:
    """Short, and of plain types only: "" for all others."""
    if value is None or value is Ellipsis or type(value) is bool:
        return str(value)
    if is_a(value, enum.Enum):
        return f"{class_name(value)}.{object.__getattribute__(value, '_name_')}"
    for plain in (int, float, complex):
        if is_a(value, plain):
            return plain.__repr__(value)
    if is_a(value, str):
        return str.__repr__(str.__getitem__(value, slice(MOST_TEXT)))
    if is_a(value, bytes):
        return bytes.__repr__(bytes.__getitem__(value, slice(MOST_TEXT)))
    if is_a(value, (torch.Tensor, np.ndarray)):
        return _numbers(value)
    if type(value) in (torch.dtype, torch.device, torch.Size):
        return str(value)
    if type(value) in (list, tuple, set, frozenset, dict):
        return _container(value, depth)
    return ""


def _container(value: Any, depth: int) -> str:
    length = len(value)
    if depth == 0:
        return f"{length} items"
    parts: list[str] = []
    for part in value.items() if type(value) is dict else value:
        if len(parts) == _MOST_PARTS:
            parts.append("…")
            break
        if type(value) is dict:
            parts.append(f"{_part(part[0], depth)}: {_part(part[1], depth)}")
        else:
            parts.append(_part(part, depth))
    opening, closing = "[]" if type(value) is list else "()" if type(value) is tuple else "{}"
    return f"{opening}{', '.join(parts)}{closing}"


def _part(value: Any, depth: int) -> str:
    shape = _shape(value)
    if shape is not None:
        return f"{class_name(value)}{shape}"
    return _text(value, depth - 1) or class_name(value)


def _numbers(value: Any) -> str:
    """The type of a tensor, and its first values."""
    if is_a(value, np.ndarray):
        array = np.ndarray.view(value, np.ndarray)
        name = array.dtype.name
    else:
        name = arrays.dtype_name(value.dtype)
        if value.numel() > _MOST_PARTS or value.device.type not in ("cpu", "cuda"):
            return f"{name} on {value.device}" if value.device.type != "cpu" else name
        try:
            array, name = arrays.as_array(value)
        except NotAvailable:
            return name
    if array.size > _MOST_PARTS or array.dtype.kind not in "biufc":
        return name
    text: str = np.array2string(array, precision=6, threshold=_MOST_PARTS, separator=", ")
    return f"{name} {text}".replace("\n", "")
