"""Real MindSpore trainings under a real server: scripts as users write them, each in a process of its own."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from trainings import Script, first_pause, scripts_in, without_ours

from stepscope.client.job import Job
from stepscope.testing.server import ServerThread

SCRIPTS = Path(__file__).parent / "scripts"


Train = Callable[..., Script]


@pytest.fixture
def train(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Train]:
    """Starts a script: under the debugger of `server`, unless `debug=False` or another address is given."""

    def start(script: str | Path, *arguments: str, debug: bool = True, launcher=(), **variables: str) -> Script:
        environment = without_ours()
        if debug:
            environment["ENABLE_MS_DEBUGGER"] = "1"
            if "MS_DEBUGGER_PORT" not in variables:
                host, _, port = request.getfixturevalue("server").debugger_address.rpartition(":")
                environment.update(MS_DEBUGGER_HOST=host, MS_DEBUGGER_PORT=port)
        # msrun starts its workers with whatever "python" is.
        environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment.get('PATH', '')}"
        environment.update(variables)
        path = SCRIPTS / script
        command = [*launcher, str(path)] if launcher else [sys.executable, str(path)]
        return run([*command, *arguments], environment)

    with scripts_in(tmp_path) as run:
        yield start


@pytest.fixture
def job(server: ServerThread) -> Callable[[], Job]:
    """Waits for a job and its first pause."""
    return functools.partial(first_pause, server)
