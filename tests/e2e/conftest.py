"""The page in a real headless Chromium, on a real server; a request that would leave this machine fails the test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from browsing import CHROMIUM_ARGUMENTS, PATIENCE

from stepscope.server.web.page import STATIC
from stepscope.testing.agent import FakeAgent
from stepscope.testing.server import ServerThread

HARMLESS = "Failed to load resource"  # an answer such as 404, which the page handles


def chromium() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return os.environ.get("STEPSCOPE_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


# A module at a time: while Playwright runs, tests with an event loop of their own can't.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = chromium()
    if path is None:
        pytest.skip("no Chromium: install it, or name it in STEPSCOPE_CHROMIUM")
    assert (STATIC / "index.html").is_file(), f"the page is not built in {STATIC}"
    sync_api = pytest.importorskip("playwright.sync_api", reason="the page is tested where playwright is installed")
    sync_api.expect.set_options(timeout=PATIENCE)
    with sync_api.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerThread]:
    with ServerThread(tmp_path / "workspace") as running:
        yield running


@pytest.fixture
def agent(server: ServerThread) -> Iterator[FakeAgent]:
    with FakeAgent(server.debugger_address) as attached:
        yield attached


@pytest.fixture
def job(agent: FakeAgent, server: ServerThread) -> Iterator[Any]:
    """The agent's job, as the Python client sees it."""
    import stepscope

    with stepscope.connect(server.url) as connected:
        yield connected.wait_for_job(60)


@pytest.fixture
def new_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Makes pages: `new_page(language="zh", scheme="light", size=(1366, 768))`. Their faults fail the test."""
    contexts: list[Any] = []
    faults: list[str] = []

    def make(language: str = "en", scheme: str = "light", size: tuple[int, int] = (1366, 768)) -> Any:
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            locale="zh-CN" if language == "zh" else "en-GB",
            color_scheme=scheme,
            reduced_motion="reduce",
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        context.route("**/*", guard)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(f"error of the page: {error}"))
        page.on("console", lambda message: note(message.type, message.text))
        page.on("websocket", lambda socket: None if is_here(socket.url) else faults.append(f"left for {socket.url}"))
        return page

    def guard(route: Any) -> None:
        if is_here(route.request.url):
            route.continue_()
        else:
            faults.append(f"left for {route.request.url}")
            route.abort()

    def note(kind: str, text: str) -> None:
        if kind in ("error", "warning") and HARMLESS not in text and "WebSocket" not in text:
            faults.append(f"console: {text}")

    yield make
    for context in contexts:
        context.close()
    assert faults == []


def is_here(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in ("blob", "data") or parts.hostname in ("127.0.0.1", "localhost", "::1")
