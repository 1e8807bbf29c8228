"""How routes answer: JSON straight from a model or a dataclass of the core, in a thread where it is long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

import numpy as np
from pydantic import TypeAdapter
from starlette.responses import Response

from stepscope.server.models import as_json

T = TypeVar("T")

MAX_VALUES = 1000  # of an array among the attributes of a node


def answer(value: Any, status: int = 200) -> Response:
    return Response(_adapter(type(value)).dump_json(value), status, media_type="application/json")


async def computed(work: Callable[[], Any]) -> Response:
    """The answer with what `work` returns; both are made in a thread."""
    return await asyncio.to_thread(lambda: answer(work()))


@cache
def _adapter(of: Any) -> TypeAdapter[Any]:
    return TypeAdapter(of)


def plain(value: Any) -> Any:
    """Any attribute of a node as JSON has it; an array becomes an object with its first values in one row."""
    if isinstance(value, np.ndarray):
        return {
            "dtype": str(value.dtype),
            "shape": list(value.shape),
            "values": plain(value.reshape(-1)[:MAX_VALUES].tolist()),
        }
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return as_json(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [plain(each) for each in value]
    return str(value)
