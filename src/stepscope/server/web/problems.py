"""Errors as RFC 9457 problem details: one clear line, a kind that the Python client turns back into its exception."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from stepscope.core.errors import BY_KIND, StepscopeError, UnknownNode
from stepscope.server.models import Problem

STATUS = {
    "not_available": 404,
    "bad_request": 400,
    "conflict": 409,
    "unknown_job": 404,
    "unknown_node": 404,
    "timeout": 504,
    "connection_failed": 502,
    "internal": 500,
}
assert STATUS.keys() >= BY_KIND.keys()


def problem(
    status: int,
    kind: str,
    detail: str,
    headers: Mapping[str, str] | None = None,
    nearest: tuple[str, ...] = (),
    field: str | None = None,
    code: str | None = None,
) -> Response:
    body = Problem(
        type=f"/problems/{kind}",
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        kind=kind,
        nearest=list(nearest),
        field=field,
        code=code,
    )
    return Response(body.model_dump_json(), status, headers, "application/problem+json")


def add_handlers(app: FastAPI) -> None:
    @app.exception_handler(StepscopeError)
    async def expected(request: Request, error: StepscopeError) -> Response:
        nearest = error.nearest if isinstance(error, UnknownNode) else ()
        detail = str(error.args[0]) if error.args else error.kind
        place = error.field or None, error.code or None
        return problem(STATUS.get(error.kind, 500), error.kind, detail, None, nearest, *place)

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> Response:
        found = "; ".join(f"{'.'.join(map(str, each['loc'][1:])) or 'body'}: {each['msg']}" for each in error.errors())
        return problem(400, "bad_request", found, field=_field(error.errors()), code="malformed")

    @app.exception_handler(HTTPException)
    async def of_http(request: Request, error: HTTPException) -> Response:
        kind = {404: "not_found", 413: "too_large"}.get(error.status_code, "bad_request")
        return problem(error.status_code, kind, str(error.detail), error.headers)

    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> Response:  # uvicorn logs it
        return problem(500, "internal", f"a fault of the server ({type(error).__name__}): its log says more")


def _field(errors: Sequence[Mapping[str, Any]]) -> str | None:
    """Of the first error: the name in the body or in the query; inside of `parameters`, that of the parameter."""
    place = errors[0]["loc"][1:] if errors else ()
    if place[:1] == ("parameters",) and len(place) > 1:
        place = place[1:]
    return str(place[0]) if place else None
