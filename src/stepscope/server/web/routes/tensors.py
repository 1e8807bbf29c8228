"""Tensors of a job: their bytes, their figures, and the order in which the nodes ran."""

from __future__ import annotations

import logging
import math
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Query
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from stepscope.core.errors import StepscopeError
from stepscope.core.ports import ExecutionOrder, Source, TensorKey, When
from stepscope.core.tensors import index_shape
from stepscope.protocol import convert
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.server.live import LiveSource
from stepscope.server.models import ComparisonView, Statistics, TensorHeader
from stepscope.server.settings import MAX_NAME
from stepscope.server.web.answers import answer
from stepscope.server.web.state import TheJob, TheServices

log = logging.getLogger(__name__)

router = APIRouter(prefix="/api/jobs/{job}", tags=["tensors"])


async def _key(
    of: TheServices,
    job: TheJob,
    node: Annotated[str, Query(max_length=MAX_NAME)],
    slot: Annotated[int, Query(ge=0, le=2**31 - 1, description="output of the node")] = 0,
    input: Annotated[
        int | None, Query(ge=0, le=2**31 - 1, description="input of the node, instead of an output")
    ] = None,
    when: Annotated[When, Query(description="this step's value, or that of the step before")] = "current",
    graph: Annotated[str, Query(max_length=MAX_NAME, description="needed where several graphs have the node")] = "",
) -> TensorKey:
    return await of.jobs.key(job, node, slot, input, when, graph)


TheKey = Annotated[TensorKey, Depends(_key)]

_BYTES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The values: little-endian, in C order, without anything around them",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        "headers": {
            "X-Stepscope-Tensor": {
                "description": "What the bytes are: JSON",
                "schema": {"$ref": f"#/components/schemas/{TensorHeader.__name__}"},
            }
        },
    }
}


@router.get("/tensor", response_class=Response, responses=_BYTES, operation_id="tensor")
async def tensor(
    job: TheJob,
    key: TheKey,
    index: Annotated[
        str | None, Query(max_length=1000, description='only this part, in Python\'s slice syntax: "0, :, 3:5"')
    ] = None,
) -> Response:
    """The values of a tensor, or of a part of it, as they come from the training process."""
    parts = _parts(job.live(), key, index)
    try:
        first = await anext(parts)
    except StopAsyncIteration:
        raise StepscopeError("the training process sent no part of the tensor") from None
    return _TensorResponse(first, parts, index)


@router.get("/stats", response_model=Statistics, operation_id="stats")
async def stats(job: TheJob, key: TheKey) -> Response:
    """Figures of a whole tensor, computed next to the training."""
    return answer(Statistics.model_validate(await job.live().stats(key)))


@router.get("/compare", response_model=ComparisonView, operation_id="compare")
async def compare(job: TheJob, key: TheKey) -> Response:
    """Figures of a tensor, of its value in the step before, and of their difference."""
    return answer(ComparisonView.model_validate(await job.live().compare(key)))


@router.get("/execution", response_model=ExecutionOrder, operation_id="execution")
async def execution(
    job: TheJob,
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
) -> Response:
    """The nodes of the last recorded step in the order in which they ran."""
    return answer(await job.live().execution(offset, limit))


async def _parts(source: Source, key: TensorKey, index: str | None) -> AsyncGenerator[pb.TensorPart, None]:
    if isinstance(source, LiveSource):
        async with aclosing(source.tensor_parts(key, index)) as parts:
            async for part in parts:
                yield part
    else:
        for part in convert.tensor_to_proto(await source.tensor(key, index)):
            yield part


class _TensorResponse(Response):
    """Sends the parts as they come; nothing is kept. A tensor that breaks off ends the connection."""

    def __init__(self, first: pb.TensorPart, rest: AsyncGenerator[pb.TensorPart, None], index: str | None):
        dtype = _storage_dtype(first.storage_dtype)
        if min(first.shape, default=0) < 0:
            raise StepscopeError(f"the training process sent a tensor of shape {tuple(first.shape)}")
        shape = index_shape(index, tuple(first.shape))
        self._first, self._rest = first, rest
        self._size = math.prod(shape) * dtype.itemsize
        header = TensorHeader(
            dtype=first.dtype,
            storage_dtype=dtype.name,
            shape=list(shape),
            full_shape=list(first.shape),
            step=first.step,
        )
        headers = {"X-Stepscope-Tensor": header.model_dump_json(), "Content-Length": str(self._size)}
        super().__init__(None, headers=headers, media_type="application/octet-stream")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        sent = len(self._first.content)
        await send({"type": "http.response.body", "body": self._first.content, "more_body": True})
        try:
            async with aclosing(self._rest) as rest:
                async for part in rest:
                    sent += len(part.content)
                    if sent > self._size:
                        break
                    await send({"type": "http.response.body", "body": part.content, "more_body": True})
        except StepscopeError as error:
            log.warning("a tensor broke off: %s", error)
            return
        if sent == self._size:
            await send({"type": "http.response.body", "body": b""})
        else:
            log.warning("a tensor of %d bytes came with %d", self._size, sent)


def _storage_dtype(name: str) -> np.dtype[Any]:
    try:
        dtype = np.dtype(name)
    except TypeError:
        dtype = np.dtype("O")
    if dtype.kind not in "biufc":
        raise StepscopeError(f"the training process sent a tensor of {name!r}")
    return dtype
