"""A real server with a fake training attached to it over real gRPC."""

from __future__ import annotations

import pytest


@pytest.fixture
def server(tmp_path):
    from stepscope.testing.server import ServerThread

    with ServerThread(tmp_path / "workspace") as running:
        yield running


@pytest.fixture
def agent(server):
    from stepscope.testing.agent import FakeAgent

    with FakeAgent(server.debugger_address) as attached:
        yield attached


@pytest.fixture
def debugger(server):
    import stepscope

    with stepscope.connect(server.url) as connected:
        yield connected


@pytest.fixture
def job(agent, debugger):
    """The agent's job, paused before its first step."""
    return debugger.wait_for_job(60)
