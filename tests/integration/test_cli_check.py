"""`stepscope check` as a process, on scripts whose training is a fake that speaks the real protocol."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path

import pytest
from command_line import SECONDS, CommandLine

# The fake training comes to the server by itself. Run like this, nobody asks whether the interpreter has the hook.
PYTHON = ("env", sys.executable)

TRAINING = """
import os, sys
from dataclasses import replace
from stepscope.testing.agent import FakeAgent
from stepscope.testing.live_source import LIVE_INFO, FakeLiveSource
from stepscope.testing.source import INFO, FakeSource

options = dict(word.split("=") for word in sys.argv[1:])
nan_at = int(options.get("nan_at", 0)) or None
address = os.environ["STEPSCOPE_HOST"] + ":" + os.environ["STEPSCOPE_PORT"]
agents = []
ranks = int(options.get("ranks", 1))
for rank in range(ranks):
    info = replace(INFO, job_id=f"rank-{rank}", rank=rank, rank_count=ranks, pid=rank)
    if options.get("live"):
        source = FakeLiveSource(replace(LIVE_INFO, job_id=info.job_id, pid=rank), int(options["steps"]), nan_at=nan_at)
    else:
        source = FakeSource(info, int(options["steps"]), nan_at=nan_at)
    agents.append(FakeAgent(address, source))
for agent in agents:
    agent.join()
print("trained")
sys.exit(int(options.get("status", 0)))
"""


class Check:
    """Runs the command on the script above."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.cli = CommandLine(folder / "workspace")
        self.script = folder / "train.py"
        self.script.write_text(TRAINING)

    def __call__(self, *options: str, script: str | None = None, **training: int):
        words = [f"{name}={value}" for name, value in training.items()]
        line = [*PYTHON, str(self.script), *words] if script is None else [*PYTHON, "-c", script]
        return self.cli("check", *options, "--", *line)


@pytest.fixture
def check(tmp_path: Path) -> Check:
    return Check(tmp_path)


def test_a_training_without_a_hit(check: Check):
    done = check("--watch", "tensor_overflow", steps=5)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "trained\nstepscope check: no hit in 5 steps\n"


def test_the_first_hit_ends_it(check: Check):
    report = check.folder / "hits.json"
    started = time.time()
    done = check("--watch", "TO", "--report", str(report), steps=1000, nan_at=3)
    assert done.returncode == 1
    assert "stepscope check: a hit at step 3" in done.stdout
    assert "1. x, output 0" in done.stdout
    found = json.loads(report.read_text())
    assert found["outcome"] == "hit"
    assert found["command"][-2:] == ["steps=1000", "nan_at=3"]
    assert started - 1 < found["started_at"] < time.time()
    (training,) = found["trainings"]
    assert (training["title"], training["steps"]) == ("train.py", 3)
    (watched,) = training["watchpoints"]
    assert watched["condition"] == "tensor_overflow"
    assert watched["nodes"] > 10
    assert training["found"] == len(training["findings"]) > 5
    last = next(one for one in training["findings"] if one["place"]["node"].endswith("SquaredError-op0"))
    assert [place["node"].rpartition("/")[2] for place in last["chain"]] == [
        *("x", "MatMul-op0", "BiasAdd-op0", "ReLU-op0", "MatMul-op1", "SquaredError-op0")
    ]
    assert last["place"]["source"] == {"file": "/home/me/train.py", "line": 17, "text": "out = SquaredError(x)"}
    assert last["step"] == 3
    (weight,) = (one for one in training["findings"] if one["place"]["node"] == "out.weight")
    names = [place["node"].rpartition("/")[2] for place in weight["chain"]]
    assert (names[0], names[-2:]) == ("x", ["MatMul-op2", "out.weight"])


def test_a_tensor_that_can_not_be_evaluated_counts_too(check: Check):
    report = check.folder / "hits.json"
    done = check("--watch", "weight_too_large:abs_mean_gt=1e9", "--report", str(report), steps=1000, nan_at=2)
    assert done.returncode == 1
    assert "stepscope check: a tensor that could not be evaluated at step 2" in done.stdout
    assert "weight_too_large: not evaluated: the tensor contains NaN" in done.stdout
    found = json.loads(report.read_text())
    assert found["outcome"] == "not_evaluated"
    finding = found["trainings"][0]["findings"][0]
    assert finding["reasons"] == ["the tensor contains NaN"]
    assert finding["params"] == [{"name": "abs_mean_gt", "value": 1e9, "hit": False, "actual": None}]
    assert finding["chain"][0]["node"] == "x"


def test_a_threshold_and_where_it_was_passed_first(check: Check):
    report = check.folder / "hits.json"
    done = check("--watch", "TL:max_gt=-1e9@*SquaredError*", "--report", str(report), steps=1000)
    assert done.returncode == 1
    assert re.search(r"tensor_too_large: max_gt=-1e\+09 \(actual [\d.]+\)", done.stdout)
    finding = json.loads(report.read_text())["trainings"][0]["findings"][0]
    assert finding["place"]["node"].endswith("SquaredError-op0")
    assert len(finding["chain"]) > 3, "its inputs are past the threshold, too, though nobody watches them"


