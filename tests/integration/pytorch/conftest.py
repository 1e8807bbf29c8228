"""Real PyTorch trainings under a real server: scripts as users write them, each in a process of its own."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from command_line import CommandLine
from trainings import Script, first_pause, scripts_in, without_ours

import stepscope
from stepscope.client.job import Job
from stepscope.testing.server import ServerThread

SCRIPTS = Path(__file__).parent / "scripts"
SOURCES = Path(stepscope.__file__).parents[1]

Train = Callable[..., Script]


@pytest.fixture
def start_up(tmp_path: Path) -> Path:
    """A folder that gives a Python the start-up hook, where the package is not installed with it."""
    folder = tmp_path / "start_up"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text("import stepscope.probe.bootstrap\n")
    return folder


@pytest.fixture
def train(tmp_path: Path, start_up: Path, request: pytest.FixtureRequest) -> Iterator[Train]:
    """Starts a script: under the debugger of `server`, unless `debug=False` or another address is given. `launcher`
    is what stands before it."""

    def start(
        script: str | Path, *arguments: str, debug: bool = True, launcher: Sequence[str] = (), **variables: str
    ) -> Script:
        environment = without_ours()
        environment["PYTHONPATH"] = os.pathsep.join([str(start_up), str(SOURCES)])
        environment["OMP_NUM_THREADS"] = "1"
        if debug:
            environment["STEPSCOPE_ENABLE"] = "1"
            if "STEPSCOPE_PORT" not in variables:
                host, _, port = request.getfixturevalue("server").debugger_address.rpartition(":")
                environment.update(STEPSCOPE_HOST=host, STEPSCOPE_PORT=port)
        environment.update(variables)
        command = [sys.executable, *launcher, str(SCRIPTS / script)]
        return run([*command, *arguments], environment)

    with scripts_in(tmp_path) as run:
        yield start


@pytest.fixture
def job(server: ServerThread) -> Callable[[], Job]:
    """Waits for a job and its first pause."""
    return functools.partial(first_pause, server)


@pytest.fixture
def cli(tmp_path: Path, start_up: Path) -> CommandLine:
    made = CommandLine(tmp_path / "workspace")
    places = [str(start_up), *filter(None, [os.environ.get("PYTHONPATH")])]
    made.environment["PYTHONPATH"] = os.pathsep.join(places)
    return made
