"""The table of commands: each has an example in its help, and a mistake is one line and a status."""

from __future__ import annotations

import argparse
import socket

import pytest

import stepscope
from stepscope.cli import main as cli
from stepscope.cli.command import boolean, port


@pytest.fixture(autouse=True)
def _empty_workspace(tmp_path, monkeypatch):
    for name in ("STEPSCOPE_TOKEN", "STEPSCOPE_ENABLE", "ENABLE_MS_DEBUGGER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("STEPSCOPE_WORKSPACE", str(tmp_path / "workspace"))


def call(capsys, *words: str) -> tuple[int, str, str]:
    try:
        status = cli.main(words)
    except SystemExit as end:  # argparse after --help and --version
        status = int(end.code or 0)
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.parametrize("command", [command.name for command in cli.COMMANDS])
def test_every_help_has_an_example(capsys, command):
    status, out, err = call(capsys, command, "--help")
    assert (status, err) == (0, "")
    assert f"example: stepscope {command}" in out


def test_version_and_help(capsys):
    assert call(capsys, "--version") == (0, f"stepscope {stepscope.__version__}\n", "")
    status, out, _ = call(capsys, "--help")
    assert status == 0
    assert all(f"    {command.name} " in out for command in cli.COMMANDS)


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        ([], 2, "which command? start, run, check, status, stop, demo, doctor"),
        (["frobnicate"], 2, "invalid choice: 'frobnicate'"),
        (["start", "--port", "0"], 2, "--port: '0' is not a port: 1 to 65535 are"),
        (["start", "--port", "65536"], 2, "--port: '65536' is not a port"),
        (["start", "--debugger-port", "-1"], 2, "--debugger-port"),
        (["start", "--debugger-port", "8o"], 2, "--debugger-port: '8o' is not a port"),
        (["start", "--port", "50051"], 2, "--port and --debugger-port are both 50051: they must differ"),
        (["start", "--enable-debugger", "yes"], 2, "'yes' is neither True, False, 1 nor 0"),
        (["start", "--host", "nowhere.invalid"], 1, "--host nowhere.invalid: there is no such address"),
        (["start", "--token", "two words"], 1, "token"),
        (["start", "--p", "8081"], 2, "unrecognized arguments: --p 8081"),
        (["run"], 2, "which script? For example: stepscope run python train.py"),
        (["run", "--port", "8081", "--"], 2, "which script?"),
        (["run", "missing.py"], 2, "missing.py: no such file"),
        (["run", "--", "python3", "-u", "missing.py", "--epochs", "3"], 2, "missing.py: no such file"),
        (["run", "no-such-program-here"], 2, "no-such-program-here: no such command"),
        (["run", "--step-unit", "epoch", "x.py"], 2, "'epoch' is no unit of steps: run, optimizer, forward"),
        (["status"], 1, "no server is running in"),
        (["status", "--json"], 1, "no server is running in"),
        (["stop"], 1, "no server is running in"),
        (["demo", "--framework", "jax"], 1, "the demo for JAX is not there yet; --framework torch is"),
        (["demo", "--bug", "off-by-one"], 2, "invalid choice: 'off-by-one'"),
    ],
)
def test_a_mistake_is_one_line(capsys, words, status, says):
    got, out, err = call(capsys, *words)
    assert got == status
    assert out == ""
    assert err.startswith("stepscope")
    assert says in err
    assert err.count("\n") == 1


def test_a_port_that_is_taken_is_one_line(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        status, out, err = call(capsys, "start", "--port", str(number))
    assert status == 1
    assert err.startswith(f"stepscope start: --port {number} on 127.0.0.1 can't be used")
    assert (out, err.count("\n")) == ("", 1)


def test_a_workspace_that_can_not_be_made_is_one_line(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    status, _, err = call(capsys, "start", "--workspace", str(tmp_path / "file" / "workspace"))
    assert status == 1
    assert "can't be written" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "value"), [("True", True), ("true", True), ("1", True), ("False", False), ("FALSE", False), ("0", False)]
)
def test_booleans_as_the_user_document_has_them(text, value):
    assert boolean(text) is value


@pytest.mark.parametrize("text", ["", "0", "65536", "1.5", "²", " 80", "+80", "-1"])
def test_what_is_no_port(text):
    with pytest.raises(argparse.ArgumentTypeError):
        port(text)
    assert (port("1"), port("65535")) == (1, 65535)
