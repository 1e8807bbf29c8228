"""Writes web/openapi.json, from which the page's types are made: `make types`."""

from __future__ import annotations

import json
from pathlib import Path

from fastapi import FastAPI

import stepscope
from stepscope.server.web.openapi import schema
from stepscope.server.web.routes import ROUTERS

TARGET = Path(__file__).parent.parent / "web" / "openapi.json"

app = FastAPI()
for router in ROUTERS:
    app.include_router(router)
TARGET.write_text(json.dumps(schema(stepscope.__version__, app.routes), indent=1, sort_keys=True) + "\n")
