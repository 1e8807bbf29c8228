"""Requests to the web API over one kept connection; its problem details come out as the exceptions of stepscope."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

import httpx

from stepscope.core.errors import ConnectionFailed, Timeout, from_wire

Params = Mapping[str, str | int | float | None]

CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 90.0  # more than the server itself waits for a training process


class Http:
    """One per `Debugger`; may be used from several threads."""

    def __init__(self, url: str, token: str | None):
        headers = {"X-Stepscope": "1"} | ({"Authorization": f"Bearer {token}"} if token else {})
        timeout = httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS)
        # Proxies of the environment are for the outside world, not for a server that we were given the address of.
        self._client = httpx.Client(base_url=url, headers=headers, timeout=timeout, trust_env=False)
        self.url = url

    def get(self, path: str, /, **params: str | int | float | None) -> Any:
        """The JSON that is there; a parameter of None is left out."""
        with self._errors():
            return self._checked(self._client.get(path, params=_given(params))).json()

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        with self._errors():
            return self._checked(self._client.post(path, json=body)).json()

    def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        with self._errors():
            return self._checked(self._client.patch(path, json=body)).json()

    def delete(self, path: str) -> None:
        with self._errors():
            self._checked(self._client.delete(path))

    @contextmanager
    def stream(self, path: str, /, **params: str | int | float | None) -> Iterator[httpx.Response]:
        """An answer whose body is read while it comes in."""
        with self._errors(), self._client.stream("GET", path, params=_given(params)) as response:
            if response.is_error:
                response.read()
            yield self._checked(response)

    def close(self) -> None:
        self._client.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except httpx.TimeoutException:
            raise Timeout(f"{self.url} did not answer in time") from None
        except httpx.TransportError as error:
            raise ConnectionFailed(f"can't reach a stepscope server at {self.url}: {error}") from None

    def _checked(self, response: httpx.Response) -> httpx.Response:
        if response.is_success:
            return response
        try:
            problem = response.json()
            kind, detail, nearest = problem["kind"], problem["detail"], problem.get("nearest", ())
        except (ValueError, LookupError, TypeError):
            self._stranger(f"HTTP status {response.status_code}")
        if kind in ("unauthorized", "forbidden"):
            raise ConnectionFailed(f"{self.url} does not let us in: {detail}")
        raise from_wire(kind, detail, nearest, problem.get("field"), problem.get("code"))

    def _stranger(self, what: str) -> NoReturn:
        raise ConnectionFailed(f"what answers at {self.url} is no stepscope server: {what}")

    def check(self) -> None:
        """Raises ConnectionFailed unless a stepscope server answers that lets us in."""
        try:
            name = self.get("/api/server").get("name")
        except (json.JSONDecodeError, AttributeError):
            name = None
        if name != "stepscope":
            self._stranger("its answer has another name")


def _given(params: Params) -> dict[str, str | int | float]:
    return {name: value for name, value in params.items() if value is not None}
