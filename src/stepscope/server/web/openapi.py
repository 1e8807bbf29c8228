"""The OpenAPI page of the web API, complete: also the events, the errors, and what is binary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter
from starlette.routing import BaseRoute

from stepscope.server.models import Event, Problem, TensorHeader
from stepscope.server.tensor_models import HeatmapHeader

_REF = "#/components/schemas/{model}"

_MODELS: tuple[tuple[str, Any], ...] = (
    ("Event", Event),
    ("Problem", Problem),
    ("TensorHeader", TensorHeader),
    ("HeatmapHeader", HeatmapHeader),
)

_ERROR = {
    "description": "An error, as problem details (RFC 9457)",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}

_MEANT = {
    "name": "X-Stepscope",
    "in": "header",
    "required": True,
    "description": "What a page of someone else can't send",
    "schema": {"const": "1", "type": "string"},
}

_EVENTS = {
    "tags": ["events"],
    "operationId": "events",
    "summary": "Events",
    "description": (
        "A WebSocket. Each message is one Event, whose `seq` is higher than all before it, also after a restart of the "
        "server. With `since` the events after that number follow; where that is not possible (it is too long ago), "
        'and without `since`, the first is a "server" event: fetch everything anew, then follow.'
    ),
    "parameters": [
        {
            "name": "since",
            "in": "query",
            "required": False,
            "schema": {"type": "integer"},
            "description": "`seq` of the last event seen",
        }
    ],
    "responses": {
        "101": {
            "description": "The messages",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Event"}}},
        },
        "default": _ERROR,
    },
}


def schema(version: str, routes: Sequence[BaseRoute]) -> dict[str, Any]:
    """The whole description, as JSON-able data."""
    whole = get_openapi(
        title="stepscope",
        version=version,
        routes=routes,
        description='Debugs the training of neural networks. Numbers that JSON does not have are "nan", "inf", "-inf".',
    )
    components = whole.setdefault("components", {}).setdefault("schemas", {})
    for name, type_ in _MODELS:
        model = TypeAdapter(type_).json_schema(mode="serialization", ref_template=_REF)
        components.update(model.pop("$defs", {}))
        components[name] = model
    for name in ("HTTPValidationError", "ValidationError"):  # FastAPI's own; ours are problems
        components.pop(name, None)
    for path in whole["paths"].values():
        for method, operation in path.items():
            operation["responses"].pop("422", None)
            operation["responses"]["default"] = _ERROR
            if method != "get":
                operation.setdefault("parameters", []).append(_MEANT)
    whole["paths"]["/api/events"] = {"get": _EVENTS}
    whole["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    whole["security"] = [{}, {"token": []}]
    return whole