def test_initial_values_are_checked_before_the_first_step(check: Check):
    done = check("--watch", "weight_initialization:max_gt=-1e9", steps=1000)
    assert done.returncode == 1
    assert "a hit at step 0" in done.stdout


def test_the_end_after_some_steps(check: Check):
    done = check("--watch", "weight_overflow", "--steps", "7", steps=100_000)
    assert done.returncode == 0
    assert "no hit in 7 steps" in done.stdout


def test_the_recommended_set_is_what_is_watched_without_a_watch(check: Check):
    report = check.folder / "hits.json"
    for options in ([], ["--recommended", "--watch", "TL:max_gt=1e30"]):
        done = check(*options, "--report", str(report), steps=100, nan_at=4)
        assert done.returncode == 1, done.stderr
        (training,) = json.loads(report.read_text())["trainings"]
        conditions = [one["condition"] for one in training["watchpoints"]]
        assert {"operator_overflow", "weight_not_changed", "gradient_vanishing"} <= set(conditions)
        assert ("tensor_too_large" in conditions) == bool(options)


def test_several_trainings_end_together(check: Check):
    """Whichever is hit first."""
    done = check("--watch", "TO", steps=100_000, nan_at=5, ranks=2)
    assert done.returncode == 1
    assert re.search(r"train.py, rank [01]:", done.stdout)


def test_the_page_of_a_report_needs_nothing_else(check: Check):
    report = check.folder / "hits.html"
    done = check("--watch", "TO", "--report", str(report), steps=100, nan_at=2)
    assert done.returncode == 1
    assert f"the report is in {report}" in done.stderr
    page = report.read_text()
    assert "/home/me/train.py:17" in page
    assert "a hit at step 2" in page
    assert "prefers-color-scheme: dark" in page
    assert not re.search(r"<(?:script|link|img|iframe)|url\(|https?://|@import", page)


def test_what_is_in_a_report_is_text_not_html(check: Check):
    report = check.folder / "hits.html"
    done = check("--watch", "TL:max_gt=-1e9@<b>", "--report", str(report), steps=100)
    assert done.returncode == 2
    page = report.read_text()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


# ---------------------------------------------------------------- what can't be checked


def test_a_threshold_of_no_use_is_warned_of(check: Check):
    done = check("--watch", "GV:abs_mean_lt=0", steps=3)
    assert done.returncode == 0
    assert "--watch GV:abs_mean_lt=0: an average of absolute values is never below 0: this can never hit" in done.stderr


def test_a_pattern_that_nothing_matches(check: Check):
    done = check("--watch", "TO@*nothing*", steps=100_000)
    assert done.returncode == 2
    assert done.stderr == "stepscope check: --watch TO@*nothing*: no node of train.py matches '*nothing*'\n"


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("pass", "nothing in the script could be watched: no training has connected"),
        ("raise SystemExit(3)", "the script failed with status 3"),
    ],
)
def test_a_script_without_a_training(check: Check, script: str, says: str):
    done = check("--watch", "TO", script=script)
    assert (done.returncode, done.stderr) == (2, f"stepscope check: {says}\n")


def test_a_script_that_fails_after_its_training(check: Check):
    report = check.folder / "hits.json"
    done = check("--watch", "TO", "--report", str(report), steps=4, status=9)
    assert done.returncode == 2
    assert "the script failed with status 9, after 4 steps without a hit" in done.stderr
    assert json.loads(report.read_text())["outcome"] == "could_not_run"


def test_an_interpreter_without_the_hook(check: Check):
    bare = check.folder / "python3"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n')
    bare.chmod(0o755)
    done = check.cli("check", "--", str(bare), str(check.script))
    assert done.returncode == 2
    assert "lacks stepscope's start-up hook" in done.stderr


def test_no_script(check: Check):
    done = check.cli("check", "--watch", "TO")
    assert (done.returncode, done.stderr) == (
        2,
        "stepscope check: which script? For example: stepscope check python train.py\n",
    )


def test_nothing_is_left_behind(check: Check):
    """The server is gone, and its folder; the user's own workspace was not touched."""
    places = check.folder / "tmp"
    places.mkdir()
    check.cli.environment["TMPDIR"] = str(places)
    process = check.cli.pipes("check", "--watch", "TO", "--", *PYTHON, str(check.script), "steps=100000")
    deadline = time.monotonic() + SECONDS
    while not list(places.glob("stepscope-*/server.json")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    server = json.loads(next(places.glob("stepscope-*/server.json")).read_text())["pid"]
    process.kill()  # without a chance to clean up
    process.communicate()
    while Path(f"/proc/{server}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    check("--watch", "TO", steps=3)
    assert not check.cli.workspace.exists()


@pytest.mark.parametrize("nan_at", [1, 3])
def test_nodes_of_a_live_training_are_matched_after_its_first_step(check: Check, nan_at: int):
    done = check("--watch", "TO@*MatMul-op0", live=1, steps=50, nan_at=nan_at)
    assert done.returncode == 1
    assert f"stepscope check: a hit at step {nan_at}" in done.stdout


def test_a_pattern_that_no_node_of_a_live_training_matches(check: Check):
    done = check("--watch", "TO@*nowhere*", live=1, steps=50)
    assert done.returncode == 2
    assert "no node of train.py matches '*nowhere*'" in done.stderr
