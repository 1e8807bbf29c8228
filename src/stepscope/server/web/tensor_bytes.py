"""Tensors as they go out: part by part as they come from the training process; nothing is kept."""

from __future__ import annotations

import io
import logging
import math
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

import numpy as np
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from stepscope.core.errors import StepscopeError
from stepscope.core.ports import Source, TensorKey
from stepscope.core.tensors import index_shape
from stepscope.protocol import convert
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.server.live import LiveSource
from stepscope.server.models import TensorHeader

log = logging.getLogger(__name__)


async def sent_raw(source: Source, key: TensorKey, index: str | None) -> Response:
    """The values alone, with a header that says what they are."""
    outgoing = await _Outgoing.of(source, key, index)
    header = TensorHeader(
        dtype=outgoing.first.dtype,
        storage_dtype=outgoing.dtype.name,
        shape=list(outgoing.shape),
        full_shape=list(outgoing.first.shape),
        step=outgoing.first.step,
    )
    return _TensorResponse(outgoing, b"", {"X-Stepscope-Tensor": header.model_dump_json()})


async def sent_as_file(source: Source, key: TensorKey, index: str | None) -> Response:
    """A file in numpy's format (version 1.0) to save."""
    outgoing = await _Outgoing.of(source, key, index)
    head = io.BytesIO()
    descr = np.lib.format.dtype_to_descr(outgoing.dtype.newbyteorder("<"))
    np.lib.format.write_array_header_1_0(head, {"descr": descr, "fortran_order": False, "shape": outgoing.shape})
    name = _file_name(key, outgoing.first.step)
    return _TensorResponse(outgoing, head.getvalue(), {"Content-Disposition": f'attachment; filename="{name}"'})


class _Outgoing:
    """A tensor of which the first part has come, as the training process describes it; it is not trusted."""

    def __init__(self, first: pb.TensorPart, rest: AsyncGenerator[pb.TensorPart, None], index: str | None):
        self.first, self.rest = first, rest
        self.dtype = _storage_dtype(first.storage_dtype)
        if min(first.shape, default=0) < 0:
            raise StepscopeError(f"the training process sent a tensor of shape {tuple(first.shape)}")
        self.shape = index_shape(index, tuple(first.shape))
        self.size = math.prod(self.shape) * self.dtype.itemsize

    @classmethod
    async def of(cls, source: Source, key: TensorKey, index: str | None) -> _Outgoing:
        parts = _parts(source, key, index)
        try:
            return cls(await anext(parts), parts, index)
        except StopAsyncIteration:
            raise StepscopeError("the training process sent no part of the tensor") from None


class _TensorResponse(Response):
    """Sends `head` and the parts as they come. A tensor that breaks off ends the connection."""

    def __init__(self, outgoing: _Outgoing, head: bytes, headers: Mapping[str, str]):
        self._outgoing, self._head = outgoing, head
        length = {"Content-Length": str(len(head) + outgoing.size)}
        super().__init__(None, headers={**headers, **length}, media_type="application/octet-stream")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        first, size = self._outgoing.first, self._outgoing.size
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        sent = len(first.content)
        await send({"type": "http.response.body", "body": self._head + first.content, "more_body": True})
        try:
            async with aclosing(self._outgoing.rest) as rest:
                async for part in rest:
                    sent += len(part.content)
                    if sent > size:
                        break
                    await send({"type": "http.response.body", "body": part.content, "more_body": True})
        except StepscopeError as error:
            log.warning("a tensor broke off: %s", error)
            return
        if sent == size:
            await send({"type": "http.response.body", "body": b""})
        else:
            log.warning("a tensor of %d bytes came with %d", size, sent)


async def _parts(source: Source, key: TensorKey, index: str | None) -> AsyncGenerator[pb.TensorPart, None]:
    if isinstance(source, LiveSource):
        async with aclosing(source.tensor_parts(key, index)) as parts:
            async for part in parts:
                yield part
    else:
        for part in convert.tensor_to_proto(await source.tensor(key, index)):
            yield part


def _storage_dtype(name: str) -> np.dtype[Any]:
    try:
        dtype = np.dtype(name)
    except TypeError:
        dtype = np.dtype("O")
    if dtype.kind not in "biufc":
        raise StepscopeError(f"the training process sent a tensor of {name!r}")
    return dtype


def _file_name(key: TensorKey, step: int) -> str:
    """ "MatMul-op0_output0_step3.npy", of plain characters."""
    place = f"output{key.slot}" if key.input is None else f"input{key.input}"
    name = re.sub(r"[^A-Za-z0-9._-]", "_", key.node.rpartition("/")[2])[:100]
    return f"{name}_{place}_step{step}.npy"
