"""Entry point: picks the command out of the table, and turns what goes wrong into one line and an exit status."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import stepscope
from stepscope.cli import check, demo, doctor, run, start, status, stop
from stepscope.cli.command import USAGE, Command, Failure, Parser
from stepscope.cli.script import split
from stepscope.core.errors import StepscopeError

COMMANDS: tuple[Command, ...] = (
    start.COMMAND, run.COMMAND, check.COMMAND, status.COMMAND, stop.COMMAND, demo.COMMAND, doctor.COMMAND,
)  # fmt: skip
SCRIPTS = {run.COMMAND.name: run.FLAGS, check.COMMAND.name: check.FLAGS}  # the commands that a script stands behind


def build_parser() -> Parser:
    parser = Parser(
        prog="stepscope",
        description="The debugger for training neural networks.",
        epilog="example: stepscope run python train.py",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"stepscope {stepscope.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for command in COMMANDS:
        own = commands.add_parser(
            command.name,
            help=command.summary,
            description=command.summary,
            epilog=f"example: {command.example}",
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
            allow_abbrev=False,
        )
        command.add_options(own)
        own.set_defaults(run=command.run, parser=own)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    prefix = "stepscope"
    try:
        parser = build_parser()
        words, script = split(words, SCRIPTS)
        options = parser.parse_args(words)
        if options.command is None:
            names = ", ".join(command.name for command in COMMANDS)
            raise Failure(f"which command? {names} (see stepscope --help)", USAGE)
        prefix = f"stepscope {options.command}"
        options.script = script
        return int(options.run(options))
    except Failure as failure:
        print(f"{prefix}: {failure}", file=sys.stderr)
        return failure.status
    except StepscopeError as error:
        print(f"{prefix}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # as in `stepscope status | head`; the interpreter must not try to flush again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
