"""What the debugger costs a training that runs free: steps of LeNet, attached and not, in turn.

Budget: the median of the ratios, pair by pair, is at most 1.05. Needs MindSpore.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import stepscope
from stepscope.testing.server import ServerThread

PAIRS = 9
STEPS, WARM_UP = 300, 50
SCRIPT = Path(__file__).with_name("lenet_training.py")


def start(**variables: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(SCRIPT), str(STEPS), str(WARM_UP)]
    return subprocess.Popen(
        command, env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


def median_step(process: subprocess.Popen[str]) -> float:
    out, _ = process.communicate()
    return statistics.median(json.loads(out.splitlines()[-1])["seconds"])


def attached(server: ServerThread) -> float:
    host, _, port = server.debugger_address.rpartition(":")
    process = start(STEPSCOPE_ENABLE="1", STEPSCOPE_HOST=host, STEPSCOPE_PORT=port)
    job = stepscope.connect(server.url).wait_for_job(timeout=120)
    job.wait(timeout=120)
    job.resume()
    return median_step(process)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, ServerThread(Path(folder)) as server:
        ratios = []
        for pair in range(PAIRS):
            # Whoever goes first has the cooler machine: take turns.
            first = attached(server) if pair % 2 else median_step(start())
            second = median_step(start()) if pair % 2 else attached(server)
            with_us, without = (first, second) if pair % 2 else (second, first)
            ratios.append(with_us / without)
            milliseconds = f"{without * 1000:6.3f} ms alone, {with_us * 1000:6.3f} ms attached"
            print(f"pair {pair + 1}: {milliseconds}: {ratios[-1]:.3f}")
        print(f"running free, attached / alone: median {statistics.median(ratios):.3f} (budget 1.05)")


if __name__ == "__main__":
    main()
