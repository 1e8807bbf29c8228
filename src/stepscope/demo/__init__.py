"""The demo: a real training with a planted fault, to be found with the debugger.

`digits.npz` has 1,797 real handwritten digits: `images`, uint8 (1797, 8, 8) of 0 to 16, and `labels`, uint8 (1797,).
They are the test set of "Optical Recognition of Handwritten Digits" by E. Alpaydin and C. Kaynak, UCI Machine Learning
Repository, CC BY 4.0.

The scripts import nothing of stepscope: they are what a user has.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Bug:
    """A planted fault; `look` are lines of Python that show it with the paused `job`.

    In them {log}, {relu} and {conv} stand for patterns of nodes that each framework has its own names for.
    """

    what: str
    look: tuple[str, ...]

    def lines(self, framework: str) -> list[str]:
        """`look` for a framework."""
        return [line.format(**_PATTERNS[framework]) for line in self.look]


_PATTERNS = {
    "mindspore": {"log": "*Log-op*", "relu": "*ReLU-op*", "conv": "conv*"},
    "torch": {"log": "*/aten.log", "relu": "*/aten.relu*", "conv": "*.conv*"},
}


BUGS = {
    "none": Bug(
        "it learns",
        ("job.run(steps=9); job.wait()", "print(job.step, job.info['loss'])"),
    ),
    "nan": Bug(
        "the loss becomes NaN after some tens of steps",
        (
            "while job.info['loss'] != 'nan':",
            "    job.run(steps=1); job.wait()",
            "log = job.nodes('{log}')[0]",
            "print(job.stats(log, input=0).zero_count, job.stats(log).negative_inf_count)  # log(0) = -inf",
        ),
    ),
    "frozen": Bug(
        "it learns, but one layer stays as it was made",
        (
            "for weight in job.nodes('{conv}', category='parameter'):",
            "    print(weight, job.compare(weight).changed_count)  # 0: was not changed by this step",
        ),
    ),
    "exploding": Bug(
        "weights and gradients explode within a few steps",
        (
            "job.run(steps=2); job.wait()",
            "for weight in job.nodes(category='weight'):",
            "    print(weight, job.stats(weight).abs_mean)",
        ),
    ),
    "dead-relu": Bug(
        "it does not learn: nothing comes through one ReLU",
        (
            "for relu in job.nodes('{relu}', category='activation'):",
            "    print(relu, job.stats(relu).positive_count)  # 0: dead",
        ),
    ),
}


def script(framework: str) -> Path | None:
    """The training script for a framework; None where there is none yet."""
    path = Path(__file__).with_name(f"{framework}_train.py")
    return path if path.exists() else None
