"""What `stepscope check` has found, as data, as text, as JSON; `report_html` makes a page of it."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import stepscope
from stepscope.cli.place import Place, chain, place
from stepscope.core.watch.conditions import CONDITIONS
from stepscope.core.watch.words import ERRORS

if TYPE_CHECKING:
    from stepscope.client import Job, Watchpoint
    from stepscope.client.watchpoints import Hit

Outcome = Literal["", "hit", "not_evaluated", "no_hit", "could_not_run"]
FORMAT = 1  # of the JSON; rises when something in it changes its meaning
_LISTED = 500  # findings in a report
_TRACED = 50  # tensors of which it says where they come from
_SHOWN = 10  # findings in the terminal


@dataclass(frozen=True)
class Finding:
    """A hit or, with `reasons`, a tensor that a condition could say nothing about.

    `chain`: from where it begins to this tensor, each reading the one before; this tensor alone where it begins here.
    """

    step: int
    place: Place
    condition: str
    abbreviation: str
    name: str  # of the watchpoint
    params: list[dict[str, Any]]  # name, value, hit, actual
    reasons: list[str]
    chain: list[Place]


@dataclass(frozen=True)
class Watched:
    """A watchpoint, and on how many nodes it was."""

    condition: str
    name: str
    parameters: dict[str, float]
    nodes: int


@dataclass
class Training:
    """One training process of the script. `found` counts all findings, of which the first are listed."""

    title: str
    framework: str
    rank: int
    rank_count: int
    steps: int = 0
    watchpoints: list[Watched] = field(default_factory=list)
    found: int = 0
    findings: list[Finding] = field(default_factory=list)
    skipped_updates: int = 0  # steps whose update a gradient scaler left out

    @classmethod
    def of(cls, info: dict[str, Any], watchpoints: Sequence[Watchpoint]) -> Training:
        watched = [Watched(one.condition, one.name, one.parameters, one.watched) for one in watchpoints]
        framework = f"{info['framework']} {info['framework_version']}"
        return cls(info["title"], framework, info["rank"], info["rank_count"], watchpoints=watched)


@dataclass
class Report:
    """`outcome` is "" until `end`, and what was said first stays."""

    command: list[str]
    outcome: Outcome = ""
    message: str = ""
    trainings: list[Training] = field(default_factory=list)
    started_at: float = field(default_factory=time.time)
    seconds: float = 0.0

    def end(self, outcome: Outcome, message: str) -> None:
        if not self.outcome:
            self.outcome, self.message = outcome, message
            self.seconds = round(time.time() - self.started_at, 3)


def findings(job: Job, step: int) -> tuple[list[Finding], int]:
    """What the last check of a paused job found, in the order of execution, and how many it were."""
    hits = job.hits()
    if any(not hit.error or hit.error - {"no_previous"} for hit in hits):
        hits = [hit for hit in hits if hit.error != {"no_previous"}]  # they are no reason to stop
    result: list[Finding] = []
    traced: dict[tuple[str, str, int, bool], list[Place]] = {}
    for hit in hits[:_LISTED]:
        key = (hit.graph, hit.node, hit.slot, CONDITIONS[hit.condition].needs_previous)
        if key not in traced and len(traced) < _TRACED:
            traced[key] = chain(job, hit)
        result.append(_finding(job, hit, step, traced.get(key, [])))
    return result, len(hits)


def _finding(job: Job, hit: Hit, step: int, way: list[Place]) -> Finding:
    here = way[-1] if way else place(job, hit)
    return Finding(
        step=step,
        place=here,
        condition=hit.condition,
        abbreviation=CONDITIONS[hit.condition].abbreviation,
        name=hit.watchpoint_name,
        params=[one._asdict() for one in hit.params],
        reasons=[ERRORS[one].en for one in ERRORS if one in hit.error],
        chain=way,
    )


# ---------------------------------------------------------------- text


def summary(report: Report) -> str:
    """What is printed in the terminal: the outcome and the first tensors that were found."""
    lines = [f"stepscope check: {report.message}"]
    for training in report.trainings:
        if training.findings and (training.rank_count > 1 or len(report.trainings) > 1):
            lines += ["", f"{training.title}, rank {training.rank}:"]
        if training.skipped_updates:
            lines += ["", f"  {skipped(training)}"]
        by_tensor: dict[Place, list[Finding]] = {}
        for finding in training.findings:
            by_tensor.setdefault(finding.place, []).append(finding)
        for number, (tensor, its) in enumerate(list(by_tensor.items())[:_SHOWN], 1):
            lines += ["", *_lines(number, tensor, its)]
        shown = sum(len(its) for its in list(by_tensor.values())[:_SHOWN])
        if training.found > shown:
            lines += ["", f"  … and {training.found - shown} more findings; --report FILE.html lists them"]
    return "\n".join(lines)


def skipped(training: Training) -> str:
    count = training.skipped_updates
    which = "the update of one step" if count == 1 else f"the updates of {count} steps"
    return f"the gradient scaler left out {which}: gradients were not finite"


def _lines(number: int, where: Place, its: Sequence[Finding]) -> list[str]:
    lines = [f"  {number}. {where.node}, output {where.slot}"]
    if where.source:
        lines.append(f"     {where.source.file}:{where.source.line}: {where.source.text}".rstrip(": "))
    for finding in its:
        name = f" {finding.name!r}" if finding.name else ""
        said = f"not evaluated: {'; '.join(finding.reasons)}"
        if not finding.reasons:
            said = ", ".join(values(one) for one in finding.params if one["hit"] or one["actual"] is not None)
        lines.append(f"     {finding.condition}{name}{': ' if said else ''}{said}")
    if chain := next((one.chain for one in its if len(one.chain) > 1), None):
        before = len(chain) - 1
        lines.append(f"     it begins at {chain[0].node}, {before} node{'s' if before > 1 else ''} before")
    return lines


def values(param: dict[str, Any]) -> str:
    """ "max_gt=1 (actual 5)"."""
    actual = "" if param["actual"] is None else f" (actual {param['actual']:g})"
    return f"{param['name']}={param['value']:g}{actual}"


# ---------------------------------------------------------------- files


def write(report: Report, path: Path) -> None:
    """As JSON or HTML, by the name."""
    if path.suffix == ".html":
        from stepscope.cli.report_html import page

        text = page(report)
    else:
        text = json.dumps(document(report), indent=1, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8")


def document(report: Report) -> dict[str, Any]:
    """What JSON can say: NaN and infinities are "nan", "inf", "-inf", as in the web API."""
    head = {"format": FORMAT, "stepscope": stepscope.__version__}
    result: dict[str, Any] = _plain(head | asdict(report))
    return result


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value
