"""What the MindSpore benchmarks share: starting a training, alone or attached."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import stepscope
from stepscope.client import Job
from stepscope.testing.server import ServerThread

SCRIPT = Path(__file__).with_name("mindspore_trainings.py")


def start(which: str, steps: int, warm_up: int, **variables: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(SCRIPT), which, str(steps), str(warm_up)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("STEPSCOPE_")}
    return subprocess.Popen(
        command, env={**environment, **variables}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


def attach(server: ServerThread, which: str, steps: int, warm_up: int) -> tuple[subprocess.Popen[str], Job]:
    """The training, and its job, paused before the first step."""
    host, _, port = server.debugger_address.rpartition(":")
    process = start(which, steps, warm_up, STEPSCOPE_ENABLE="1", STEPSCOPE_HOST=host, STEPSCOPE_PORT=port)
    job = stepscope.connect(server.url).wait_for_job(timeout=180)
    job.wait(timeout=180)
    return process, job


def step_seconds(process: subprocess.Popen[str]) -> list[float]:
    out, _ = process.communicate()
    seconds: list[float] = json.loads(out.splitlines()[-1])["seconds"]
    return seconds
