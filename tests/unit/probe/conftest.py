"""A training in this process under the real probe: fake MindSpore at one side, the test as the sidecar at the other."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_mindspore import VARIABLE, FakeMindSpore
from fake_sidecar import FakeSidecar

from stepscope.probe.mindspore import session as session_module
from stepscope.probe.mindspore.hooks import Hooks
from stepscope.probe.mindspore.session import Session
from stepscope.probe.settings import Settings


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder whose path MindSpore would take: pytest's own has the name of the test, with brackets."""
    folder = Path(tempfile.mkdtemp(prefix="place-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def ms(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeMindSpore]:
    monkeypatch.delenv(VARIABLE, raising=False)
    yield FakeMindSpore(monkeypatch)
    os.environ.pop(VARIABLE, None)


@pytest.fixture
def sidecar(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSidecar]:
    monkeypatch.setattr(session_module, "PROGRESS_INTERVAL", 0.0)
    made = FakeSidecar()
    monkeypatch.setattr(session_module.sidecar, "launch", made.launch)
    yield made
    made.close()


@pytest.fixture
def at_exit(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """What was to be called at the end of the interpreter; the hook for uncaught exceptions is put back, too."""
    registered: list[Callable[[], None]] = []
    monkeypatch.setattr(atexit, "register", registered.append)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    return registered


@pytest.fixture
def debug(ms: FakeMindSpore, sidecar: FakeSidecar, at_exit: object, place: Path) -> Iterator[Callable[..., Session]]:
    """Attaches the probe, with a plan of commands for the sidecar: one for each pause, then "resume"."""
    attached: list[Hooks] = []

    def attach(*plan: object, **settings: object) -> Session:
        sidecar.plan[:] = plan
        session = Session(ms.api, Settings(data_root=str(place), **settings))
        attached.append(Hooks(ms.api, session))
        attached[-1].attach()
        return session

    yield attach
    for hooks in attached:
        hooks.detach("the test is over")
