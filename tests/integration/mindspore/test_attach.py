"""Where the debugger can't attach it says so in one line, and the training goes on; and who gets attached at all."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from flow import walk_back
from trainings import COMPILE, step_on

import stepscope

pytestmark = pytest.mark.mindspore


def free_port() -> str:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return str(sock.getsockname()[1])


def goes_on_undebugged(script, steps: int = 6) -> str:
    assert script.wait() == 0
    assert len(script.printed("loss")) == steps
    (line,) = script.complaints
    return line


def test_no_server(train):
    port = free_port()
    script = train("cell_loop.py", MS_DEBUGGER_HOST="127.0.0.1", MS_DEBUGGER_PORT=port, STEPSCOPE_CONNECT_WAIT="1")
    line = goes_on_undebugged(script)
    assert line == (
        f"stepscope: no debugger at 127.0.0.1:{port} (nothing answers there, waited 1 s); going on undebugged"
    )


def test_a_host_that_has_no_address(train):
    script = train(
        "cell_loop.py", MS_DEBUGGER_HOST="no-such-host.invalid", MS_DEBUGGER_PORT="5", STEPSCOPE_CONNECT_WAIT="1"
    )
    line = goes_on_undebugged(script)
    assert line.startswith("stepscope: no debugger at no-such-host.invalid:5 (")


def test_something_else_listens(train):
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        port = str(stranger.getsockname()[1])
        script = train("cell_loop.py", MS_DEBUGGER_PORT=port, STEPSCOPE_CONNECT_WAIT="1")
        assert f"no debugger at 127.0.0.1:{port}" in goes_on_undebugged(script)


@pytest.mark.parametrize(
    ("variable", "value"),
    [("MS_DEBUGGER_PORT", "70000"), ("STEPSCOPE_STEP_UNIT", "epoch"), ("STEPSCOPE_CONNECT_WAIT", "x")],
)
def test_a_variable_that_makes_no_sense(variable, value, train):
    script = train("cell_loop.py", **{"MS_DEBUGGER_PORT": "5", variable: value})
    line = goes_on_undebugged(script)
    assert repr(value) in line
    assert line.endswith("; going on undebugged")


def test_a_dump_configuration_of_the_users_own(train, tmp_path):
    own = tmp_path / "mine.json"
    own.write_text("{}")
    command = [sys.executable, "-c", "import mindspore; print('imported')"]
    environment = {**os.environ, "ENABLE_MS_DEBUGGER": "1", "MINDSPORE_DUMP_CONFIG": str(own)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=COMPILE)
    assert done.stdout == "imported\n"
    assert done.returncode == 0
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("stepscope:")]
    assert line.startswith(f"stepscope: MINDSPORE_DUMP_CONFIG is already set ({own})")
    assert line.endswith("unset it to debug this training; going on undebugged")


def test_a_script_without_any_graph(train, server):
    line = goes_on_undebugged(train("pynative.py"), steps=2)
    assert "MindSpore compiled no graph in this run" in line
    assert stepscope.connect(server.url).jobs() == []


def test_no_room_for_step_data(train, job, tmp_path):
    place = tmp_path / "tiny"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", place], capture_output=True)
    if mounted.returncode:
        pytest.skip("only root can mount a small file system")
    try:
        # MindSpore takes no path with a dot in it; a link without one will do.
        link = Path("/tmp") / f"stepscope-tiny-{os.getpid()}"
        link.symlink_to(place)
        script = train("cell_loop.py", STEPSCOPE_DATA_ROOT=str(link))
        training = job()
        assert step_on(training, training.run) == "paused"
        assert training.step == 1
        assert training.info["warning"].startswith("step 1 was not recorded: it needs about")
        assert list(training.info["recorded_steps"]) == []
        assert step_on(training, training.resume) == "finished"
        assert script.wait() == 0
        assert len(script.printed("loss")) == 6
    finally:
        link.unlink(missing_ok=True)
        subprocess.run(["umount", place], check=True)


def test_workers_of_msrun_are_ranks_of_their_own(train, server, tmp_path):
    script = train(
        "workers.py",
        launcher=[
            shutil.which("msrun") or str(Path(sys.executable).parent / "msrun"),
            "--worker_num=2",
            "--local_worker_num=2",
            f"--master_port={free_port()}",
            "--join=True",
            f"--log_dir={tmp_path / 'logs'}",
        ],
    )
    debugger = stepscope.connect(server.url)
    first = debugger.wait_for_job(timeout=COMPILE)
    assert first.wait(timeout=COMPILE) == "paused"
    while len(jobs := debugger.jobs()) < 2:
        assert script.process.poll() is None
    jobs.sort(key=lambda one: one.rank)
    assert [one.rank for one in jobs] == [0, 1]
    for one in jobs:
        assert one.wait(timeout=COMPILE) == "paused"
        one.run()
    for one in jobs:
        assert one.wait(timeout=COMPILE) == "paused"
        assert one.step == 1
    inputs = [one.tensor("inputs0") for one in jobs]
    weights = [one.tensor("0.weight") for one in jobs]
    assert (inputs[0] != inputs[1]).any()
    assert (weights[0] == weights[1]).all()  # the gradients were averaged
    for one in jobs:
        one.resume()
    for one in jobs:
        assert one.wait(timeout=COMPILE) == "finished"
    assert script.wait() == 0


def test_a_step_can_be_an_update_of_the_optimizer(train, job):
    train("gan.py", STEPSCOPE_STEP_UNIT="optimizer")
    training = job()
    assert training.info["step_unit"] == "optimizer"
    step_on(training, training.run)
    graphs = {executed.graph for executed in training.execution().nodes}
    assert len(graphs) == 2  # the gradients of the generator and its Adam, one step
    count = walk_back(training)
    assert count["equal"] > 60
    assert set(count) <= {"nodes", "equal", "unrecorded constant"}
    step_on(training, training.run)
    assert training.step == 2
    assert {executed.graph for executed in training.execution().nodes}.isdisjoint(graphs)
    assert step_on(training, training.resume) == "finished"
    assert training.step == 8


def test_partial_memory_records_outputs_only(train, job):
    train("cell_loop.py", MS_DEBUGGER_PARTIAL_MEM="1")
    training = job()
    step_on(training, training.run)
    (convolution,) = training.nodes("conv2-Conv2d/Conv2D-op")
    node = training.node(convolution)
    read = training.tensor(convolution, input=0)
    assert (read == training.tensor(node.inputs[0].node, node.inputs[0].slot)).all()
    training.terminate()
