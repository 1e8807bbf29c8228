"""What `stepscope status` prints of a job, and that it keeps its lines in place on a terminal."""

from __future__ import annotations

import pytest

from stepscope.cli import status

JOB = {
    "id": "a1", "title": "train.py", "state": "paused", "reason": "step", "exit": None, "rank": 0, "rank_count": 1,
    "step": 12, "loss": 0.123456789, "step_seconds": 0.0112, "framework": "mindspore", "framework_version": "2.10.0",
    "device": "CPU",
}  # fmt: skip


def test_one_line_per_job():
    lost = {**JOB, "id": "b2", "title": "a_long_name.py", "state": "lost", "exit": {"outcome": "lost"}, "step": 3,
            "rank": 1, "rank_count": 2, "loss": "nan", "step_seconds": None}  # fmt: skip
    terminated = {**JOB, "state": "finished", "exit": {"outcome": "terminated"}, "loss": None, "step_seconds": 75.0}
    assert status.table([JOB, lost, terminated]) == [
        "STATE                  SCRIPT          RANK  STEP  LOSS      TIME/STEP  FRAMEWORK             JOB",
        "paused (step)          train.py        -     12    0.123457  11.2 ms    mindspore 2.10.0 CPU  a1",
        "lost                   a_long_name.py  1/2   3     nan       -          mindspore 2.10.0 CPU  b2",
        "finished (terminated)  train.py        -     12    -         75.00 s    mindspore 2.10.0 CPU  a1",
    ]


def test_no_job_yet():
    assert status.table([]) == ["no training has connected yet"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), ("nan", "nan"), ("-inf", "-inf"), (5216.8691, "5216.87"), (1e-7, "1e-07"), (0, "0")],
)
def test_numbers(value, text):
    assert status.number(value) == text


@pytest.mark.parametrize(("value", "text"), [(None, "-"), ("nan", "-"), (0.0004, "0.4 ms"), (2.5, "2.50 s")])
def test_durations(value, text):
    assert status.duration(value) == text


def test_lines_are_written_over_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "10")
    monkeypatch.setenv("LINES", "4")
    screen = status._Screen(live=True)
    screen.show(["one", "a line that is too long"])
    assert capsys.readouterr().out == "\x1b[2Kone\n\x1b[2Ka line tha\n\x1b[J"
    screen.show(["1", "2", "3", "4", "5"])
    assert capsys.readouterr().out == "\x1b[2F\x1b[2K1\n\x1b[2K2\n\x1b[2K3\n\x1b[J"
    screen.show(["1"])
    assert capsys.readouterr().out == "\x1b[3F\x1b[2K1\n\x1b[J"


def test_lines_are_appended_elsewhere(capsys):
    screen = status._Screen(live=False)
    screen.show(["one", "two"])
    screen.show(["three"])
    assert capsys.readouterr().out == "one\ntwo\nthree\n"
