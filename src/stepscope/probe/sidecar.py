"""Starts the agent beside the training, with a pipe between the two."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys

from stepscope.pipe import Pipe
from stepscope.probe.descriptors import above_standard_streams

# The process that is started forks and ends at once: the agent is nobody's child, so that neither the user's `os.wait`
# nor a framework's SIGCHLD handler ever meets it. An empty entry of sys.path would import from the user's folder.
_CODE = """
import os, sys
if os.fork():
    os._exit(0)
sys.path[:] = [entry for entry in sys.path if entry]
from stepscope.agent.main import main
main(int(sys.argv[1]), int(sys.argv[2]))
"""

_NOT_INHERITED = ("ENABLE_MS_DEBUGGER", "STEPSCOPE_ENABLE", "MINDSPORE_DUMP_CONFIG")


@above_standard_streams()
def launch() -> Pipe:
    """Starts the agent; OSError if this Python can't be started a second time."""
    ours, theirs = socket.socketpair()
    environment = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
    log = _log()
    try:
        with theirs:
            starter = subprocess.Popen(
                [sys.executable, "-c", _CODE, str(theirs.fileno()), str(os.getpid())],
                pass_fds=[theirs.fileno()],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for the training; the agent sees it end
            )
        if starter.wait() != 0:
            raise OSError(f"{sys.executable} could not be started")
    except OSError:
        ours.close()
        raise
    finally:
        if log != subprocess.DEVNULL:
            os.close(log)
    return Pipe(ours)


def _log() -> int:
    """Where the agent's own faults go: a file if STEPSCOPE_AGENT_LOG names one."""
    path = os.environ.get("STEPSCOPE_AGENT_LOG")
    if not path:
        return subprocess.DEVNULL
    with contextlib.suppress(OSError):
        return os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    return subprocess.DEVNULL
