"""What the road costs: a Python client steps LeNet 200 times, against MindSpore recording the same steps by itself.

"By itself" is MindSpore's own dump of every step, without stepscope. Budget: at most 3 times its time, and at most
10 ms a step more. Needs MindSpore.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from pathlib import Path

from mindspore_common import attach, start, step_seconds

from stepscope.probe.data_folder import DataFolder
from stepscope.testing.server import ServerThread

STEPS, WARM_UP, ROUNDS = 200, 10, 3


def recorded_alone() -> float:
    """Seconds a step, MindSpore's dump on for all of them."""
    place = DataFolder()
    common = {
        "op_debug_mode": 0, "dump_mode": 0, "path": str(place.path), "net_name": "net", "iteration": "all",
        "saved_data": "tensor", "input_output": 0, "kernels": [], "support_device": [0],
    }  # fmt: skip
    configuration = place.path / "own.json"
    configuration.write_text(
        json.dumps({"common_dump_settings": common, "e2e_dump_settings": {"enable": True, "trans_flag": True}})
    )
    seconds = step_seconds(start("lenet", STEPS, WARM_UP, MINDSPORE_DUMP_CONFIG=str(configuration)))
    place.remove()
    return sum(seconds) / STEPS


def stepped(server: ServerThread) -> float:
    """Seconds a step, each asked for by a client that waits for the pause after it."""
    process, job = attach(server, "lenet", STEPS + WARM_UP, 0)
    for number in range(WARM_UP + STEPS):
        if number == WARM_UP:
            began = time.perf_counter()
        job.run(steps=1)
        job.wait(timeout=60)
    seconds = (time.perf_counter() - began) / STEPS
    job.resume()
    process.communicate()
    return seconds


def main() -> None:
    ratios, extra = [], []
    with tempfile.TemporaryDirectory() as folder, ServerThread(Path(folder)) as server:
        for number in range(ROUNDS):
            alone, ours = recorded_alone(), stepped(server)
            ratios.append(ours / alone)
            extra.append((ours - alone) * 1000)
            print(
                f"round {number + 1}: recorded alone {alone * 1000:.1f} ms a step, stepped by a client "
                f"{ours * 1000:.1f} ms: {ratios[-1]:.2f}, {extra[-1]:+.1f} ms a step"
            )
    print(f"stepping / recording alone: median {statistics.median(ratios):.2f} (budget 3)")
    print(f"the road: median {statistics.median(extra):+.1f} ms a step (budget 10)")


if __name__ == "__main__":
    main()
