"""Jobs: their state, the commands to them, their history."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from stepscope.core.ports import State
from stepscope.server.models import CommandRequest, FrameList, JobList, JobView, StackFrameView, StepList
from stepscope.server.web.answers import answer
from stepscope.server.web.state import TheJob, TheServices

MAX_WAIT = 30.0

router = APIRouter(prefix="/api/jobs", tags=["jobs"])


@router.get("", response_model=JobList, operation_id="jobs")
async def jobs(of: TheServices) -> Response:
    """All jobs, in order of arrival, also those of earlier days."""
    return answer(JobList(jobs=[job.view for job in of.jobs.all()]))


@router.get("/{job}", response_model=JobView, operation_id="job")
async def job(
    job: TheJob,
    wait: Annotated[float, Query(ge=0, le=MAX_WAIT, description="seconds to wait at most")] = 0,
    state: Annotated[State | None, Query(description="wait as long as the job is in this state")] = None,
) -> Response:
    """One job; with `wait` and `state` as soon as it is in another state (the long poll of programs)."""
    if wait and state is not None:
        await job.wait_while(state, wait)
    return answer(job.view)


@router.post("/{job}/commands", response_model=JobView, operation_id="command")
async def command(of: TheServices, job: TheJob, request: CommandRequest) -> Response:
    """Tell the training what to do; answers at once, with the state that follows.

    run, resume, next_node, previous_node and run_to need a job that is paused, and leave it running until the training
    process reports that it did what it was told. pause asks a running job to stop at the next step, and does nothing
    to one that is paused. terminate is possible until the job has ended.
    """
    await of.jobs.command(job, request)
    return answer(job.view)


@router.get("/{job}/frames", response_model=FrameList, operation_id="frames")
async def frames(job: TheJob) -> Response:
    """The Python stack of a training that is paused within a step, with the local variables of the user's frames."""
    found = await job.live().frames()
    return answer(FrameList(frames=[StackFrameView.model_validate(frame) for frame in found]))


@router.delete("/{job}", status_code=204, operation_id="remove_job")
async def remove(of: TheServices, job: TheJob) -> Response:
    """Forget a job that has ended, with its graphs and its history."""
    await of.jobs.remove(job)
    return Response(status_code=204)


@router.get("/{job}/steps", response_model=StepList, operation_id="steps")
async def steps(
    of: TheServices,
    job: TheJob,
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=0, le=10_000)] = 1000,
) -> Response:
    """The step history, oldest first: steps that were reported, at most 4 a second."""
    total, records = await of.jobs.store.steps(job.view.id, offset, limit)
    return answer(StepList(total=total, steps=records))
