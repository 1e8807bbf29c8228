"""The files of the page, and what stands in for them where they are not built."""

from __future__ import annotations

import httpx
import pytest
from fastapi import FastAPI

from stepscope.server.web.page import add_page


def browser(static) -> httpx.AsyncClient:
    app = FastAPI()
    add_page(app, static)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test")


@pytest.fixture
def built(tmp_path):
    static = tmp_path / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_text("<!doctype html><p>page")
    (static / "icon.svg").write_text("<svg/>")
    (static / "assets" / "index-12345678.js").write_text("1")
    (tmp_path / "secret").write_text("secret")
    return static


async def test_the_page_is_asked_for_each_time_and_its_files_once(built):
    web = browser(built)
    page = await web.get("/")
    assert page.text == "<!doctype html><p>page"
    assert "immutable" not in page.headers.get("cache-control", "")
    script = await web.get("/assets/index-12345678.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert script.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert (await web.get("/icon.svg")).headers["content-type"].startswith("image/svg")


@pytest.mark.parametrize("path", ["../secret", "%2e%2e/secret", "..%2f..%2fsecret", "/etc/passwd", "nothing.js", ""])
async def test_nothing_else_is_served(built, path):
    assert (await browser(built).get(f"/assets/{path}")).status_code == 404


async def test_without_a_page_there_is_a_line_about_the_api(tmp_path):
    answer = await browser(tmp_path / "static").get("/")
    assert "/api/openapi.json" in answer.text
