"""`stepscope status`: the running server, and one line per job; with --follow these lines are kept up to date."""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from stepscope.cli.command import Command, Failure
from stepscope.cli.server import add_workspace_option, need, page
from stepscope.core.errors import ConnectionFailed
from stepscope.server.workspace import RunningServer

_REFRESH_SECONDS = 0.5

Job = Mapping[str, Any]


def add_options(parser: argparse.ArgumentParser) -> None:
    add_workspace_option(parser)
    parser.add_argument("-f", "--follow", action="store_true", help="keep the lines up to date until Ctrl-C")
    parser.add_argument("--json", action="store_true", help="print JSON; with --follow a line for each change")


def run(options: argparse.Namespace) -> int:
    from stepscope.client.http import Http

    running = need(options.workspace)
    http = Http(running.url, running.token)
    screen = _Screen(live=sys.stdout.isatty() and not options.json)
    shown = None
    try:
        while True:
            jobs: list[Job] = http.get("/api/jobs")["jobs"]
            if options.json:
                text = [json.dumps(_document(running, jobs), indent=None if options.follow else 2)]
            else:
                text = [headline(running), *table(jobs)]
            if text != shown:
                screen.show(text)
                shown = text
            if not options.follow:
                return 0
            time.sleep(_REFRESH_SECONDS)
    except ConnectionFailed:
        raise Failure("the server has ended" if shown else f"the server at {running.url} does not answer") from None
    finally:
        http.close()


def _document(running: RunningServer, jobs: Sequence[Job]) -> dict[str, Any]:
    return {
        "server": {"url": running.url, "pid": running.pid, "version": running.version,
                   "debugger_host": running.debugger_host, "debugger_port": running.debugger_port},
        "jobs": jobs,
    }  # fmt: skip


def headline(running: RunningServer) -> str:
    debugger = f"{running.debugger_host}:{running.debugger_port}" if running.debugger_port else "switched off"
    return f"stepscope {running.version}: {page(running)}  trainings connect to: {debugger}"


_COLUMNS = ("STATE", "SCRIPT", "RANK", "STEP", "LOSS", "TIME/STEP", "FRAMEWORK", "JOB")


def table(jobs: Sequence[Job]) -> list[str]:
    if not jobs:
        return ["no training has connected yet"]
    rows = [_COLUMNS, *map(cells, jobs)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def cells(job: Job) -> tuple[str, ...]:
    """The fields of a job as the table shows them."""
    detail = job["exit"]["outcome"] if job["exit"] else job["reason"]
    state = job["state"] if not detail or detail == job["state"] else f"{job['state']} ({detail})"
    rank = f"{job['rank']}/{job['rank_count']}" if job["rank_count"] > 1 else "-"
    framework = " ".join(filter(None, (job["framework"], job["framework_version"], job["device"])))
    return (state, job["title"], rank, str(job["step"]), number(job["loss"]), duration(job["step_seconds"]),
            framework, job["id"])  # fmt: skip


def number(value: float | str | None) -> str:
    """Six digits; a number that JSON has no way to write comes as its name."""
    return "-" if value is None else value if isinstance(value, str) else f"{value:.6g}"


def duration(seconds: float | str | None) -> str:
    if not isinstance(seconds, int | float) or not math.isfinite(seconds):
        return "-"
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


class _Screen:
    """Writes lines; on a terminal over those that it wrote before."""

    def __init__(self, live: bool):
        self._live = live
        self._height = 0

    def show(self, lines: Sequence[str]) -> None:
        if not self._live:
            print("\n".join(lines), flush=True)
            return
        size = shutil.get_terminal_size()
        width, height = size.columns or 80, size.lines or 24  # a terminal may not know its size
        fitting = [line[:width] for line in lines[: max(1, height - 1)]]
        up = f"\x1b[{self._height}F" if self._height else ""
        print(up + "".join(f"\x1b[2K{line}\n" for line in fitting) + "\x1b[J", end="", flush=True)
        self._height = len(fitting)


COMMAND = Command(
    name="status",
    summary="Show the running server and its jobs, one line each.",
    example="stepscope status --follow",
    add_options=add_options,
    run=run,
)
