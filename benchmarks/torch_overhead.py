"""What the debugger costs a PyTorch training that runs free, watched or not, beside PyTorch's own detect_anomaly.

Each variant is a process of its own, real and attached to a real server; they run rounds of steps by turns. A ratio is
the median of those of the rounds, each to the plain training in the same round, in processor time of the training
process. Ends with status 1 where a budget is missed.
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
STEPS = {"cnn": 40, "gpt": 4}  # of a round
WARM_UP = 4
VARIANTS = ("plain", "anomaly", "free", "nan", "recommended")
BUDGETS = {("cnn", "free"): 1.02, ("gpt", "free"): 1.02, ("gpt", "nan"): 1.15, ("gpt", "recommended"): 1.35}


class Training:
    """One variant: a process, and unless it runs alone a server of its own."""

    def __init__(self, which: str, variant: str, folder: Path) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("STEPSCOPE_")}
        attached = variant not in ("plain", "anomaly")
        self._open = ExitStack()
        if attached:
            server = self._open.enter_context(ServerThread(folder / variant))
            host, _, port = server.debugger_address.rpartition(":")
            environment.update(STEPSCOPE_ENABLE="1", STEPSCOPE_HOST=host, STEPSCOPE_PORT=port)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        command = [sys.executable, str(SCRIPT), which, variant]
        self.process = subprocess.Popen(command, env=environment, text=True, **pipes)
        if attached:
            self.url = server.url
            self.ask(WARM_UP)
            self.job = stepscope.connect(server.url).wait_for_job(timeout=180)
            self.job.wait(timeout=180)
            if variant == "nan":
                self.job.watch("tensor_overflow")
            elif variant == "recommended":
                self.job.use_recommended()
            self.job.resume()
            self._answer()
        else:
            self.round(WARM_UP)

    def round(self, steps: int) -> dict[str, float]:
        self.ask(steps)
        return self._answer()

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(60)
        self._open.close()

    def ask(self, steps: int) -> None:
        assert self.process.stdin is not None
        print(steps, file=self.process.stdin, flush=True)

    def _answer(self) -> dict[str, float]:
        assert self.process.stdout is not None
        answer: dict[str, float] = json.loads(self.process.stdout.readline())
        return answer


def measure(which: str, variants: tuple[str, ...]) -> dict[str, float]:
    """The ratio of each variant."""
    trainings = {}
    with tempfile.TemporaryDirectory() as folder:
        for variant in variants:
            trainings[variant] = Training(which, variant, Path(folder))
        rounds = []
        for number in range(ROUNDS):  # whoever goes first changes
            order = variants[number % len(variants) :] + variants[: number % len(variants)]
            rounds.append({variant: trainings[variant].round(STEPS[which]) for variant in order})
        for training in trainings.values():
            training.end()
    assert len({round["plain"]["loss"] for round in rounds}) > 1, "it doesn't train"
    for each in rounds:
        assert len({one["loss"] for one in each.values()}) == 1, f"the losses differ: {each}"
    ratios = {}
    for variant in variants:
        by_clock = {
            clock: [one[variant][clock] / one["plain"][clock] for one in rounds] for clock in ("processor", "wall")
        }
        took = statistics.median(one[variant]["processor"] for one in rounds) / STEPS[which] * 1e3
        ratios[variant], wall = (statistics.median(values) for values in by_clock.values())
        low, *_, high = statistics.quantiles(by_clock["processor"], n=4)
        print(
            f"       {which} {variant:<12} {took:7.1f} ms a step: {ratios[variant]:.3f}"
            f"   (quartiles {low:.3f} to {high:.3f}; wall {wall:.3f})"
        )
    return ratios


def main(asked: list[str]) -> int:
    missed = 0
    for which in ("cnn", "gpt"):
        if asked and which not in asked:
            continue
        variants = tuple(one for one in VARIANTS if one == "plain" or not set(VARIANTS) & set(asked) or one in asked)
        ratios = measure(which, variants)
        budgets = {variant: budget for (of, variant), budget in BUDGETS.items() if of == which}
        if "anomaly" in ratios:
            budgets["nan"] = min(budgets.get("nan", 9), ratios["anomaly"])
        for variant, budget in budgets.items():
            if variant in ratios:
                missed += ratios[variant] > budget
                word = "ok    " if ratios[variant] <= budget else "MISSED"
                print(f"{word} {which} {variant:<12} {ratios[variant]:.3f} of {budget:.3f}")
    print(f"{missed} budgets missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
