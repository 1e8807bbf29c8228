"""What the routes work with, found in the app's state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Path, Request

from stepscope.server.advice.service import Advice
from stepscope.server.events import EventBus
from stepscope.server.job import Job
from stepscope.server.jobs import Jobs
from stepscope.server.models import ServerInfo
from stepscope.server.watch.service import Watching


@dataclass(frozen=True)
class Services:
    jobs: Jobs
    events: EventBus
    server: ServerInfo
    watching: Watching
    advice: Advice


async def services(request: Request) -> Services:
    found: Services = request.app.state.services
    return found


TheServices = Annotated[Services, Depends(services)]


async def _job(of: TheServices, job: Annotated[str, Path(max_length=128)]) -> Job:
    return of.jobs.get(job)


TheJob = Annotated[Job, Depends(_job)]
