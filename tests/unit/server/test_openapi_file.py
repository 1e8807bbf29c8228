"""web/openapi.json, from which the page's types are made, is what the server describes."""

from __future__ import annotations

import json
from pathlib import Path

from fastapi import FastAPI

import stepscope
from stepscope.server.web import events
from stepscope.server.web.openapi import schema
from stepscope.server.web.routes import advice, graphs, hits, jobs, looks, server, tensors, watchpoints

FILE = Path(__file__).parents[3] / "web" / "openapi.json"


def test_the_page_knows_the_api_as_it_is():
    app = FastAPI()
    for part in (server, jobs, graphs, tensors, looks, advice, watchpoints, hits, events):
        app.include_router(part.router)
    assert json.loads(FILE.read_text()) == schema(stepscope.__version__, app.routes), "make types"
