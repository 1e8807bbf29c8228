"""What can be told of one tensor: the tuning guide, and where its fault came from."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from stepscope.server.tensor_models import GuideView, OriginView
from stepscope.server.web.answers import answer
from stepscope.server.web.routes.tensors import TheKey
from stepscope.server.web.state import TheJob, TheServices

router = APIRouter(prefix="/api/jobs/{job}", tags=["tensors"])


@router.get("/guide", response_model=GuideView, operation_id="guide")
async def guide(of: TheServices, job: TheJob, key: TheKey) -> Response:
    """What the last check found on a tensor, and what its values, its inputs and its graph say of it."""
    return answer(await of.advice.guide(job, key))


@router.get("/origin", response_model=OriginView, operation_id="origin")
async def origin(
    of: TheServices,
    job: TheJob,
    key: TheKey,
    watchpoint: Annotated[
        int | None, Query(description="whose hit on the tensor is followed; else its NaN and infinities, or any hit")
    ] = None,
) -> Response:
    """Where the fault of a tensor began: the way back to the first tensor that was bad in the same way."""
    return answer(OriginView.model_validate(await of.advice.origin(job, key, watchpoint)))
