"""Plain typed values as JSON and back: dataclasses, named tuples, enums, tuples, sets, mappings, numbers, texts.

Invariant: `decode(type(value), encode(value)) == value`, not-a-number figures included; sequences come back as tuples.
What to make of the JSON is read from the annotations of the types, so that a new plain type needs no code here. A field
that is missing takes its default, and one that is not known is passed over: the two ends may differ by an addition.

Arrays don't go into JSON: `store` is handed each and says what stands for it, `load` takes that and gives the array.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

from stepscope.core.errors import BadRequest

Array = np.ndarray[Any, Any]
Store = Callable[[Array], Any]
Load = Callable[[Any], Array]
_Decoder = Callable[[Any, Load], Any]


def encode(value: Any, store: Store | None = None) -> Any:
    """What `json.dumps` takes; TypeError for what is no plain value."""
    if value is None or isinstance(value, (bool, float, str)):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, Enum):
        return encode(value.value)
    if isinstance(value, np.ndarray) and store is not None:
        return store(value)
    if isinstance(value, np.generic):
        return value.item()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: encode(getattr(value, field.name), store) for field in fields(value)}
    if isinstance(value, Mapping):
        return {name: encode(one, store) for name, one in value.items()}
    if isinstance(value, Set):
        return sorted(encode(one, store) for one in value)
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [encode(one, store) for one in value]
    raise TypeError(f"a {type(value).__name__} is no plain value")


def decode(of: Any, data: Any, load: Load | None = None) -> Any:
    """A value of the type `of` out of JSON; BadRequest where the JSON is not that of one."""
    try:
        return _decoder(of)(data, load or _no_arrays)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        name = getattr(of, "__name__", str(of))
        raise BadRequest(f"what came is no {name}: {error}") from None


@cache
def _decoder(of: Any) -> _Decoder:
    origin, arguments = get_origin(of), get_args(of)
    if of in (bool, int, str):
        return lambda data, load: _checked(of, data)
    if of is float:
        return lambda data, load: _number(data)
    if of is Any:
        return lambda data, load: data
    if of is np.ndarray or origin is np.ndarray:
        return lambda data, load: load(data)
    if origin is Literal:
        return lambda data, load: _member(arguments, data)
    if origin in (Union, types.UnionType):
        return _optional(arguments)
    if origin is tuple and arguments[1:] != (...,):
        return _row(arguments)
    if origin in (tuple, Sequence, typing.Sequence):
        return _many(_decoder(arguments[0]), tuple)
    if origin is frozenset:
        return _many(_decoder(arguments[0]), frozenset)
    if origin is Mapping:
        one = _decoder(arguments[1])
        return lambda data, load: {_checked(str, name): one(value, load) for name, value in data.items()}
    if isinstance(of, type) and issubclass(of, Enum):
        return lambda data, load: of(data)
    if is_dataclass(of):
        return _of_dataclass(of)
    if isinstance(of, type) and issubclass(of, tuple):  # a named one
        make, row = of, _row(tuple(typing.get_type_hints(of).values()))
        return lambda data, load: make(*row(data, load))
    raise TypeError(f"values of the type {of} can't be read")


def _of_dataclass(of: Any) -> _Decoder:
    hints = typing.get_type_hints(of)
    decoders = {field.name: _decoder(hints[field.name]) for field in fields(of)}
    needed = {one.name for one in fields(of) if one.default is MISSING and one.default_factory is MISSING}

    def made(data: Any, load: Load) -> Any:
        if missing := sorted(needed - data.keys()):
            raise ValueError(f"without {missing[0]}")
        return of(**{name: decoders[name](value, load) for name, value in data.items() if name in decoders})

    return made


def _row(types_of: tuple[Any, ...]) -> _Decoder:
    decoders = [_decoder(of) for of in types_of]
    return lambda data, load: tuple(one(value, load) for one, value in zip(decoders, data, strict=True))


def _many(one: _Decoder, make: Callable[[Any], Any]) -> _Decoder:
    def made(data: Any, load: Load) -> Any:
        if not isinstance(data, list):
            raise ValueError(f"{data!r} is no list")
        return make(one(value, load) for value in data)

    return made


def _optional(arguments: tuple[Any, ...]) -> _Decoder:
    others = [one for one in arguments if one is not type(None)]
    if len(others) != 1:
        raise TypeError(f"which of {others} it is can't be told")
    inner = _decoder(others[0])
    return lambda data, load: None if data is None else inner(data, load)


def _checked(of: type, data: Any) -> Any:
    if type(data) is not of:
        raise ValueError(f"{data!r} is no {of.__name__}")
    return data


def _number(data: Any) -> float:
    if type(data) not in (int, float):
        raise ValueError(f"{data!r} is no number")
    return float(data)


def _member(allowed: tuple[Any, ...], data: Any) -> Any:
    if data not in allowed:
        raise ValueError(f"{data!r} is none of {', '.join(map(repr, allowed))}")
    return data


def _no_arrays(data: Any) -> Array:
    raise ValueError("an array where none is expected")
