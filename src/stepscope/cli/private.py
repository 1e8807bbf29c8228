"""A server for one command only: on free ports, in a folder that goes with it, and gone when the command is.

Its standard input is a pipe that nobody writes to: it ends when that does, so that it never outlives a killed command.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from stepscope.cli.command import Failure
from stepscope.cli.server import LOG
from stepscope.server.workspace import RunningServer, read_running

_SECONDS = 30.0


@contextmanager
def private_server() -> Iterator[RunningServer]:
    """Raises Failure where it can't start."""
    with TemporaryDirectory(prefix="stepscope-") as folder:
        workspace = Path(folder)
        kept = {name: value for name, value in os.environ.items() if not name.endswith(("_ENABLE", "_MS_DEBUGGER"))}
        with open(workspace / LOG, "w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", __name__, folder],
                stdin=subprocess.PIPE, stdout=log, stderr=log, env=kept,
                start_new_session=True,  # Ctrl-C is for us, and for the training
            )  # fmt: skip
        try:
            yield _wait(process, workspace)
        finally:
            process.communicate()


def _wait(process: subprocess.Popen[bytes], workspace: Path) -> RunningServer:
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        running = read_running(workspace)
        if running is not None and running.pid == process.pid:
            return running
        if process.poll() is not None:
            lines = (workspace / LOG).read_text(errors="replace").strip().splitlines()
            raise Failure(f"no server could be started: {lines[-1] if lines else f'status {process.returncode}'}")
        time.sleep(0.02)
    raise Failure(f"the server did not get ready within {_SECONDS:.0f} s")


def _serve(workspace: Path) -> None:
    from stepscope.server.app import serve
    from stepscope.server.errors import StartError
    from stepscope.server.settings import Settings

    def end_with_input() -> None:
        sys.stdin.buffer.read()
        os.kill(os.getpid(), signal.SIGTERM)

    try:
        settings = Settings(port=0, debugger_port=0, workspace=workspace)
        serve(settings, lambda _: threading.Thread(target=end_with_input, daemon=True).start())
    except StartError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
