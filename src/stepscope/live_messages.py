"""The messages between the probe of a training that can be paused within a step and its agent: both ends' coding.

A message is what `pipe` carries, its kind under "is" and the fields that the functions here make and read:

    probe → agent    hello, report, graph {name, path: of a `graph_file`}, hits, answer, bye {step, error},
                     released {reason}
    agent → probe    connected {server}, unreachable | refused | gone {reason}, command, watch, query

    pipe.send("report", **fields(report))                   read(Report, message)
    pipe.send("hits", **fields(batch))                      read(HitBatch, message)
    pipe.send("command", **fields(command))                 read(Command, message)
    pipe.send("watch", **fields(watchpoints))               read(WatchpointSet, message)
    pipe.send("query", **query_fields(7, "stats", key=key))
    pipe.send("answer", **answer_fields(message, values, arrays))    answer_of(message, "stats", arrays) -> TensorStats

Arrays travel as files in the folder of step data, which the agent removes as it reads them.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar, get_args

import numpy as np

from stepscope.core import looks
from stepscope.core.coding import decode, encode
from stepscope.core.errors import BadRequest, StepscopeError, UnknownNode, from_wire
from stepscope.core.ports import (
    Command,
    Comparison,
    ExecutionOrder,
    NodeAttributes,
    Report,
    StackFrame,
    Tensor,
    TensorKey,
    TensorStats,
)
from stepscope.core.watch.records import HitBatch, WatchpointSet

Message = dict[str, Any]
Array = np.ndarray[Any, Any]
Asked = Literal["tensor", "stats", "compare", "look", "execution", "frames", "attributes"]
A = TypeVar("A")

_ARGUMENTS: dict[Asked, dict[str, Any]] = {
    "tensor": {"key": TensorKey, "index": str | None},
    "stats": {"key": TensorKey},
    "compare": {"key": TensorKey},
    "look": {"key": TensorKey, "question": looks.Question},
    "execution": {"offset": int, "limit": int},
    "frames": {},
    "attributes": {"graph": str, "node": str},
}
_ANSWERS: dict[Asked, Any] = {
    "tensor": Tensor,
    "stats": TensorStats,
    "compare": Comparison,
    "execution": ExecutionOrder,
    "frames": tuple[StackFrame, ...],
    "attributes": NodeAttributes,
}
_QUESTIONS: dict[str, Any] = {question.__name__: question for question in looks.Question.__subclasses__()}
_MAPPED = 1 << 20  # bytes from which an array is mapped, not read


class Values(Protocol):
    """What a probe answers queries with, each method as that of `Source`; StepscopeErrors go back to who asked."""

    def tensor(self, key: TensorKey, index: str | None) -> Tensor: ...

    def stats(self, key: TensorKey) -> TensorStats: ...

    def compare(self, key: TensorKey) -> Comparison: ...

    def look(self, key: TensorKey, question: looks.Question[A]) -> A: ...

    def execution(self, offset: int, limit: int) -> ExecutionOrder: ...

    def frames(self) -> tuple[StackFrame, ...]: ...

    def attributes(self, graph: str, node: str) -> NodeAttributes: ...


class ArrayFiles:
    """Arrays as files in a folder. `store` writes one and names it; `take` gives it, and the file is gone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = itertools.count(1)

    def store(self, array: Array) -> str:
        """OSError where there is no space for it; an array of objects is a ValueError."""
        name = f"array-{next(self._numbers)}.npy"
        np.save(self._folder / name, array, allow_pickle=False)
        return name

    def take(self, name: str) -> Array:
        path = self._folder / Path(name).name
        try:
            large = path.stat().st_size > _MAPPED
            array: Array = np.load(path, mmap_mode="r" if large else None, allow_pickle=False)
            path.unlink()
        except OSError as error:
            raise BadRequest(f"the array {name!r} can't be read: {error}") from None
        return array


def fields(told: Report | HitBatch | Command | WatchpointSet) -> Message:
    message: Message = encode(told)
    return message


def read(of: type[A], message: Message) -> A:
    """What `fields` made of one of these; BadRequest for a message that is none."""
    told: A = decode(of, message)
    return told


def query_fields(number: int, what: Asked, **arguments: Any) -> Message:
    """`arguments` are those of the method `what` of `Values`."""
    coded = {name: _question_fields(one) if name == "question" else encode(one) for name, one in arguments.items()}
    return {"id": number, "what": what, **coded}


def answer_fields(message: Message, values: Values, arrays: ArrayFiles) -> Message:
    """The answer to a query, or why there is none; it never raises: what goes wrong is told to who asked."""
    number = message.get("id", 0)
    try:
        what = message.get("what")
        if what not in _ARGUMENTS:
            raise BadRequest(f"this version of stepscope knows no question {what!r}")
        arguments = {name: _argument(of, message.get(name)) for name, of in _ARGUMENTS[what].items()}
        answer = getattr(values, what)(**arguments)
        if what == "tensor":  # a single element may have come out of its array
            answer = replace(answer, array=np.asarray(answer.array))
        return {"id": number, "answer": encode(answer, arrays.store)}
    except StepscopeError as error:
        return refusal_fields(number, error)
    except Exception as error:
        return refusal_fields(number, StepscopeError(f"{type(error).__name__}: {error}"))


def refusal_fields(number: int, error: StepscopeError) -> Message:
    """Of an answer that says why there is none."""
    text = str(error.args[0]) if error.args else str(error)
    nearest = list(error.nearest) if isinstance(error, UnknownNode) else []
    failure = {"kind": error.kind, "message": text, "nearest": nearest, "field": error.field, "code": error.code}
    return {"id": number, "failure": failure}


def answer_of(message: Message, what: Asked, arrays: ArrayFiles, question: looks.Question[Any] | None = None) -> Any:
    """What `Values` said to the question `what` (and, of "look", to `question`); its error is raised here."""
    if failure := message.get("failure"):
        raise from_wire(**failure)
    of = _answer_to(type(question)) if question is not None else _ANSWERS[what]
    return decode(of, message["answer"], arrays.take)


def _argument(of: Any, data: Any) -> Any:
    if of is not looks.Question:
        return decode(of, data)
    if not isinstance(data, dict) or data.get("name") not in _QUESTIONS:
        raise BadRequest("this version of stepscope does not know that question about a tensor")
    return decode(_QUESTIONS[data["name"]], data["fields"])


def _question_fields(question: looks.Question[Any]) -> Message:
    return {"name": type(question).__name__, "fields": encode(question)}


def _answer_to(question: type[looks.Question[Any]]) -> Any:
    """The type of the answers to a kind of question: what its base is a `Question` of."""
    (base,) = question.__orig_bases__  # type: ignore[attr-defined]
    return get_args(base)[0]
