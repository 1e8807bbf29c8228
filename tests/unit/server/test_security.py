"""The guard in front of the web API, without a network."""

from __future__ import annotations

import socket

import httpx
import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from stepscope.server.settings import MAX_BODY, MAX_TICKS_BODY
from stepscope.server.web.problems import add_handlers
from stepscope.server.web.security import HEADERS, Security

CHANGE = {"X-Stepscope": "1", "Content-Type": "application/json"}


app = FastAPI()
add_handlers(app)


@app.api_route("/{path:path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
async def inside(request: Request):
    return PlainTextResponse(f"in {len(await request.body())}")


def client(host: str = "127.0.0.1", token: str | None = None, base_url: str = "http://127.0.0.1:8080"):
    guarded = Security(app, host, 8080, token)
    return httpx.AsyncClient(transport=httpx.ASGITransport(guarded), base_url=base_url)


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:9000", "[::1]:8080", "127.8.8.8", "localhost."]
)
async def test_names_of_this_machine_are_served(host):
    async with client() as http:
        assert (await http.get("/api/jobs", headers={"Host": host})).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8080", "10.0.0.7:8080", "127.0.0.1.evil.example", "", "["]
)
async def test_other_names_are_not(host):
    async with client() as http:
        answer = await http.get("/api/jobs", headers={"Host": host})
    assert answer.status_code == 403
    assert answer.json()["kind"] == "forbidden"


async def test_on_the_network_addresses_are_served_and_foreign_names_are_not():
    async with client("0.0.0.0", "secret") as http:
        http.headers["Authorization"] = "Bearer secret"
        assert (await http.get("/", headers={"Host": "10.0.0.7:8080"})).status_code == 200
        assert (await http.get("/", headers={"Host": "evil.example"})).status_code == 403
        machine = socket.gethostname()
        for name in (machine, f"{machine}:8080", f"{machine.partition('.')[0]}.corp.example"):
            assert (await http.get("/", headers={"Host": name})).status_code == 200


@pytest.mark.parametrize("origin", ["http://127.0.0.1:8080", "https://127.0.0.1:8080"])
async def test_our_own_page_may_ask(origin):
    async with client() as http:
        assert (await http.get("/api/jobs", headers={"Origin": origin})).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1:9999", "http://localhost:8080", "null", "", "file://"]
)
async def test_other_pages_may_not(origin):
    async with client() as http:
        answer = await http.post("/api/x", headers={"Origin": origin, **CHANGE}, content=b"{}")
    assert answer.status_code == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_a_change_needs_what_a_foreign_form_can_not_send(method):
    async with client() as http:
        assert (await http.request(method, "/api/x")).status_code == 403
        assert (await http.request(method, "/api/x", headers={"X-Stepscope": "1"})).status_code == 200
        for content_type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
            headers = {"X-Stepscope": "1", "Content-Type": content_type}
            assert (await http.request(method, "/api/x", headers=headers, content=b"{}")).status_code == 415
        headers = {"X-Stepscope": "1", "Content-Type": "application/json; charset=utf-8"}
        assert (await http.request(method, "/api/x", headers=headers, content=b"{}")).status_code == 200


async def test_bodies_have_a_limit_with_and_without_a_length():
    async def chunks():
        for _ in range(MAX_BODY // 1000 + 2):
            yield b"x" * 1000

    async with client() as http:
        assert (await http.post("/api/x", headers=CHANGE, content=b"x" * MAX_BODY)).text == f"in {MAX_BODY}"
        for content in (b"x" * (MAX_BODY + 1), chunks()):
            answer = await http.post("/api/x", headers=CHANGE, content=content)
            assert (answer.status_code, answer.json()["kind"]) == (413, "too_large")


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("/api/jobs/a/watchpoints", MAX_TICKS_BODY),
        ("/api/jobs/a/watchpoints/1/ticks", MAX_TICKS_BODY),
        ("/api/jobs/a/watchpoints2", MAX_BODY),
        ("/api/jobs/a/b/watchpoints", MAX_BODY),
        ("/x/api/jobs/a/watchpoints", MAX_BODY),
    ],
)
async def test_names_of_many_nodes_may_take_more(path, most):
    async with client() as http:
        assert (await http.post(path, headers=CHANGE, content=b"x" * most)).text == f"in {most}"
        answer = await http.post(path, headers=CHANGE, content=b"x" * (most + 1))
    assert (answer.status_code, answer.json()["detail"]) == (413, f"the body is larger than {most >> 20} MiB")


