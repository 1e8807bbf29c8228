"""A training whose standard streams are closed keeps them so."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from stepscope.probe.descriptors import above_standard_streams

# Starts an agent and makes a folder; then says on the descriptor of its argument which of the standard ones are there.
_TRAINING = """
import os, socket, sys
from stepscope.probe.data_folder import DataFolder
from stepscope.probe.sidecar import launch
def there(descriptor):
    try:
        return bool(os.fstat(descriptor))
    except OSError:
        return False
folder = DataFolder()
pipe = launch()
os.write(int(sys.argv[1]), repr([one for one in range(3) if there(one)]).encode())
info = {"job_id": "j", "framework": "torch", "command_line": []}
pipe.send("hello", host="127.0.0.1", port=1, token="", connect_wait=0, lost_wait=1, folder=str(folder.path), info=info)
os.write(int(sys.argv[1]), (" " + pipe.receive(30)["is"]).encode())
folder.remove()
"""


@pytest.mark.parametrize(("closed", "left"), [("2>&-", "[0, 1]"), ("<&- >&- 2>&-", "[]"), ("", "[0, 1, 2]")])
def test_closed_streams_stay_closed_and_the_agent_answers(closed, left):
    ours, theirs = os.pipe()
    command = ["bash", "-c", f'exec "$0" "$@" {closed}', sys.executable, "-c", _TRAINING, str(theirs)]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(command, pass_fds=[theirs], env=environ, timeout=60, check=True)
    os.close(theirs)
    with open(ours) as said:
        assert said.read() == f"{left} unreachable"


def test_nothing_is_left_open():
    before = os.listdir("/proc/self/fd")
    with above_standard_streams():
        assert os.listdir("/proc/self/fd") == before
    assert os.listdir("/proc/self/fd") == before
