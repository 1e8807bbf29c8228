"""`stepscope doctor`: each finding is OK, WARN or FAIL, says what to do, and needs no framework's import."""

from __future__ import annotations

import argparse
import socket
import sys
from importlib import metadata
from pathlib import Path

import pytest

from stepscope.cli import doctor, main
from stepscope.cli.command import Command
from stepscope.testing.server import ServerThread


def levels(findings) -> list[str]:
    return [finding.level for finding in findings]


@pytest.fixture
def installed(monkeypatch):
    """Sets the versions that are installed."""
    versions: dict[str, str] = {}

    def version(name: str) -> str:
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(metadata, "version", version)
    return versions


def test_no_framework(installed):
    installed["numpy"] = "2.1.0"
    (finding,) = doctor.frameworks()
    assert finding.level == "WARN"
    assert "pip install 'stepscope[mindspore]'" in str(finding)


def test_mindspore_with_its_numpy(installed):
    installed.update(mindspore="2.10.0", numpy="1.26.4")
    assert [str(finding) for finding in doctor.frameworks()] == ["OK    MindSpore 2.10.0"]


def test_mindspore_with_numpy_2(installed):
    installed.update(mindspore="2.10.0", numpy="2.3.1")
    findings = list(doctor.frameworks())
    assert levels(findings) == ["OK", "WARN"]
    assert "numpy 2.3.1" in findings[1].text
    assert findings[1].advice == "pip install 'numpy<2'"


@pytest.mark.parametrize(
    ("version", "level"), [("2.6.0", "FAIL"), ("2.7.0", "FAIL"), ("2.7.1", "OK"), ("2.10.0rc1", "OK")]
)
def test_the_oldest_mindspore(installed, version, level):
    installed["mindspore"] = version
    assert levels(doctor.frameworks()) == [level]


@pytest.mark.parametrize(("version", "level"), [("2.3.1+cpu", "FAIL"), ("2.4.0", "OK"), ("2.13.0+cu130", "OK")])
def test_the_oldest_pytorch(installed, version, level):
    installed["torch"] = version
    (finding,) = doctor.frameworks()
    assert finding.level == level
    assert finding.advice in ("", "install PyTorch 2.4 or later")


def test_other_frameworks_are_named(installed):
    installed.update(torch="2.9.1+cpu", jax="0.10.2")
    findings = list(doctor.frameworks())
    assert levels(findings) == ["OK", "OK"]
    assert "PyTorch 2.9.1+cpu" in findings[0].text


def test_nothing_is_imported(installed):
    before = set(sys.modules)
    list(doctor.frameworks())
    assert not {"mindspore", "torch", "jax"} & (set(sys.modules) - before)


def test_a_dump_that_the_user_has_set_up(monkeypatch):
    monkeypatch.setenv("MINDSPORE_DUMP_CONFIG", "/home/user/dump.json")
    (finding,) = doctor.environment()
    assert (finding.level, finding.advice) == ("WARN", "unset MINDSPORE_DUMP_CONFIG")
    monkeypatch.delenv("MINDSPORE_DUMP_CONFIG")
    assert list(doctor.environment()) == []


def test_ports(tmp_path):
    with ServerThread(tmp_path) as server, socket.create_server(("127.0.0.1", 0)) as other:
        ours, debugger = int(server.url.rpartition(":")[2]), int(server.debugger_address.rpartition(":")[2])
        taken = other.getsockname()[1]

        def look(port: int, debugger_port: int, workspace: Path = tmp_path, host: str = "127.0.0.1"):
            return list(doctor.ports(argparse.Namespace(
                workspace=workspace, host=host, port=port, debugger_port=debugger_port)))  # fmt: skip

        assert [finding.text.split(",")[0] for finding in look(ours, debugger)] == [
            f"port {ours} is used by our own server",
            f"port {debugger} is used by our own server",
        ]
        assert levels(look(ours, taken)) == ["OK", "FAIL"]
        assert look(ours, taken)[1].advice == "choose another with --debugger-port"
        assert levels(look(ours, debugger, workspace=tmp_path / "other")) == ["FAIL", "FAIL"]
        assert look(taken, taken, host="nowhere.invalid")[0].text == "nowhere.invalid is no address of this machine"
    free = look(ours, debugger)
    assert [finding.text for finding in free] == [f"port {ours} is free", f"port {debugger} is free"]


@pytest.mark.parametrize(
    ("free", "expected"),
    [
        ((8, 100, 100), ["OK", "OK", "OK"]),
        ((0.06, 100, 100), ["WARN", "OK", "OK"]),  # /dev/shm of a container
        ((0.5, 0.5, 0.5), ["WARN", "WARN", "WARN"]),
        ((0.06, 0, 0.01), ["FAIL", "FAIL", "FAIL"]),
    ],
)
def test_space(monkeypatch, tmp_path, free, expected):
    sizes = iter(free)
    monkeypatch.setattr(doctor, "_free", lambda path: int(next(sizes) * doctor.GIB))
    assert levels(doctor.space(tmp_path)) == expected


def test_real_space(tmp_path):
    assert doctor._free(tmp_path / "not" / "yet") > 0
    assert all(finding.level in ("OK", "WARN", "FAIL") for finding in doctor.space(tmp_path))


@pytest.mark.parametrize(("level", "status"), [("OK", 0), ("WARN", 0), ("FAIL", 1)])
def test_the_exit_status(monkeypatch, capsys, tmp_path, level, status):
    for part in ("installation", "frameworks", "environment", "ports"):
        monkeypatch.setattr(doctor, part, lambda *_: [])
    monkeypatch.setattr(doctor, "space", lambda workspace: [doctor.Finding(level, "so it is", "do this")])
    assert main.main(["doctor", "--workspace", str(tmp_path)]) == status
    assert capsys.readouterr().out == f"{level:4}  so it is -> do this\n"
    assert isinstance(doctor.COMMAND, Command)
