"""What stands in front of every request: who may ask, how much, and from which page.

Plain ASGI, so that it adds microseconds. In this order: the Host and the Origin (against DNS rebinding and foreign
pages), the token, the header that a foreign page can't send (against forged changes), the size. Every answer, also an
error, gets the headers that keep a browser from doing more with it than it was meant for.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import socket
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stepscope.server.settings import MAX_BODY, MAX_TICKS_BODY, is_loopback
from stepscope.server.web.admission import admission_page, wants_page
from stepscope.server.web.problems import problem

HEADERS = {
    # The page's components put <style> elements into the document; scripts come as files only, and evaluate nothing.
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


_MANY_NAMES = re.compile(r"/api/jobs/[^/]+/watchpoints(/.*)?")


class Security:
    """Wraps the whole app. `host` is what the server listens on, `port` names the cookie."""

    def __init__(self, app: ASGIApp, host: str, port: int, token: str | None):
        self._app = app
        self._loopback = is_loopback(host)
        self._names = {"localhost", host.lower()}
        self._machine = "" if self._loopback else _first_label(socket.gethostname().lower())
        self._token = token
        self._cookie = f"stepscope-{port}"  # cookies are for a host, whatever its port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    if not (refusal is not None and name in headers):  # the page without a token has its own
                        headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send_guarded)
            return
        await self._app(scope, _limited(receive, _most(scope)), send_guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        """The answer to a request that may not pass."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._serves(host):
            return problem(403, "forbidden", f"this server is not {host or 'without a name'}")
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return problem(403, "forbidden", f"pages of {origin} may not ask here")
        if self._token is not None and not self._admits(headers):
            return self._admission(scope)
        if scope["type"] == "http" and scope["method"] not in ("GET", "HEAD", "OPTIONS"):
            return _unmeant(headers, _most(scope))
        return None

    def _serves(self, host: str) -> bool:
        name = _hostname(host)
        if name in self._names or (self._machine and _first_label(name) == self._machine):
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or not self._loopback  # a bare address can't be rebound to another machine

    def _admits(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._is_token(given.strip()):
            return True
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return False
        return cookie is not None and self._is_token(cookie.value)

    def _is_token(self, text: str) -> bool:
        assert self._token is not None
        return hmac.compare_digest(text.encode(), self._token.encode())

    def _admission(self, scope: Scope) -> Response:
        """A page opened with the right ?token= gets a cookie, and its address loses the token; all else is refused."""
        query = parse_qsl(scope.get("query_string", b"").decode("latin-1"))
        given = [value for name, value in query if name == "token"]
        is_page = scope["type"] == "http" and scope["method"] == "GET" and not scope["path"].startswith("/api")
        if is_page and any(map(self._is_token, given)):
            rest = urlencode([pair for pair in query if pair[0] != "token"])
            path = "/" + scope["path"].lstrip("/")  # never "//elsewhere"
            answer = RedirectResponse(path + ("?" + rest if rest else ""), 303)
            answer.set_cookie(self._cookie, self._token or "", httponly=True, samesite="strict", path="/")
            return answer
        headers = Headers(scope=scope)
        if is_page and wants_page(headers):
            return admission_page(headers, is_wrong=bool(given))
        return problem(
            401,
            "unauthorized",
            "a token is needed: open the address that the server printed when it started",
            {"WWW-Authenticate": "Bearer"},
        )


def _most(scope: Scope) -> int:
    """Bytes that a body may have."""
    return MAX_TICKS_BODY if _MANY_NAMES.fullmatch(scope["path"]) else MAX_BODY


def _too_large(most: int) -> str:
    return f"the body is larger than {most >> 20} MiB"


def _unmeant(headers: Headers, most: int) -> Response | None:
    """A change that a page of someone else could have sent, or one that is too large."""
    if headers.get("x-stepscope") != "1":
        return problem(403, "forbidden", "a change needs the header X-Stepscope: 1")
    has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    if has_body and headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return problem(415, "bad_request", "a body has to be of type application/json")
    if headers.get("content-length", "0").isdigit() and int(headers.get("content-length", "0")) > most:
        return problem(413, "too_large", _too_large(most))
    return None


def _limited(receive: Receive, most: int) -> Receive:
    """Holds bodies without a length to the limit, too."""
    size = 0

    async def receive_limited() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body") or b"")
        if message["type"] == "http.request" and size > most:
            raise HTTPException(413, _too_large(most))
        return message

    return receive_limited


def _first_label(name: str) -> str:
    return name.partition(".")[0]


def _hostname(host: str) -> str:
    """ "[::1]:8080" → "::1"; "Name:80" → "name"."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].rstrip(".")
