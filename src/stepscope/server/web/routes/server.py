"""The server itself."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from stepscope.server.models import ServerInfo
from stepscope.server.web.answers import answer
from stepscope.server.web.state import TheServices

router = APIRouter(prefix="/api/server", tags=["server"])


@router.get("", response_model=ServerInfo, operation_id="server")
async def server(of: TheServices) -> Response:
    """What answers here, and where training processes connect to."""
    return answer(of.server)
