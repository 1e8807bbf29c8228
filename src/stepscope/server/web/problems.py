"""Errors as RFC 9457 problem details: one clear line, a kind that the Python client turns back into its exception."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

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
    status: int, kind: str, detail: str, headers: Mapping[str, str] | None = None, nearest: tuple[str, ...] = ()
) -> Response:
    body = Problem(
        type=f"/problems/{kind}",
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        kind=kind,
        nearest=list(nearest),
    )
    return Response(body.model_dump_json(), status, headers, "application/problem+json")


def add_handlers(app: FastAPI) -> None:
    @app.exception_handler(StepscopeError)
    async def expected(request: Request, error: StepscopeError) -> Response:
        nearest = error.nearest if isinstance(error, UnknownNode) else ()
        detail = str(error.args[0]) if error.args else error.kind
        return problem(STATUS.get(error.kind, 500), error.kind, detail, nearest=nearest)

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> Response:
        found = "; ".join(f"{'.'.join(map(str, each['loc'][1:])) or 'body'}: {each['msg']}" for each in error.errors())
        return problem(400, "bad_request", found)

    @app.exception_handler(HTTPException)
    async def of_http(request: Request, error: HTTPException) -> Response:
        kind = {404: "not_found", 413: "too_large"}.get(error.status_code, "bad_request")
        return problem(error.status_code, kind, str(error.detail), error.headers)

    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> Response:  # uvicorn logs it
        return problem(500, "internal", f"a fault of the server ({type(error).__name__}): its log says more")
