"""What the environment of a training process asks for."""

from __future__ import annotations

import builtins
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stepscope.probe.settings import STEP_UNITS, Settings, enabled, from_environment

SOURCE = Path(__file__).parents[3] / "src"


def test_without_variables_the_defaults_hold():
    assert from_environment({}) == Settings(
        host="127.0.0.1",
        port=50051,
        token="",
        partial_memory=False,
        step_unit="run",
        connect_wait=15.0,
        lost_wait=600.0,
        data_root="",
    )


@pytest.mark.parametrize(
    ("variable", "value", "field", "expected"),
    [
        ("MS_DEBUGGER_HOST", "trainer.example", "host", "trainer.example"),
        ("STEPSCOPE_HOST", "::1", "host", "::1"),
        ("MS_DEBUGGER_PORT", "1", "port", 1),
        ("STEPSCOPE_PORT", "65535", "port", 65535),
        ("STEPSCOPE_TOKEN", "secret", "token", "secret"),
        ("MS_DEBUGGER_PARTIAL_MEM", "1", "partial_memory", True),
        ("STEPSCOPE_PARTIAL_MEM", "True", "partial_memory", True),
        ("STEPSCOPE_PARTIAL_MEM", "no", "partial_memory", False),
        *(("STEPSCOPE_STEP_UNIT", unit, "step_unit", unit) for unit in STEP_UNITS),
        ("STEPSCOPE_CONNECT_WAIT", "0", "connect_wait", 0.0),
        ("STEPSCOPE_LOST_WAIT", "2.5", "lost_wait", 2.5),
        ("STEPSCOPE_DATA_ROOT", "/data", "data_root", "/data"),
    ],
)
def test_each_variable(variable, value, field, expected):
    found = from_environment({variable: value})
    assert getattr(found, field) == expected
    rest = Settings(**{field: expected})
    assert found == rest  # and nothing else changes


@pytest.mark.parametrize(
    ("ours", "theirs", "field", "expected"),
    [
        ("STEPSCOPE_HOST=a", "MS_DEBUGGER_HOST=b", "host", "a"),
        ("STEPSCOPE_PORT=1", "MS_DEBUGGER_PORT=2", "port", 1),
        ("STEPSCOPE_PARTIAL_MEM=0", "MS_DEBUGGER_PARTIAL_MEM=1", "partial_memory", False),
        ("STEPSCOPE_HOST=", "MS_DEBUGGER_HOST=b", "host", "b"),
        ("STEPSCOPE_PORT=", "MS_DEBUGGER_PORT=2", "port", 2),
    ],
)
def test_the_neutral_names_win_unless_they_are_empty(ours, theirs, field, expected):
    environ = dict(one.split("=") for one in (ours, theirs))
    assert getattr(from_environment(environ), field) == expected


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        *(("MS_DEBUGGER_PORT", value) for value in ("0", "65536", "-1", "x", "5.0", " 80", "²", "8080\n")),
        *(("STEPSCOPE_STEP_UNIT", value) for value in ("epoch", "RUN", "run\nforward")),
        *(("STEPSCOPE_CONNECT_WAIT", value) for value in ("x", "-1", "nan", "inf", "1e12")),
        ("STEPSCOPE_LOST_WAIT", "soon"),
    ],
)
def test_a_value_that_makes_no_sense_is_one_clear_line(variable, value):
    with pytest.raises(ValueError, match="must be") as caught:
        from_environment({variable: value})
    line = str(caught.value)
    assert line.splitlines() == [line]
    assert line.endswith(f", not {value!r}")


SWITCHES = [
    ({}, False),
    *(({"ENABLE_MS_DEBUGGER": value}, True) for value in ("1", "true", "True", "TRUE", " 1 ")),
    *(({"STEPSCOPE_ENABLE": value}, True) for value in ("1", "true")),
    *(({"ENABLE_MS_DEBUGGER": value}, False) for value in ("", "0", "false", "yes", "2")),
    ({"STEPSCOPE_ENABLE": "0", "ENABLE_MS_DEBUGGER": "1"}, False),
    ({"STEPSCOPE_ENABLE": "1", "ENABLE_MS_DEBUGGER": "0"}, True),
    ({"STEPSCOPE_ENABLE": "", "ENABLE_MS_DEBUGGER": "1"}, True),
]


@pytest.mark.parametrize(("environ", "expected"), SWITCHES)
def test_who_asks_for_the_debugger(environ, expected):
    assert enabled(environ) is expected


@pytest.mark.parametrize(("environ", "expected"), SWITCHES)
def test_the_line_in_site_packages_decides_alike(environ, expected, monkeypatch):
    """`stepscope.pth` asks for itself, so that nothing is imported in vain at the start of every Python."""
    for name in ("STEPSCOPE_ENABLE", "ENABLE_MS_DEBUGGER"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    imported = []

    def note(name: str, *rest: object) -> object:
        imported.append(name)
        return __import__(name, *rest) if name == "os" else None

    exec((SOURCE / "stepscope.pth").read_text(), {"__builtins__": {**vars(builtins), "__import__": note}})
    assert ("stepscope.probe.bootstrap" in imported) is expected


def test_a_start_up_hook_that_can_not_be_loaded_is_one_line_and_off_for_the_children():
    code = f"import os; exec(open({str(SOURCE / 'stepscope.pth')!r}).read()); print(os.environ['STEPSCOPE_ENABLE'])"
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environ["ENABLE_MS_DEBUGGER"] = "1"
    done = subprocess.run([sys.executable, "-S", "-c", code], env=environ, capture_output=True, text=True, check=True)
    (line,) = done.stderr.splitlines()
    assert line.startswith("stepscope: the start-up hook can not be loaded, going on undebugged: ")
    assert done.stdout == "0\n"


def test_reading_the_environment_imports_nothing_but_the_standard_library():
    """It runs at the start of every Python of a debugged user, with whatever is installed there."""
    code = (
        "import sys; import stepscope.probe.bootstrap\n"
        "print([name for name in sys.modules if name.partition('.')[0] in ('numpy', 'grpc', 'google', 'mindspore')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(SOURCE)}, capture_output=True, text=True
    )
    assert done.stdout == "[]\n"
