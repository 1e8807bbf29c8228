"""The demo with the real MindSpore: each planted fault does what it is said to do, and can be seen as it is said."""

from __future__ import annotations

import math
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from command_line import SECONDS, CommandLine
from demos import printed_by, train, typed

import stepscope
from stepscope.demo import BUGS, script


def test_the_digits():
    data = np.load(script("mindspore").with_name("digits.npz"))
    images, labels = data["images"], data["labels"]
    assert (images.shape, images.dtype, images.min(), images.max()) == ((1797, 8, 8), np.uint8, 0, 16)
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert script("mindspore").with_name("digits.npz").stat().st_size < 60_000


def test_what_is_not_there_yet():
    assert script("jax") is None


# ---------------------------------------------------------------- the script alone


@pytest.mark.mindspore
def test_without_a_fault_it_learns():
    losses, accuracy = train("mindspore", "none")
    assert losses[0] > 2.2
    assert np.mean(losses[-20:]) < 0.3
    assert accuracy > 90


@pytest.mark.mindspore
def test_nan_comes_after_some_tens_of_steps():
    losses, accuracy = train("mindspore", "nan")
    first = next(step for step, loss in enumerate(losses, 1) if math.isnan(loss))
    assert 15 <= first <= 60
    assert np.allclose(losses[:10], train("mindspore", "none")[0][:10], atol=0.01), "until then the formula is right"
    assert losses[first - 2] < 1.5
    assert all(map(math.isnan, losses[first - 1 :]))
    assert accuracy < 20


@pytest.mark.mindspore
def test_a_frozen_layer_lets_it_learn_all_the_same():
    losses, accuracy = train("mindspore", "frozen")
    assert 70 < accuracy < train("mindspore", "none")[1]
    assert np.mean(losses[-20:]) > np.mean(train("mindspore", "none")[0][-20:])


@pytest.mark.mindspore
def test_exploding():
    losses, accuracy = train("mindspore", "exploding")
    assert losses[0] < 2.5
    assert max(losses[:10]) > 1000
    assert accuracy < 25


@pytest.mark.mindspore
def test_a_dead_relu_learns_nothing():
    losses, accuracy = train("mindspore", "dead-relu")
    assert min(losses) > 2.1
    assert max(losses) < 2.5
    assert accuracy < 25


# ---------------------------------------------------------------- under the debugger


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[CommandLine]:
    command_line = CommandLine(tmp_path / "workspace")
    yield command_line
    command_line.stop()


@pytest.mark.mindspore
def test_no_wait(demo):
    done = demo("demo", "--bug", "nan", "--no-wait", *demo.ports)
    assert done.returncode == 0, done.stderr
    assert f"page   {demo.url}/" in done.stdout
    assert "state  paused after step 1, loss 2.29" in done.stdout
    assert re.search(r"nodes  \d+ ran in this step, the first of them:\n +1  \S+/\S+-op\d+\n +2  ", done.stdout)
    assert "stepscope status --follow" in done.stdout
    with stepscope.connect(demo.url) as debugger:
        (job,) = debugger.jobs()
        assert job.wait(SECONDS) == "finished"
        assert job.info["exit"]["outcome"] == "terminated"


@pytest.mark.mindspore
@pytest.mark.parametrize("bug", list(BUGS))
def test_what_to_type_next_shows_the_fault(demo, capsys, bug):
    process = demo.pipes("demo", "--bug", bug, *demo.ports)
    lines = printed_by(process)
    assert f"  page   {demo.url}/" in lines
    printed = typed(lines, capsys)
    with stepscope.connect(demo.url) as debugger:
        job = debugger.wait_for_job(SECONDS)
        check(bug, job, printed)
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) == 130
        assert job.wait(SECONDS) == "finished"
    process.communicate()


def check(bug: str, job: stepscope.client.Job, printed: list[str]) -> None:
    figures = dict(line.rsplit(" ", 1) for line in printed)
    if bug == "none":
        step, loss = printed[-1].split()
        assert (step, float(loss) > 1) == ("10", True)
    elif bug == "nan":
        zeros, infinities = map(int, printed[-1].split())
        assert zeros == infinities > 0
        assert job.info["loss"] == "nan"
    elif bug == "frozen":
        unchanged = {name for name, changed in figures.items() if changed == "0"}
        assert unchanged == {"conv2.weight", "conv2.bias"}
        assert set(figures) - unchanged == {"conv1.weight", "conv1.bias"}
    elif bug == "exploding":
        assert max(map(float, figures.values())) > 10
    elif bug == "dead-relu":
        assert [name for name, positive in figures.items() if positive == "0"]
        assert [name for name, positive in figures.items() if positive != "0"]
