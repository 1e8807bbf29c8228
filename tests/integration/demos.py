"""The demo as tests see it: its script alone, and what it prints under the debugger."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache

import pytest
from command_line import SECONDS

from stepscope.demo import script


@cache
def train(framework: str, bug: str) -> tuple[list[float], float]:
    """The loss of each step, and the accuracy at the end, without any debugger."""
    kept = {name: value for name, value in os.environ.items() if "STEPSCOPE" not in name and "MS_DEB" not in name}
    done = subprocess.run(
        [sys.executable, str(script(framework)), "--bug", bug],
        env=kept, capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    losses = [float(text) for text in re.findall(r"step \d+: loss (\S+)", done.stdout)]
    assert len(losses) == 4 * 46
    accuracy = re.search(r"accuracy .*: ([\d.]+)%", done.stdout)
    assert accuracy is not None
    return losses, float(accuracy[1])


def printed_by(process: subprocess.Popen[str]) -> list[str]:
    """What is printed up to the end of the code that looks at the fault."""
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if not lines[-1] and "  import stepscope" in lines:
            return lines
    raise AssertionError("\n".join([*lines, process.communicate()[1]]))


def typed(lines: list[str], capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Types what the demo says one could type; returns what that prints."""
    start = lines.index("  import stepscope")
    capsys.readouterr()
    exec("\n".join(line[2:] for line in lines[start:]), {})
    return capsys.readouterr().out.splitlines()
