"""web/openapi.json, from which the page's types are made, is what the server describes."""

from __future__ import annotations

import json
from pathlib import Path

from fastapi import FastAPI

import stepscope
from stepscope.server.web.openapi import schema
from stepscope.server.web.routes import ROUTERS

FILE = Path(__file__).parents[3] / "web" / "openapi.json"


def test_the_page_knows_the_api_as_it_is():
    app = FastAPI()
    for router in ROUTERS:
        app.include_router(router)
    assert json.loads(FILE.read_text()) == schema(stepscope.__version__, app.routes), "make types"
