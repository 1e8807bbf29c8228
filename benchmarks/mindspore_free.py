"""What the debugger costs a training that runs free: steps of LeNet, attached and not, in turn.

Budget: the median of the ratios, pair by pair, is at most 1.05. Needs MindSpore.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from mindspore_common import attach, start, step_seconds

from stepscope.testing.server import ServerThread

PAIRS = 9
STEPS, WARM_UP = 400, 50


def alone() -> float:
    return statistics.median(step_seconds(start("lenet", STEPS, WARM_UP)))


def attached(server: ServerThread) -> float:
    process, job = attach(server, "lenet", STEPS, WARM_UP)
    job.resume()
    return statistics.median(step_seconds(process))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, ServerThread(Path(folder)) as server:
        ratios = []
        for pair in range(PAIRS):
            if pair % 2:  # whoever goes first has the cooler machine: take turns
                with_us, without = attached(server), alone()
            else:
                without, with_us = alone(), attached(server)
            ratios.append(with_us / without)
            milliseconds = f"{without * 1000:6.3f} ms alone, {with_us * 1000:6.3f} ms attached"
            print(f"pair {pair + 1}: {milliseconds}: {ratios[-1]:.3f}")
        print(f"running free, attached / alone: median {statistics.median(ratios):.3f} (budget 1.05)")


if __name__ == "__main__":
    main()
