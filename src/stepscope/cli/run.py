"""`stepscope run`: a script under the debugger, in one command."""

from __future__ import annotations

import argparse

from stepscope.cli.browser import open_page
from stepscope.cli.command import Command, say
from stepscope.cli.script import check_hook, resolve, run_script
from stepscope.cli.server import add_server_options, command, find_or_start, page, training_environment

STEP_UNITS = ("run", "optimizer", "forward", "optimizer:CLASS")
FLAGS = ("-h", "--help", "--open", "--no-open")  # all other options take a value


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.usage = "stepscope run [options] [--] python train.py ..."
    add_server_options(parser)
    parser.add_argument(
        "--step-unit",
        type=step_unit,
        metavar="UNIT",
        default=argparse.SUPPRESS,
        help="what counts as a step: run (the default: each run of a graph or, in PyTorch, each turn of the loop),"
        " optimizer (each update of the weights), optimizer:CLASS (of one of several optimizers, by its class), forward"
        " (each forward pass, for a script that only infers)",
    )


def step_unit(text: str) -> str:
    if text not in STEP_UNITS[:3] and not (text.startswith("optimizer:") and text.partition(":")[2].isidentifier()):
        raise argparse.ArgumentTypeError(f"{text!r} is no unit of steps: {', '.join(STEP_UNITS)} are")
    return text


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
