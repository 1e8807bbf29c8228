"""Real PyTorch trainings under a real server: scripts as users write them, each in a process of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from trainings import COMPILE, Script

import stepscope
from stepscope.client.job import Job
from stepscope.testing.server import ServerThread

SCRIPTS = Path(__file__).parent / "scripts"
SOURCES = Path(stepscope.__file__).parents[1]

Train = Callable[..., Script]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerThread]:
    with ServerThread(tmp_path / "workspace") as running:
        yield running


@pytest.fixture
def start_up(tmp_path: Path) -> Path:
    """A folder that gives a Python the start-up hook, where the package is not installed with it."""
    folder = tmp_path / "start_up"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text("import stepscope.probe.bootstrap\n")
    return folder


@pytest.fixture
def train(tmp_path: Path, start_up: Path, request: pytest.FixtureRequest) -> Iterator[Train]:
    """Starts a script: under the debugger of `server`, unless `debug=False` or another address is given."""
    scripts: list[Script] = []

    def start(script: str | Path, *arguments: str, debug: bool = True, **variables: str) -> Script:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("STEPSCOPE_")}
        environment["PYTHONPATH"] = os.pathsep.join([str(start_up), str(SOURCES)])
        environment["OMP_NUM_THREADS"] = "1"
        if debug:
            environment["STEPSCOPE_ENABLE"] = "1"
            if "STEPSCOPE_PORT" not in variables:
                host, _, port = request.getfixturevalue("server").debugger_address.rpartition(":")
                environment.update(STEPSCOPE_HOST=host, STEPSCOPE_PORT=port)
        environment.update(variables)
        command = [sys.executable, str(SCRIPTS / script)]
        scripts.append(Script([*command, *arguments], environment, tmp_path / f"run{len(scripts)}"))
        return scripts[-1]

    yield start
    for script in scripts:
        if script.process.poll() is None:
            script.process.kill()
        script.wait()


@pytest.fixture
def job(server: ServerThread) -> Callable[[], Job]:
    """Waits for a job and its first pause."""

    def first_pause() -> Job:
        found = stepscope.connect(server.url).wait_for_job(timeout=COMPILE)
        assert found.wait(timeout=COMPILE) == "paused"
        return found

    return first_pause
