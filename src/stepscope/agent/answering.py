"""A query of the server, answered by whatever knows the tensors of a training."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Protocol, TypeVar

from stepscope.core.errors import BadRequest
from stepscope.core.looks import Question
from stepscope.core.ports import Comparison, ExecutionOrder, NodeAttributes, StackFrame, Tensor, TensorKey, TensorStats
from stepscope.protocol import convert, looks
from stepscope.protocol.gen import stepscope_pb2 as pb

A = TypeVar("A")


class Values(Protocol):
    """The queries of a `Source`."""

    async def tensor(self, key: TensorKey, index: str | None) -> Tensor: ...

    async def stats(self, key: TensorKey) -> TensorStats: ...

    async def compare(self, key: TensorKey) -> Comparison: ...

    async def look(self, key: TensorKey, question: Question[A]) -> A: ...

    async def execution(self, offset: int, limit: int) -> ExecutionOrder: ...

    async def frames(self) -> tuple[StackFrame, ...]: ...

    async def attributes(self, graph: str, node: str) -> NodeAttributes: ...


async def answers(query: pb.Query, values: Values) -> AsyncIterator[pb.Answer]:
    """The messages that answer it, without the query's number; a StepscopeError says why there are none."""
    what: Any = query.WhichOneof("what")
    if what == "tensor":
        key = convert.key_from_proto(query.tensor.key)
        tensor = await values.tensor(key, query.tensor.index if query.tensor.HasField("index") else None)
        for part in convert.tensor_to_proto(tensor):
            yield pb.Answer(tensor=part)
    elif what == "statistics":
        stats = await values.stats(convert.key_from_proto(query.statistics))
        yield pb.Answer(statistics=convert.stats_to_proto(stats))
    elif what == "comparison":
        comparison = await values.compare(convert.key_from_proto(query.comparison))
        yield pb.Answer(comparison=convert.comparison_to_proto(comparison))
    elif what == "look":
        key, question = looks.query_from_proto(query.look)
        yield pb.Answer(look=looks.answer_to_proto(await values.look(key, question)))
    elif what == "execution":
        order = await values.execution(query.execution.offset, query.execution.limit)
        yield pb.Answer(execution=convert.execution_to_proto(order))
    elif what == "frames":
        yield pb.Answer(frames=convert.frames_to_proto(await values.frames()))
    elif what == "attributes":
        told = await values.attributes(query.attributes.graph_name, query.attributes.node_name)
        yield pb.Answer(attributes=convert.attributes_to_proto(told))
    else:
        raise BadRequest("this version of stepscope does not know that query")
