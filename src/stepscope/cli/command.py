"""What a command is, and the types that options share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

USAGE = 2  # exit status for what the user typed; anything else that fails is 1


class Failure(Exception):
    """Ends the command with one line on stderr and an exit status."""

    def __init__(self, message: str, status: int = 1):
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Command:
    """`add_options` fills the command's parser; `run` returns the exit status. Neither imports much before it must."""

    name: str
    summary: str
    example: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


class Parser(argparse.ArgumentParser):
    """Tells of a mistake in one line."""

    def error(self, message: str) -> NoReturn:
        raise Failure(f"{message} (see {self.prog} --help)", USAGE)


def port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: 1 to 65535 are")
    return int(text)


def boolean(text: str) -> bool:
    values = {"true": True, "1": True, "false": False, "0": False}
    if text.lower() not in values:
        raise argparse.ArgumentTypeError(f"{text!r} is neither True, False, 1 nor 0")
    return values[text.lower()]


def say(line: str) -> None:
    """One line that is not the command's result, on stderr."""
    print(f"stepscope: {line}", file=sys.stderr, flush=True)
