"""What the commands that take pictures of the page share: a server, a browser, and a training under the debugger."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import sync_playwright

import stepscope
from stepscope.core.ports import Farewell
from stepscope.demo import script
from stepscope.server.errors import StartError
from stepscope.testing.agent import FakeAgent
from stepscope.testing.server import ServerThread

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "e2e"))
from browsing import CHROMIUM_ARGUMENTS

SETTLE = 900  # milliseconds for the layout and for what moves
COMPILE = 180  # seconds
USUAL_PORTS = {"port": 8080, "debugger_port": 50051}


class Stage(NamedTuple):
    server: ServerThread
    debugger: stepscope.Debugger
    browser: Any


@contextmanager
def stage() -> Iterator[Stage]:
    """A server in a workspace of its own, a client of it, and a browser."""
    with (
        tempfile.TemporaryDirectory() as folder,
        _server(Path(folder) / ".stepscope") as server,
        stepscope.connect(server.url) as debugger,
        sync_playwright() as playwright,
    ):
        path = os.environ.get("STEPSCOPE_CHROMIUM", "/usr/bin/chromium")
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)
        yield Stage(server, debugger, browser)
        browser.close()


def _server(workspace: Path) -> ServerThread:
    """On the usual ports, which the page shows, where they are free."""
    try:
        return ServerThread(workspace, **USUAL_PORTS)
    except StartError:
        return ServerThread(workspace)


def new_context(browser: Any, language: str, scheme: str) -> Any:
    locale = "zh-CN" if language == "zh" else "en-GB"
    context = browser.new_context(locale=locale, color_scheme=scheme, reduced_motion="reduce")
    context.set_default_timeout(30_000)
    return context


@contextmanager
def training(server: ServerThread, bug: str = "nan", epochs: int = 2000) -> Iterator[Callable[[], None]]:
    """A training under the debugger; yields how to kill it. It is the demo's where MindSpore is installed, elsewhere
    the fake one of the tests."""
    if find_spec("mindspore") is None:
        with FakeAgent(server.debugger_address) as agent:
            agent.source.step_seconds = 0.05
            yield lambda: agent.finish(Farewell("lost", "the process was killed", exit_status=-9))
        return
    host, _, port = server.debugger_address.rpartition(":")
    environment = {**os.environ, "ENABLE_MS_DEBUGGER": "1", "MS_DEBUGGER_HOST": host, "MS_DEBUGGER_PORT": port}
    with _plain_copy() as path:
        command = [sys.executable, str(path), "--bug", bug, "--epochs", str(epochs)]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        try:
            yield process.kill
        finally:
            process.kill()
            process.wait()


@contextmanager
def _plain_copy() -> Iterator[Path]:
    """The demo's script where its path, which pictures show, says nothing of this machine."""
    path = script("mindspore")
    assert path is not None
    folder = Path(tempfile.gettempdir()) / "stepscope-demo"
    folder.mkdir(exist_ok=True)
    try:
        for each in (path, path.with_name("digits.npz")):
            shutil.copy(each, folder)
        yield folder / path.name
    finally:
        shutil.rmtree(folder)


def reach(debugger: stepscope.Debugger, state: str, known: set[str]) -> Any:
    """The job that is not among the known ones, once it is in that state."""
    deadline = time.monotonic() + COMPILE
    while time.monotonic() < deadline:
        for job in debugger.jobs():
            if job.id not in known and job.state == state:
                return job
        time.sleep(0.1)
    raise SystemExit("the training did not come")
