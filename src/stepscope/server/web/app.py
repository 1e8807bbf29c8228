"""The web side as one ASGI app: routes, events, errors, the OpenAPI page, and the guard in front of it all."""

from __future__ import annotations

import json
from functools import lru_cache

from fastapi import FastAPI
from starlette.responses import Response
from starlette.types import ASGIApp

from stepscope.server.web.openapi import schema
from stepscope.server.web.page import add_page
from stepscope.server.web.problems import add_handlers
from stepscope.server.web.routes import ROUTERS
from stepscope.server.web.security import Security
from stepscope.server.web.state import Services


def build(services: Services, host: str, port: int, token: str | None) -> ASGIApp:
    """The app for a server that listens on `host` and `port`."""
    # The documentation pages that FastAPI has ready load their scripts from elsewhere: none of them.
    app = FastAPI(title="stepscope", version=services.server.version, openapi_url=None, docs_url=None, redoc_url=None)
    app.state.services = services
    add_handlers(app)
    for router in ROUTERS:
        app.include_router(router)

    @app.get("/api/openapi.json", include_in_schema=False)
    def openapi() -> Response:  # not async: it takes a while, FastAPI runs it in a thread
        return Response(described(), media_type="application/json")

    @lru_cache(maxsize=1)
    def described() -> str:
        return json.dumps(schema(services.server.version, app.routes))

    add_page(app)
    return Security(app, host, port, token)
