"""The web page: the files of `static/`, as the build of `web/` leaves them; without them, a line about the API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.staticfiles import StaticFiles

STATIC = Path(__file__).parent.parent / "static"

PLACEHOLDER = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>stepscope</title>
<p>The web API of stepscope is up; it is described by <a href="/api/openapi.json">/api/openapi.json</a>.
The page itself is not built here: see CONTRIBUTING.md.
"""


class _Assets(StaticFiles):
    """Files whose names have a hash of their content: a browser may keep them."""

    def file_response(self, *args: Any, **options: Any) -> Response:
        answer = super().file_response(*args, **options)
        answer.headers["Cache-Control"] = "private, max-age=31536000, immutable"
        return answer


def add_page(app: FastAPI, static: Path = STATIC) -> None:
    index = static / "index.html"

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return FileResponse(index, media_type="text/html") if index.is_file() else HTMLResponse(PLACEHOLDER)

    if index.is_file():
        app.mount("/assets", _Assets(directory=static / "assets"))

        @app.get("/icon.svg", include_in_schema=False)
        async def icon() -> Response:
            return FileResponse(static / "icon.svg")
