"""Where in the user's code something runs: frames, the text that `core.graph.source` reads, and local variables."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Iterator
from functools import cache, lru_cache
from types import CodeType, FrameType
from typing import Any

import torch

import stepscope

Place = tuple[CodeType, int]  # the code of a frame, and the instruction in it
Places = tuple[Place, ...]  # innermost first

Call = tuple[int, CodeType]  # of a function, which is not kept

DEEPEST = 60  # frames that are looked at
USER, TORCH, OURS = 1, 2, 3

_TORCH = os.path.dirname(torch.__file__) + os.sep
_DATA = os.path.join(_TORCH, "utils", "data") + os.sep
_OURS = os.path.dirname(stepscope.__file__) + os.sep
_DEMO = os.path.join(_OURS, "demo") + os.sep  # plays a user's script
_FUNCTION_LOCALS = 1  # the flag CO_OPTIMIZED of a code object


@cache
def _kind(file: str) -> int:
    if file.startswith(_TORCH):
        return TORCH
    if (file.startswith(_OURS) and not file.startswith(_DEMO)) or file.startswith("<frozen "):
        return OURS
    return OURS if os.path.basename(file) == "runpy.py" else USER


_kinds: dict[str, int] = {}  # as `_kind`, without a call


def kind_of(frame: FrameType) -> int:
    """USER (their packages too), TORCH, or OURS: this package and the start-up of the interpreter."""
    file = frame.f_code.co_filename
    kind = _kinds.get(file)
    if kind is None:
        kind = _kinds[file] = _kind(file)
    return kind


def is_data_loading(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_DATA)


def places(frame: FrameType | None, until: CodeType | None = None) -> Places:
    """The user's frames from `frame` outwards, up to one of the code `until`."""
    found = []
    depth = 0
    known = _kinds
    while frame is not None and depth < DEEPEST:
        code = frame.f_code
        if code is until:
            break
        kind = known.get(code.co_filename)
        if kind is None:
            kind = kind_of(frame)
        if kind == USER:
            found.append((code, frame.f_lasti))
        frame = frame.f_back
        depth += 1
    return tuple(found)


def nearest(frame: FrameType | None, code: CodeType) -> FrameType | None:
    """The frame, or the innermost of those that led to it, that runs this code."""
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame


def call_of(frame: FrameType | None) -> Call | None:
    return None if frame is None else (id(frame), frame.f_code)


def is_within(call: Call | None, frame: FrameType | None) -> bool:
    """Whether a call still runs, and has led to a frame. True of a call that is not known."""
    if call is None:
        return True
    number, code = call
    while frame is not None:
        if id(frame) == number and frame.f_code is code:
            return True
        frame = frame.f_back
    return False


def user_frames(frame: FrameType | None) -> list[FrameType]:
    """The user's live frames, innermost first. Not to be kept: a frame holds its variables."""
    found: list[FrameType] = []
    while frame is not None and len(found) < DEEPEST:
        if kind_of(frame) == USER:
            found.append(frame)
        frame = frame.f_back
    return found


def local_variables(frame: FrameType) -> dict[str, Any]:
    """The variables of a live frame, leaving nothing behind.

    Up to Python 3.12 a function's frame keeps what it was asked for, and with it all values, until it ends or is asked
    again: tensors would live on. So that copy is emptied, unless the user's code has it too (`locals()`).
    """
    live = frame.f_locals
    found = dict(live)
    is_copy = frame.f_code.co_flags & _FUNCTION_LOCALS and isinstance(live, dict)
    if is_copy and sys.getrefcount(live) <= 3:  # the frame's, ours, and that of the question
        live.clear()
    return found


@lru_cache(maxsize=16384)
def text(stack: Places) -> str:
    """The stack as `core.graph.source` reads it."""
    return "\n".join(line for place in stack for line in _lines(place))


@lru_cache(maxsize=16384)
def _lines(place: Place) -> tuple[str, ...]:
    code, instruction = place
    file, line = code.co_filename, _line_of(code, instruction)
    frame = f"# In file {file}:{line}, 0~0/{linecache.getline(file, line).strip()}/"
    if not code.co_name.isidentifier():  # <module>, <lambda>
        return (frame,)
    first, last = code.co_firstlineno, max(max(_lines_of(code), default=line), line)
    # A function that spans one line spans two here, so that it is told from a frame.
    return frame, f"# In file {file}:{first}~{max(last, first + 1)}, 0~0/def {code.co_name}(/"


def _lines_of(code: CodeType) -> Iterator[int]:
    return (line for _, _, line in code.co_lines() if line is not None)


def _line_of(code: CodeType, instruction: int) -> int:
    for start, end, line in code.co_lines():
        if start <= instruction < end and line is not None:
            return line
    return code.co_firstlineno