async def test_every_answer_has_the_headers():
    async with client(token="secret") as http:
        refused = await http.get("/api/jobs")
        admitted = await http.get("/api/jobs", headers={"Authorization": "Bearer secret"})
        stranger = await http.get("/api/jobs", headers={"Host": "evil.example"})
    assert [answer.status_code for answer in (refused, admitted, stranger)] == [401, 200, 403]
    for answer in (refused, admitted, stranger):
        assert HEADERS.items() <= {name: answer.headers.get(name) for name in HEADERS}.items()
        assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Basic secret"},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer gehe\u00efm".encode()},
        {"Cookie": "stepscope-8080=wrong"},
        {"Cookie": "stepscope-9090=secret"},
        {"Cookie": "\x01;;=;"},
    ],
)
async def test_without_the_token_nothing_is_told(headers):
    async with client(token="secret") as http:
        for path in ("/api/jobs", "/api/jobs?token=secret", "/", "/?token=wrong"):
            answer = await http.get(path, headers=headers)
            assert (answer.status_code, answer.json()["kind"]) == (401, "unauthorized")


async def test_the_page_turns_the_token_into_a_cookie():
    async with client(token="secret") as http:
        answer = await http.get("/?token=secret&job=a%20b")
        assert (answer.status_code, answer.headers["location"]) == (303, "/?job=a+b")
        cookie = answer.headers["set-cookie"]
        for part in ("stepscope-8080=secret", "HttpOnly", "SameSite=strict", "Path=/"):
            assert part in cookie
        assert (await http.get("/api/jobs")).status_code == 200  # the client kept the cookie
        assert (await http.post("/api/x")).status_code == 403  # which is not enough for a change


async def test_the_redirect_stays_here():
    async with client(token="secret") as http:
        answer = await http.get("http://127.0.0.1:8080//evil.example/?token=secret")
    assert answer.headers["location"] == "/evil.example/"


BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@pytest.mark.parametrize(
    ("languages", "tag", "words"),
    [
        ("", "en", "A token is needed"),
        ("de, en-GB;q=0.7", "en", "A token is needed"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh-CN", "需要令牌"),
    ],
)
async def test_a_browser_without_the_token_is_told_what_to_do(languages, tag, words):
    async with client(token="secret") as http:
        answer = await http.get("/", headers={**BROWSER, "Accept-Language": languages})
    assert answer.status_code == 401
    assert answer.headers["content-type"].startswith("text/html")
    assert f'<html lang="{tag}">' in answer.text
    assert words in answer.text
    assert 'role="alert"' not in answer.text
    assert "secret" not in answer.text


async def test_a_wrong_token_is_called_so_and_not_repeated():
    async with client(token="secret") as http:
        answer = await http.get("/?token=<b>guess</b>", headers=BROWSER)
    assert answer.status_code == 401
    assert "That is not the token" in answer.text
    assert "guess" not in answer.text


async def test_the_page_without_a_token_can_do_nothing_but_send_it():
    async with client(token="secret") as http:
        answer = await http.get("/", headers=BROWSER)
    policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
    assert policy == {
        "default-src": "'none'",
        "style-src": "'unsafe-inline'",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
    others = {name: value for name, value in HEADERS.items() if name != "Content-Security-Policy"}
    assert others.items() <= {name: answer.headers.get(name) for name in others}.items()
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(("method", "path"), [("GET", "/api/jobs"), ("POST", "/"), ("GET", "/api/jobs?token=secret")])
async def test_the_api_keeps_its_problem_details_for_browsers(method, path):
    async with client(token="secret") as http:
        answer = await http.request(method, path, headers=BROWSER)
    assert (answer.status_code, answer.json()["kind"]) == (401, "unauthorized")
    assert answer.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]


async def test_no_answer_of_the_app_has_headers_of_its_own_in_their_place():
    loose = FastAPI()

    @loose.get("/")
    async def page():
        return PlainTextResponse("in", headers={"Content-Security-Policy": "default-src *", "X-Frame-Options": "ALLOW"})

    transport = httpx.ASGITransport(Security(loose, "127.0.0.1", 8080, None))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080") as http:
        answer = await http.get("/")
    assert HEADERS.items() <= {name: answer.headers.get(name) for name in HEADERS}.items()
