"""`stepscope check` on the demo with the real MindSpore: the recommended watchpoints catch each planted fault at the
first step where it shows, at the node where it begins, and leave the healthy training alone."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine

from stepscope.demo import script

pytestmark = pytest.mark.mindspore


def check(folder: Path, *words: str) -> tuple[int, str, dict[str, Any]]:
    cli, report = CommandLine(folder / "workspace"), folder / "report.json"
    done = cli("check", "--report", str(report), "--", sys.executable, str(script("mindspore")), *words)
    return done.returncode, done.stdout, json.loads(report.read_text())


def test_a_healthy_training_is_left_alone(tmp_path: Path):
    status, out, report = check(tmp_path, "--bug", "none")
    assert (status, report["outcome"]) == (0, "no_hit"), report["trainings"]
    assert "accuracy" in out
    (training,) = report["trainings"]
    assert training["steps"] == 4 * 46
    assert len(training["watchpoints"]) >= 8


def test_nan_at_the_logarithm(tmp_path: Path):
    status, out, report = check(tmp_path, "--bug", "nan")
    assert status == 1
    losses = re.findall(r"step \d+: loss (\S+)", out)
    assert "nan" not in losses, "it was ended before its loss could become NaN"
    (training,) = report["trainings"]
    first = training["findings"][0]
    assert (first["condition"], first["step"]) == ("operator_overflow", len(losses) + 1)
    assert first["place"]["op"] == "Log"
    assert len(first["chain"]) == 1
    assert "ops.log(probabilities)" in first["place"]["source"]["text"]
    assert first["place"]["source"]["file"].endswith("mindspore_train.py")
    later = next(one for one in training["findings"] if one["place"]["op"] == "ReduceMean")
    assert later["chain"][0]["op"] == "Log"


def test_a_frozen_layer(tmp_path: Path):
    status, _, report = check(tmp_path, "--bug", "frozen")
    assert status == 1
    (training,) = report["trainings"]
    assert {one["place"]["node"] for one in training["findings"]} == {"conv2.weight"}
    assert "weight_not_changed" in {one["condition"] for one in training["findings"]}
    assert training["steps"] == 1


def test_a_learning_rate_that_is_too_high(tmp_path: Path):
    status, _, report = check(tmp_path, "--bug", "exploding")
    assert status == 1
    (training,) = report["trainings"]
    assert {one["condition"] for one in training["findings"]} == {"weight_change_too_large"}
    assert training["steps"] == 1


def test_a_dead_relu(tmp_path: Path):
    status, _, report = check(tmp_path, "--bug", "dead-relu")
    assert status == 1
    (training,) = report["trainings"]
    assert training["steps"] == 1
    first = [one for one in training["findings"] if one["place"] == training["findings"][0]["place"]]
    assert {one["place"]["op"] for one in first} == {"ReLU"}
    assert {one["condition"] for one in first} == {"tensor_all_zero", "activation_range"}
