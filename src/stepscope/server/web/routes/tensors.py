"""Tensors of a job: their bytes, their figures, and the order in which the nodes ran."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from stepscope.core.ports import ExecutionOrder, TensorKey, When
from stepscope.server.models import ComparisonView, Statistics, TensorHeader
from stepscope.server.settings import MAX_NAME
from stepscope.server.web.answers import answer
from stepscope.server.web.state import TheJob, TheServices
from stepscope.server.web.tensor_bytes import sent_as_file, sent_raw

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
TheIndex = Annotated[
    str | None, Query(max_length=1000, description='only this part, in Python\'s slice syntax: "0, :, 3:5"')
]

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
_FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The values as a file in numpy's format, to save",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.get("/tensor", response_class=Response, responses=_BYTES, operation_id="tensor")
async def tensor(job: TheJob, key: TheKey, index: TheIndex = None) -> Response:
    """The values of a tensor, or of a part of it, as they come from the training process."""
    return await sent_raw(job.live(), key, index)


@router.get("/tensor.npy", response_class=Response, responses=_FILE, operation_id="tensor_file")
async def tensor_file(job: TheJob, key: TheKey, index: TheIndex = None) -> Response:
    """A tensor, or a part of it, to download."""
    return await sent_as_file(job.live(), key, index)


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
