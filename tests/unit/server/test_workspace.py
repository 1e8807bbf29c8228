"""The workspace: one server at a time, found by others, never by a stale file."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys

import pytest

from stepscope.server.errors import StartError
from stepscope.server.workspace import RunningServer, Workspace, default_workspace, read_running

SERVER = RunningServer(
    pid=os.getpid(), url="http://127.0.0.1:1", debugger_host="127.0.0.1", debugger_port=2, token="t", version="0"
)


def test_a_running_server_is_found_until_it_ends(tmp_path):
    assert read_running(tmp_path / "none") is None
    workspace = Workspace(tmp_path / "w")
    assert read_running(tmp_path / "w") is None  # not ready
    workspace.announce(SERVER)
    assert read_running(tmp_path / "w") == SERVER
    workspace.close()
    assert read_running(tmp_path / "w") is None
    assert not (tmp_path / "w" / "server.json").exists()


def test_only_its_owner_can_read_it(tmp_path):
    workspace = Workspace(tmp_path / "w")
    workspace.announce(SERVER)
    assert stat.S_IMODE((tmp_path / "w" / "server.json").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "w").stat().st_mode) == 0o700
    workspace.close()


def test_a_second_server_is_told_of_the_first(tmp_path):
    workspace = Workspace(tmp_path)
    with pytest.raises(StartError, match="one that is just starting"):
        Workspace(tmp_path)
    workspace.announce(SERVER)
    with pytest.raises(StartError, match=f"process {os.getpid()} at http://127.0.0.1:1"):
        Workspace(tmp_path)
    workspace.close()
    Workspace(tmp_path).close()


def test_the_file_of_a_server_that_was_killed_counts_for_nothing(tmp_path):
    program = (
        "import sys, os, pathlib; from stepscope.server.workspace import *\n"
        "w = Workspace(pathlib.Path(sys.argv[1]))\n"
        "w.announce(RunningServer(os.getpid(), 'http://x', 'x', 1, None, '0'))\n"
        "os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False).returncode == -9
    assert json.loads((tmp_path / "server.json").read_text())["url"] == "http://x"
    assert read_running(tmp_path) is None
    workspace = Workspace(tmp_path)
    assert read_running(tmp_path) is None
    workspace.close()


def test_what_can_not_be_a_workspace_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StartError, match="can't be written"):
        Workspace(tmp_path / "file")
    with pytest.raises(StartError, match="can't be written"):
        Workspace(tmp_path / "file" / "below")


def test_the_environment_names_the_default(monkeypatch, tmp_path):
    monkeypatch.setenv("STEPSCOPE_WORKSPACE", str(tmp_path))
    assert default_workspace() == tmp_path
    monkeypatch.delenv("STEPSCOPE_WORKSPACE")
    assert default_workspace().name == ".stepscope"
