"""The demo in PyTorch: each planted fault does what it is said to do, `stepscope check` finds it at the first node, and
what the demo says one could type shows it."""

from __future__ import annotations

import json
import math
import re
import signal
import sys
from typing import Any

import numpy as np
import pytest
from command_line import SECONDS, CommandLine
from demos import printed_by, train, typed

import stepscope
from stepscope.demo import BUGS, script

pytestmark = pytest.mark.torch

SCRIPT = str(script("torch"))


def test_without_a_fault_it_learns():
    losses, accuracy = train("torch", "none")
    assert losses[0] > 2.2
    assert np.mean(losses[-20:]) < 0.3
    assert accuracy > 85


def test_nan_comes_after_some_tens_of_steps():
    losses, accuracy = train("torch", "nan")
    first = next(step for step, loss in enumerate(losses, 1) if math.isnan(loss))
    assert 15 <= first <= 60
    assert np.allclose(losses[:10], train("torch", "none")[0][:10], atol=0.01), "until then the formula is right"
    assert all(map(math.isnan, losses[first - 1 :]))
    assert accuracy < 20


def test_a_frozen_layer_lets_it_learn_all_the_same():
    losses, accuracy = train("torch", "frozen")
    assert accuracy > 70
    assert np.mean(losses[-20:]) > np.mean(train("torch", "none")[0][-20:])


def test_exploding():
    losses, accuracy = train("torch", "exploding")
    assert losses[0] < 2.5
    assert max(losses[:10]) > 1000
    assert accuracy < 25


def test_a_dead_relu_learns_nothing():
    losses, accuracy = train("torch", "dead-relu")
    assert 2.1 < min(losses) < max(losses) < 2.5
    assert accuracy < 25


# ---------------------------------------------------------------- stepscope check


def check(cli: CommandLine, *words: str) -> tuple[int, str, dict[str, Any]]:
    """Status, output, and the only training in the report."""
    report = cli.workspace.with_name("report.json")
    done = cli("check", "--report", str(report), "--", sys.executable, SCRIPT, *words)
    (training,) = json.loads(report.read_text())["trainings"]
    return done.returncode, done.stdout, training


def test_a_healthy_training_is_left_alone(cli):
    status, out, training = check(cli, "--epochs", "1")
    assert status == 0, training["findings"]
    assert "accuracy" in out
    assert training["steps"] == 46
    assert len(training["watchpoints"]) >= 8


def test_nan_is_found_at_the_logarithm(cli):
    status, out, training = check(cli, "--bug", "nan")
    assert status == 1
    losses = re.findall(r"step \d+: loss (\S+)", out)
    assert len(losses) == next(step for step, loss in enumerate(train("torch", "nan")[0]) if math.isnan(loss))
    first = training["findings"][0]
    assert (first["condition"], first["step"]) == ("operator_overflow", len(losses) + 1)
    assert first["place"]["node"].endswith("/aten.log")
    assert "torch.log(probabilities)" in first["place"]["source"]["text"]


@pytest.mark.parametrize(
    ("bug", "node", "conditions"),
    [
        ("frozen", r"network\.conv2\.weight", {"weight_not_changed", "weight_change_too_small"}),
        ("exploding", r".*", {"weight_change_too_large"}),
        ("dead-relu", r"network/relu/aten\.relu_2", {"tensor_all_zero", "activation_range"}),
    ],
)
def test_a_fault_is_found_in_the_first_step(cli, bug, node, conditions):
    status, _, training = check(cli, "--bug", bug)
    assert (status, training["steps"]) == (1, 1)
    place = training["findings"][0]["place"]
    assert re.fullmatch(node, place["node"])
    assert {one["condition"] for one in training["findings"] if one["place"] == place} == conditions


# ---------------------------------------------------------------- stepscope demo


@pytest.mark.parametrize("bug", list(BUGS))
def test_what_to_type_next_shows_the_fault(cli, capsys, bug):
    process = cli.pipes("demo", "--framework", "torch", "--bug", bug, *cli.ports)
    try:
        lines = printed_by(process)
        shown = typed(lines, capsys)
        with stepscope.connect(cli.url) as debugger:
            job = debugger.wait_for_job(SECONDS)
            assert "PyTorch" in "\n".join(lines)
            assert_shown(bug, job, shown)
            process.send_signal(signal.SIGINT)
            assert process.wait(SECONDS) == 130
            assert job.wait(SECONDS) == "finished"
    finally:
        process.kill()
        process.communicate()
        cli.stop()


def assert_shown(bug: str, job: stepscope.client.Job, shown: list[str]) -> None:
    figures = dict(line.rsplit(" ", 1) for line in shown)
    if bug == "none":
        step, loss = shown[-1].split()
        assert (step, float(loss) > 1) == ("10", True)
    elif bug == "nan":
        zeros, infinities = map(int, shown[-1].split())
        assert zeros == infinities > 0
        assert job.info["loss"] == "nan"
    elif bug == "frozen":
        assert {name for name, changed in figures.items() if changed == "0"} == {
            "network.conv2.weight",
            "network.conv2.bias",
        }
        assert len(figures) == 4
    elif bug == "exploding":
        assert max(map(float, figures.values())) > 10
    else:
        assert [name for name, positive in figures.items() if positive == "0"] == ["network/relu/aten.relu_2"]
        assert len(figures) == 4
