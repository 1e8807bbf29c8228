"""Writes web/openapi.json, from which the page's types are made: `make types`."""

from __future__ import annotations

import json
from pathlib import Path

from fastapi import FastAPI

import stepscope
from stepscope.server.web import events
from stepscope.server.web.openapi import schema
from stepscope.server.web.routes import advice, graphs, hits, jobs, looks, server, tensors, watchpoints

TARGET = Path(__file__).parent.parent / "web" / "openapi.json"

app = FastAPI()
for part in (server, jobs, graphs, tensors, looks, advice, watchpoints, hits, events):
    app.include_router(part.router)
TARGET.write_text(json.dumps(schema(stepscope.__version__, app.routes), indent=1, sort_keys=True) + "\n")
