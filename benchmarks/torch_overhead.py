"""What the debugger costs a PyTorch training that runs free, watched or not, beside PyTorch's own detect_anomaly, and
beside a dispatch mode that does nothing.

Two processes train by turns: one plain, one real and attached to a real server. What is watched is set anew for each
turn of the attached one, so that all but the first ratio are of one process: two that do the same differ by some
percent for as long as they live. Ratios are medians over rounds, in processor time of the training process: running
free to the plain process, all others to running free. Ends with status 1 where a budget is missed.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import stepscope
from stepscope.testing.server import ServerThread

SCRIPT = Path(__file__).with_name("torch_trainings.py")
ROUNDS = 15
STEPS = {"cnn": 40, "gpt": 4}  # of a turn
WARM_UP = 3
BUDGETS = {("cnn", "free"): 1.02, ("gpt", "free"): 1.02, ("gpt", "nan"): 1.15, ("gpt", "recommended"): 1.35}
Seconds = dict[str, float]


class Training:
    """A process; unless it runs alone, with a server of its own, and its job."""

    def __init__(self, which: str, folder: Path | None = None) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("STEPSCOPE_")}
        self._open = ExitStack()
        if folder is not None:
            server = self._open.enter_context(ServerThread(folder))
            host, _, port = server.debugger_address.rpartition(":")
            environment.update(STEPSCOPE_ENABLE="1", STEPSCOPE_HOST=host, STEPSCOPE_PORT=port)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen([sys.executable, str(SCRIPT), which], env=environment, text=True, **pipes)
        self._open.callback(self.process.kill)
        self.ask(WARM_UP)
        if folder is not None:
            self.url = server.url
            self.job = stepscope.connect(server.url).wait_for_job(timeout=180)
            self.job.wait(timeout=180)
            self.job.resume()
        self._answer()

    def turn(self, steps: int, on: str = "nothing") -> Seconds:
        self.ask(steps, on)
        return self._answer()

    def watch(self, what: str) -> None:
        """From the next turn on."""
        for watchpoint in self.job.watchpoints():
            watchpoint.delete()
        if what == "nan":
            self.job.watch("tensor_overflow")
        elif what == "recommended":
            self.job.use_recommended()
        self.turn(WARM_UP)

    def ask(self, steps: int, on: str = "nothing") -> None:
        assert self.process.stdin is not None
        print(steps, on, file=self.process.stdin, flush=True)

    def _answer(self) -> Seconds:
        assert self.process.stdout is not None
        answer: Seconds = json.loads(self.process.stdout.readline())
        return answer

    def __enter__(self) -> Training:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()


def measure(which: str) -> dict[str, float]:
    """The ratio of each variant."""
    steps = STEPS[which]
    rounds: list[dict[str, Seconds]] = []
    with tempfile.TemporaryDirectory() as folder, Training(which) as plain, Training(which, Path(folder)) as attached:
        for _ in range(ROUNDS):
            one = {
                "plain": plain.turn(steps),
                "free": attached.turn(steps),
                "anomaly": attached.turn(steps, "anomaly"),
                "mode": attached.turn(steps, "mode"),
            }
            for variant in ("nan", "recommended", ""):
                attached.watch(variant)
                if variant:
                    one[variant] = attached.turn(steps)
            rounds.append(one)
        hits = attached.job.hits()
    assert not hits, f"something was hit: {hits[:3]}"
    ratios = {}
    for variant in rounds[0]:
        base = "plain" if variant == "free" else "free"
        of = [one[variant]["processor"] / one[base]["processor"] for one in rounds]
        ratios[variant] = statistics.median(of)
        low, _, high = statistics.quantiles(of, n=4)
        took = statistics.median(one[variant]["processor"] for one in rounds) / steps * 1e3
        wall = statistics.median(one[variant]["wall"] / one[base]["wall"] for one in rounds)
        print(
            f"       {which} {variant:<12} {took:7.1f} ms a step: {ratios[variant]:.3f} of {base}"
            f"   (quartiles {low:.3f} to {high:.3f}; wall {wall:.3f})"
        )
    return ratios


def main(asked: list[str]) -> int:
    missed = 0
    for which in asked or list(STEPS):
        ratios = measure(which)
        budgets = {variant: budget for (of, variant), budget in BUDGETS.items() if of == which}
        budgets["nan"] = min(budgets.get("nan", ratios["anomaly"]), ratios["anomaly"])
        for variant, budget in budgets.items():
            word = "ok    " if ratios[variant] <= budget else "MISSED"
            missed += ratios[variant] > budget
            print(f"{word} {which} {variant:<12} {ratios[variant]:.3f} of {budget:.3f}")
    print(f"{missed} budgets missed; load {os.getloadavg()[0]:.1f}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
