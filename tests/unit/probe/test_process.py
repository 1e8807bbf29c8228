"""What a process tells of itself, whatever its environment is like."""

from __future__ import annotations

import os

import pytest

from stepscope.probe import data_folder
from stepscope.probe.process import first_number, hello
from stepscope.probe.settings import Settings


@pytest.mark.parametrize(
    ("values", "number"),
    [
        (("3",), 3),
        ((" 3\n", 1), 3),
        (("node-3", None, "", 1), 1),
        (("²", "-1", "9" * 5000), 0),
        ((), 0),
    ],
)
def test_a_number_in_the_environment(values, number):
    assert first_number(*values) == number


@pytest.fixture
def removed_folder(tmp_path, monkeypatch):
    """The working directory."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()


@pytest.mark.usefixtures("removed_folder")
def test_a_working_directory_that_was_removed(tmp_path):
    info = hello(Settings(), tmp_path)["info"]
    assert info["working_directory"] == ""
    assert info["pid"] == os.getpid()


@pytest.mark.usefixtures("removed_folder")
def test_a_place_below_it_is_none_for_step_data(monkeypatch):
    monkeypatch.setenv("STEPSCOPE_WORKSPACE", "workspace")
    assert data_folder.candidates()
    assert data_folder.candidates("data") == []


def test_step_data_need_no_temporary_folder(monkeypatch):
    def none():
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(data_folder.tempfile, "gettempdir", none)
    assert data_folder.MEMORY in data_folder.candidates()
