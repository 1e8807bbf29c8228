"""`stepscope run`: a script under the debugger, in one command."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from stepscope.cli.browser import open_page
from stepscope.cli.command import Command, say
from stepscope.cli.script import check_hook, resolve, run_script
from stepscope.cli.server import add_server_options, command, find_or_start, page, training_environment

STEP_UNITS = ("run", "optimizer", "forward")
_FLAGS = ("-h", "--help", "--open", "--no-open")  # all other options take a value


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.usage = "stepscope run [options] [--] python train.py ..."
    add_server_options(parser)
    parser.add_argument(
        "--step-unit",
        choices=STEP_UNITS,
        default=argparse.SUPPRESS,
        help="what counts as a step: each run of a graph (the default), each update of the weights, each forward pass",
    )


def split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """What is meant for us, and the script's command line; only `run` has one. argparse can't be trusted with this:
    it would take the script's own options."""
    if not words or words[0] != COMMAND.name:
        return list(words), []
    end = 1
    while end < len(words) and words[end].startswith("-") and words[end] != "--":
        end += 1 if words[end] in _FLAGS or "=" in words[end] else 2
    return list(words[:end]), list(words[end + 1 :] if words[end : end + 1] == ["--"] else words[end:])


def run(options: argparse.Namespace) -> int:
    script = resolve(options.script)
    check_hook(script)
    running, new = find_or_start(options)
    environment = training_environment(running)
    if hasattr(options, "step_unit"):
        environment["STEPSCOPE_STEP_UNIT"] = options.step_unit
    address = page(running)
    say(f"{'started a server' if new else 'the server is'} at {address}")
    status = run_script(script, environment, started=lambda: open_page(options, address))
    stay = f"; the server stays for review, end it with: {command('stop', options.workspace)}" if new else ""
    say(f"the script ended with status {status}{stay}")
    return status


COMMAND = Command(
    name="run",
    summary="Run a script under the debugger, starting a server unless one is there; ends with the script's status.",
    example="stepscope run --port 8080 -- python train.py --epochs 3",
    add_options=add_options,
    run=run,
)
