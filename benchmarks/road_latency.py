"""How much the road adds to a step: command over HTTP, over gRPC to the agent, its report back, end of the long poll.

    python benchmarks/road_latency.py [steps]

A real server and a real gRPC agent in this process, each in a thread; the agent's steps are empty, so that what is left
is the road. Prints the median and the 95th percentile.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import stepscope
from stepscope.core.ports import Command, State
from stepscope.testing.agent import FakeAgent
from stepscope.testing.server import ServerThread
from stepscope.testing.source import FakeSource


class EmptySteps(FakeSource):
    """Steps that do nothing."""

    async def command(self, command: Command) -> None:
        step = self.last.step + command.steps
        self.last = replace(self.last, state=State.PAUSED, reason="step", step=step, command_sequence=command.sequence)
        self.on_report(self.last)


def main() -> None:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    with (
        tempfile.TemporaryDirectory() as workspace,
        ServerThread(Path(workspace)) as server,
        FakeAgent(server.debugger_address, EmptySteps()),
        stepscope.connect(server.url) as debugger,
    ):
        job = debugger.wait_for_job(10)
        seconds = []
        for _ in range(steps + 20):
            start = time.perf_counter()
            job.run()
            job.wait(10)
            seconds.append(time.perf_counter() - start)
        del seconds[:20]  # warm-up
        assert job.step == steps + 20
    milliseconds = sorted(1000 * one for one in seconds)
    median, late = statistics.median(milliseconds), milliseconds[int(0.95 * len(milliseconds))]
    print(f"{steps} empty steps: median {median:.2f} ms, 95th percentile {late:.2f} ms")


if __name__ == "__main__":
    main()
