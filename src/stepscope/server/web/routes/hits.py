"""What the watchpoints of a job have found."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from stepscope.server.settings import MAX_NAME
from stepscope.server.watch.hits import Wanted
from stepscope.server.watch.models import HitList
from stepscope.server.web.answers import computed
from stepscope.server.web.state import TheJob, TheServices

router = APIRouter(prefix="/api/jobs/{job}", tags=["watchpoints"])

Name = Annotated[str | None, Query(max_length=MAX_NAME)]


@router.get("/hits", response_model=HitList, operation_id="hits")
async def hits(
    of: TheServices,
    job: TheJob,
    watchpoint: Annotated[int | None, Query(description="its number")] = None,
    graph: Name = None,
    node: Annotated[str | None, Query(max_length=MAX_NAME, description="a full name")] = None,
    pattern: Annotated[str | None, Query(max_length=MAX_NAME, description="part of a node's name, or a glob")] = None,
    rank: int | None = None,
    kind: Annotated[Literal["hit", "error"] | None, Query(description="error: what could not be evaluated")] = None,
    step: Annotated[int | None, Query(ge=0, description="an earlier one, see `steps`")] = None,
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=0, le=10_000)] = 500,
) -> Response:
    """The hits of the last check, or of the last one at an earlier step."""
    checked, steps = await of.jobs.checked(job, step)
    wanted = Wanted(watchpoint, graph, node, pattern, rank, kind)
    view, state = job.view, job.watch.state
    return await computed(lambda: checked.view(wanted, view, state, steps, offset, limit))
