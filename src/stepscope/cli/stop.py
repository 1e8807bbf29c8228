"""`stepscope stop`: ends the server of a workspace."""

from __future__ import annotations

import argparse
import os
import signal
import time

from stepscope.cli.command import Command, Failure
from stepscope.cli.server import add_workspace_option
from stepscope.server.workspace import read_running

_STOP_SECONDS = 10.0


def run(options: argparse.Namespace) -> int:
    running = read_running(options.workspace)
    if running is None:
        raise Failure(f"no server is running in {options.workspace}")
    try:
        os.kill(running.pid, signal.SIGTERM)
    except PermissionError:
        raise Failure(f"the server, process {running.pid}, belongs to someone else") from None
    except ProcessLookupError:
        pass
    deadline = time.monotonic() + _STOP_SECONDS
    while time.monotonic() < deadline:
        now = read_running(options.workspace)
        if now is None or now.pid != running.pid:
            print(f"stopped the server at {running.url} (process {running.pid})")
            return 0
        time.sleep(0.02)
    raise Failure(f"the server, process {running.pid}, did not end within {_STOP_SECONDS:.0f} s")


COMMAND = Command(
    name="stop",
    summary="Stop the running server; what it knows stays in the workspace.",
    example="stepscope stop",
    add_options=add_workspace_option,
    run=run,
)
