"""The demo with the real MindSpore: each planted fault does what it is said to do, and can be seen as it is said."""

from __future__ import annotations

import math
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from command_line import SECONDS, CommandLine

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


@cache
def train(bug: str) -> tuple[list[float], float]:
    """The loss of each step, and the accuracy at the end."""
    kept = {name: value for name, value in os.environ.items() if "STEPSCOPE" not in name and "MS_DEB" not in name}
    done = subprocess.run(
        [sys.executable, str(script("mindspore")), "--bug", bug],
        env=kept, capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    losses = [float(text) for text in re.findall(r"step \d+: loss (\S+)", done.stdout)]
    assert len(losses) == 4 * 46
    accuracy = re.search(r"accuracy .*: ([\d.]+)%", done.stdout)
    assert accuracy is not None
    return losses, float(accuracy[1])


@pytest.mark.mindspore
def test_without_a_fault_it_learns():
    losses, accuracy = train("none")
    assert losses[0] > 2.2
    assert np.mean(losses[-20:]) < 0.3
    assert accuracy > 90


@pytest.mark.mindspore
def test_nan_comes_after_some_tens_of_steps():
    losses, accuracy = train("nan")
    first = next(step for step, loss in enumerate(losses, 1) if math.isnan(loss))
    assert 15 <= first <= 60
    assert np.allclose(losses[:10], train("none")[0][:10], atol=0.01), "until then the formula is right"
    assert losses[first - 2] < 1.5
    assert all(map(math.isnan, losses[first - 1 :]))
    assert accuracy < 20


@pytest.mark.mindspore
def test_a_frozen_layer_lets_it_learn_all_the_same():
    losses, accuracy = train("frozen")
    assert 70 < accuracy < train("none")[1]
    assert np.mean(losses[-20:]) > np.mean(train("none")[0][-20:])


@pytest.mark.mindspore
def test_exploding():
    losses, accuracy = train("exploding")
    assert losses[0] < 2.5
    assert max(losses[:10]) > 1000
    assert accuracy < 25


@pytest.mark.mindspore
def test_a_dead_relu_learns_nothing():
    losses, accuracy = train("dead-relu")
    assert min(losses) > 2.1
    assert max(losses) < 2.5
    assert accuracy < 25


# ---------------------------------------------------------------- under the debugger


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[CommandLine]:
    command_line = CommandLine(tmp_path / "workspace")
    yield command_line
    command_line.stop()


def read(process: subprocess.Popen[str]) -> list[str]:
    """What is printed up to the end of the code that looks at the fault."""
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if not lines[-1] and "  import stepscope" in lines:
            return lines
    raise AssertionError("\n".join([*lines, process.communicate()[1]]))


def look(lines: list[str], capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Types what the demo says one could type; returns what that prints."""
    start = lines.index("  import stepscope")
    capsys.readouterr()
    exec("\n".join(line[2:] for line in lines[start:]), {})
    return capsys.readouterr().out.splitlines()


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
    lines = read(process)
    assert f"  page   {demo.url}/" in lines
    printed = look(lines, capsys)
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
