"""`stepscope check`: a script under watchpoints, without a page and without a pause, for CI and batch systems."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import NamedTuple

from stepscope.cli.command import USAGE, Command, Failure, say
from stepscope.cli.script import check_hook, resolve, run_script
from stepscope.cli.server import training_environment

FLAGS = ("-h", "--help", "--recommended")  # all other options take a value
NO_HIT, HIT, COULD_NOT_RUN = 0, 1, 2
_LOST_WAIT = "10"  # seconds that a paused training waits for us if we were killed


class Wish(NamedTuple):
    """A watchpoint as it was asked for. `pattern`: a part of a node's name, or a glob; "" for the condition's own set
    of nodes."""

    text: str
    condition: str
    parameters: dict[str, float]
    pattern: str = ""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.usage = "stepscope check [options] [--] python train.py ..."
    parser.epilog = (
        f"{parser.epilog or ''}. "
        "Exit status: 0 no hit, 1 a hit or a tensor that could not be evaluated, 2 the check could not be made."
    )
    parser.add_argument(
        "--watch", metavar="COND[:param=value,...][@PATTERN]", type=wish, action="append", default=argparse.SUPPRESS,
        help="a condition by name or abbreviation (see docs/watchpoints.md), its thresholds, and a part of the names of"
        " the nodes or a glob, such as TL:abs_mean_gt=1e3@*fc1*; can be given several times",
    )  # fmt: skip
    parser.add_argument(
        "--recommended", action="store_true", default=argparse.SUPPRESS,
        help="the recommended watchpoints; also if no --watch is given",
    )  # fmt: skip
    parser.add_argument(
        "--steps", type=_steps, metavar="N", default=argparse.SUPPRESS,
        help="end the training after so many (default: let it come to its end)",
    )  # fmt: skip
    parser.add_argument(
        "--report", type=_report, metavar="FILE.json|.html", default=argparse.SUPPRESS, help="what was found, as a file"
    )


def wish(text: str) -> Wish:
    """What a `--watch` asks for."""
    from stepscope.core.watch.conditions import CONDITIONS
    from stepscope.core.watch.validate import InvalidParameter, validate

    what, at, pattern = text.partition("@")
    name, colon, values = what.partition(":")
    by_abbreviation = {condition.abbreviation: condition.id for condition in CONDITIONS.values()}
    condition = by_abbreviation.get(name.upper(), name)
    parameters: dict[str, str] = {}
    for each in values.split(",") if colon else ():
        parameter, equals, value = (part.strip() for part in each.partition("="))
        if not equals or not parameter:
            raise argparse.ArgumentTypeError(f"{each!r} in {text!r} is not param=value")
        if parameter in parameters:
            raise argparse.ArgumentTypeError(f"{parameter} is given twice in {text!r}")
        parameters[parameter] = value
    if at and not pattern:
        raise argparse.ArgumentTypeError(f"there is no PATTERN behind the @ of {text!r}")
    try:
        return Wish(text, condition, validate(condition, parameters), pattern)
    except InvalidParameter as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _steps(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) < 2**31):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of steps: 1 or more are")
    return int(text)


def _report(text: str) -> Path:
    path = Path(text)
    if path.suffix not in (".json", ".html"):
        raise argparse.ArgumentTypeError(f"{text!r} ends with neither .json nor .html")
    return path


def run(options: argparse.Namespace) -> int:
    from stepscope.cli.checking import Checker
    from stepscope.cli.private import private_server
    from stepscope.cli.report import Report, summary, write

    wishes: list[Wish] = getattr(options, "watch", [])
    path: Path | None = getattr(options, "report", None)
    report = Report(command=list(options.script))
    try:
        script = resolve(options.script, COMMAND.name)
        _warn(wishes)
        if path is not None:
            _check_writable(path)
        check_hook(script)
        with private_server() as running:
            environment = training_environment(running)
            environment.setdefault("STEPSCOPE_LOST_WAIT", os.environ.get("STEPSCOPE_LOST_WAIT", _LOST_WAIT))
            recommended = hasattr(options, "recommended") or not wishes
            checker = Checker(running, wishes, recommended, getattr(options, "steps", None), report)
            status = run_script(script, environment, started=checker.start)
            checker.finish(status)
    except Failure as failure:
        raise Failure(str(failure), COULD_NOT_RUN) from None
    if path is not None:
        write(report, path)
    if report.outcome == "could_not_run":
        raise Failure(report.message, COULD_NOT_RUN)
    print(summary(report), flush=True)
    if path is not None:
        say(f"the report is in {path}")
    return NO_HIT if report.outcome == "no_hit" else HIT


def _warn(wishes: list[Wish]) -> None:
    from stepscope.core.watch.validate import warnings

    for each in wishes:
        for warned in warnings(each.condition, each.parameters):
            say(f"--watch {each.text}: {warned.message}")


def _check_writable(path: Path) -> None:
    """A training of hours must not end in a report that can't be written."""
    try:
        path.open("a").close()
    except OSError as error:
        raise Failure(f"--report {path} can't be written: {error.strerror}", USAGE) from None


COMMAND = Command(
    name="check",
    summary="Run a script under watchpoints, without a page, and end it at the first hit.",
    example="stepscope check --watch weight_too_large:abs_mean_gt=10 --report hits.html -- python train.py",
    add_options=add_options,
    run=run,
)
