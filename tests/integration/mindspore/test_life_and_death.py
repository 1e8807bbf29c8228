"""Whoever dies – the training, the server, the sidecar – the others cope, and the training is never harmed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from trainings import COMPILE, step_on, until

import stepscope
from stepscope.testing.server import ServerThread

pytestmark = pytest.mark.mindspore


def agent_of(pid: int) -> int:
    """The sidecar of a training process."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if len(arguments) > 4 and b"stepscope.agent" in arguments[2] and int(arguments[4]) == pid:
            return int(folder.name)
    raise AssertionError(f"process {pid} has no sidecar")


def data_folders(pid: int) -> list[Path]:
    return [*Path("/dev/shm").glob(f"stepscope_*_{pid}_*"), *Path("/tmp").glob(f"stepscope_*_{pid}_*")]


def test_a_killed_training_is_lost_and_leaves_nothing_behind(train, job):
    script = train("endless.py")
    training = job()
    step_on(training, training.run)
    assert data_folders(script.process.pid)
    script.kill(signal.SIGKILL)
    until(lambda: training.state == "lost")
    until(lambda: not data_folders(script.process.pid))
    assert training.step == 1
    assert training.info["exit"]["outcome"] == "lost"
    assert len(training.nodes()) > 10  # stays open for review
    with pytest.raises(stepscope.NotAvailable):
        training.tensor("0.weight")
    with pytest.raises(stepscope.Conflict):
        training.run()


def test_a_running_training_that_is_killed_is_lost(train, job):
    script = train("endless.py")
    training = job()
    training.resume()
    until(lambda: training.step > 3)
    script.kill(signal.SIGKILL)
    assert training.wait(timeout=60) == "lost"
    assert training.step in (len(script.printed("loss")), len(script.printed("loss")) + 1)


def test_pause_stops_a_running_training_at_a_recorded_step(train, job):
    train("endless.py")
    training = job()
    training.resume()
    until(lambda: training.step > 3)
    assert step_on(training, training.pause) == "paused"
    assert training.reason == "pause"
    here = training.step
    assert training.execution().total > 5
    assert training.compare("0.weight").changed_count > 0
    step_on(training, training.run)
    assert training.step == here + 1
    training.terminate()
    assert training.wait(timeout=30) == "finished"


def test_terminate_ends_the_script_as_sys_exit_would(train, job):
    script = train("endless.py")
    training = job()
    step_on(training, lambda: training.run(2))
    training.terminate()
    assert training.wait(timeout=30) == "finished"
    assert training.info["exit"]["outcome"] == "terminated"
    assert script.wait() == 143
    assert script.out[-1] == "cleaned up"  # the user's `finally` has run
    assert script.complaints == ["stepscope: terminated, as asked in the debugger"]


def test_a_training_outlives_the_server_and_a_new_one_gets_it_back(train, tmp_path):
    workspace = tmp_path / "elsewhere"
    with ServerThread(workspace) as first:
        host, _, port = first.debugger_address.rpartition(":")
        script = train("endless.py", MS_DEBUGGER_HOST=host, MS_DEBUGGER_PORT=port)
        training = stepscope.connect(first.url).wait_for_job(timeout=COMPILE)
        assert training.wait(timeout=COMPILE) == "paused"
        step_on(training, lambda: training.run(3))
        name = training.id
    assert script.process.poll() is None
    with ServerThread(workspace, debugger_port=int(port)) as second:
        training = stepscope.connect(second.url).job(name)
        assert until(lambda: training.state == "paused")
        assert training.step == 3
        assert training.tensor("0.weight").shape == (16, 8)
        assert step_on(training, training.run) == "paused"
        assert training.step == 4
        training.resume()
        until(lambda: training.step > 6)
    printed = len(script.out)
    until(lambda: len(script.out) > printed + 20)  # runs on without any server
    script.kill(signal.SIGTERM)


def test_a_training_outlives_its_sidecar(train, job):
    script = train("endless.py", "6")
    training = job()
    step_on(training, training.run)
    os.kill(agent_of(script.process.pid), signal.SIGKILL)
    until(lambda: training.state == "lost")
    assert script.wait() == 0
    assert len(script.printed("loss")) > 10
    assert script.complaints == ["stepscope: the debugger's sidecar is gone; going on undebugged"]
    assert not data_folders(script.process.pid)


def test_a_script_that_ends_is_finished_with_its_last_step(train, job):
    script = train("cell_loop.py")
    training = job()
    assert step_on(training, training.resume) == "finished"
    assert script.wait() == 0
    assert training.step == 6
    assert training.info["exit"]["outcome"] == "finished"


@pytest.mark.parametrize(("where", "status"), [("step", 1), ("exit", 7), ("inside", 1)])
def test_a_script_that_crashes_in_step_3(where, status, train, job):
    script = train("crashes.py", where)
    training = job()
    step_on(training, lambda: training.run(2))
    assert step_on(training, training.resume) == "lost"
    assert script.wait() == status
    assert len(script.printed("step")) == 3
    assert not script.complaints
    assert training.step == 3
    leaving = training.info["exit"]
    if where == "step":
        assert leaving["detail"] == "ValueError: the third step went wrong"
        assert "ValueError: the third step went wrong" in script.err
    if where != "inside":
        assert leaving["exit_status"] in (status, None)


def test_a_script_that_crashes_at_import_never_meets_the_debugger(train, server):
    script = train("crashes.py", "import")
    assert script.wait() == 1
    assert not script.complaints
    assert stepscope.connect(server.url).jobs() == []


def test_a_script_that_does_not_compile_fails_as_it_would_alone(train, server):
    script, alone = train("crashes.py", "compile"), train("crashes.py", "compile", debug=False)
    assert script.wait() == alone.wait() == 1
    assert not script.complaints
    (training,) = until(stepscope.connect(server.url).jobs)  # it may have been over before it was connected
    assert training.wait(timeout=COMPILE) == "lost"
    assert training.step == 0
    assert "undefined_name" in training.info["exit"]["detail"]
