"""What the recommended watchpoints cost: the check of one recorded step, and a run on which every step is checked.

The check is timed from the command to the hits, as a program sees it, on a transformer of 11 million parameters (about
1 GB of tensors a step). Budget: 0.5 s. The runs are LeNet's: watched, against MindSpore recording the same steps by
itself, and against the plain training. Needs MindSpore.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from mindspore_common import attach, start, step_seconds
from mindspore_stepping import recorded_alone

from stepscope.testing.server import ServerThread

CHECKS, STEPS, WARM_UP, ROUNDS = 9, 200, 10, 3


def check_seconds(server: ServerThread) -> list[float]:
    process, job = attach(server, "encoder", 4, 0)
    job.run(2)
    job.wait(timeout=120)
    job.use_recommended()
    seconds = []
    for _ in range(CHECKS):
        began = time.perf_counter()
        hits = job.recheck()
        seconds.append(time.perf_counter() - began)
    print(f"encoder: {len(job.nodes())} nodes, {len(job.watchpoints())} watchpoints, {len(hits)} hits")
    job.terminate()
    process.communicate()
    return seconds


def watched(server: ServerThread) -> float:
    """Seconds a step of a run that nothing stops."""
    process, job = attach(server, "lenet", STEPS, WARM_UP)
    job.use_recommended()
    job.resume()
    seconds = step_seconds(process)
    return sum(seconds) / len(seconds)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, ServerThread(Path(folder)) as server:
        seconds = check_seconds(server)
        print(
            f"check of a step: first {seconds[0]:.2f} s, then median {statistics.median(seconds[1:]):.2f} s "
            f"({min(seconds):.2f} to {max(seconds):.2f}; budget 0.5)"
        )
        ratios = []
        for number in range(ROUNDS):
            plain = statistics.mean(step_seconds(start("lenet", STEPS, WARM_UP)))
            recorded, ours = recorded_alone(), watched(server)
            ratios.append(ours / recorded)
            print(
                f"round {number + 1}: LeNet alone {plain * 1000:.1f} ms a step, recorded alone {recorded * 1000:.1f}, "
                f"watched {ours * 1000:.1f}: {ratios[-1]:.2f} of recording, {ours / plain:.1f} of the training"
            )
        print(f"watched / recorded: median {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
