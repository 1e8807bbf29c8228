"""Watchpoints: the conditions that there are, and what a job watches. They stay as they are when the job has ended."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from stepscope.server.watch.conditions import conditions as all_conditions
from stepscope.server.watch.models import (
    ConditionList,
    CreateRequest,
    RecommendedRequest,
    StatesRequest,
    StatesView,
    TickRequest,
    UpdateRequest,
    WatchpointList,
    WatchpointView,
)
from stepscope.server.web.answers import answer
from stepscope.server.web.state import TheJob, TheServices

router = APIRouter(tags=["watchpoints"])

_ALL = "/api/jobs/{job}/watchpoints"
_ONE = "/api/jobs/{job}/watchpoints/{watchpoint}"

Id = Annotated[int, Path(ge=1, le=2**31 - 1)]


@router.get("/api/conditions", response_model=ConditionList, operation_id="conditions")
async def conditions() -> Response:
    """All conditions with their parameters, in both languages."""
    return answer(all_conditions())


@router.get(_ALL, response_model=WatchpointList, operation_id="watchpoints")
async def watchpoints(of: TheServices, job: TheJob) -> Response:
    """What a job watches, in the order of creation."""
    return answer(await of.watching.list(job))


@router.post(_ALL, response_model=WatchpointView, status_code=201, operation_id="create_watchpoint")
async def create(of: TheServices, job: TheJob, request: CreateRequest) -> Response:
    """Watch something more; what is wrong is named by `field` and `code` of the problem."""
    return answer(await of.watching.create(job, request), 201)


@router.delete(_ALL, status_code=204, operation_id="clear_watchpoints")
async def clear(of: TheServices, job: TheJob) -> Response:
    """Delete all of them."""
    await of.watching.clear(job)
    return Response(status_code=204)


@router.post(f"{_ALL}/recommended", response_model=WatchpointList, operation_id="recommended_watchpoints")
async def recommended(of: TheServices, job: TheJob, request: RecommendedRequest) -> Response:
    """Accept the recommended watchpoints (those that are not there yet are added), or decline them."""
    return answer(await of.watching.recommended(job, request.use))


@router.post(f"{_ALL}/earlier", response_model=WatchpointList, operation_id="earlier_watchpoints")
async def earlier(of: TheServices, job: TheJob) -> Response:
    """Take over the watchpoints of the last run of the same script."""
    return answer(await of.watching.earlier(job))


@router.patch(_ONE, response_model=WatchpointView, operation_id="update_watchpoint")
async def update(of: TheServices, job: TheJob, watchpoint: Id, request: UpdateRequest) -> Response:
    """Change what is given, and leave the rest."""
    return answer(await of.watching.update(job, watchpoint, request))


@router.delete(_ONE, status_code=204, operation_id="delete_watchpoint")
async def delete(of: TheServices, job: TheJob, watchpoint: Id) -> Response:
    """Delete one; its number is not used again."""
    await of.watching.delete(job, watchpoint)
    return Response(status_code=204)


@router.post(f"{_ONE}/duplicate", response_model=WatchpointView, status_code=201, operation_id="duplicate_watchpoint")
async def duplicate(of: TheServices, job: TheJob, watchpoint: Id) -> Response:
    """A second one with the same condition, parameters and nodes."""
    return answer(await of.watching.duplicate(job, watchpoint), 201)


@router.post(f"{_ONE}/ticks", response_model=WatchpointView, operation_id="tick")
async def ticks(of: TheServices, job: TheJob, watchpoint: Id, request: TickRequest) -> Response:
    """Watch nodes and scopes, or no longer watch them. A name that is not there changes nothing at all."""
    return answer(await of.watching.tick(job, watchpoint, request))


@router.post(f"{_ONE}/states", response_model=StatesView, operation_id="states")
async def states(of: TheServices, job: TheJob, watchpoint: Id, request: StatesRequest) -> Response:
    """How far scopes and nodes are watched, in the order in which they were asked for."""
    return answer(await of.watching.states(job, watchpoint, request))
