"""How trainings begin, end and are ended under the debugger, and that nothing of it does harm to them."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest
from trainings import COMPILE, step_on, until

import stepscope
from stepscope.core.errors import NotAvailable
from stepscope.server.workspace import read_running

SCRIPTS = Path(__file__).parent / "scripts"

pytestmark = pytest.mark.torch


def finish(training) -> str:
    training.resume()
    return training.wait(timeout=COMPILE)


def test_an_exception_in_backward(train, job) -> None:
    script = train("ends.py", "raises")
    training = job()
    step_on(training, training.run)
    step_on(training, training.next_node)
    assert finish(training) == "lost"
    assert script.wait() == 1
    assert script.err[-1] == "ValueError: broken on purpose"
    assert len(script.printed("loss")) == 2


def test_exit_within_a_step(train, job) -> None:
    script = train("ends.py", "exits")
    training = job()
    step_on(training, lambda: training.run(2))
    training.run()
    assert training.wait(timeout=COMPILE) in ("finished", "lost")
    assert script.wait() == 7
    assert script.complaints == []


def test_the_end_of_the_script_in_a_run_of_more_steps(train, job) -> None:
    script = train("kinds.py", "cnn", "3")
    training = job()
    training.run(10)
    assert training.wait(timeout=COMPILE) == "finished"
    assert script.wait() == 0
    assert training.step == 3


def test_the_last_step_can_be_looked_at(train, job) -> None:
    script = train("kinds.py", "cnn", "3")
    training = job()
    step_on(training, lambda: training.run(3))
    assert (training.state, training.step) == ("paused", 3)
    assert training.tensor(training.nodes(category="gradient")[0]).size
    assert finish(training) == "finished"
    assert script.wait() == 0


@pytest.mark.parametrize("category", ["activation", "gradient"])
def test_terminate_within_a_step(category: str, train, job) -> None:
    script = train("ends.py", "cleans_up")
    training = job()
    step_on(training, training.run)
    node = training.nodes("addmm")[0] if category == "activation" else training.nodes(category="gradient")[0]
    step_on(training, lambda: training.run_to(node))
    assert training.cursor.node == node
    training.terminate()
    assert training.wait(timeout=COMPILE) in ("finished", "lost", "terminated")
    assert script.wait() == 143
    assert script.printed("cleaned up")


def at_a_step(training) -> None:
    step_on(training, training.run)


def at_a_node(training) -> None:
    step_on(training, training.next_node)


def in_the_backward_pass(training) -> None:
    step_on(training, training.run)
    node = training.nodes(category="gradient")[1]
    step_on(training, lambda: training.run_to(node))
    assert training.cursor.node == node


def running_free(training) -> None:
    training.resume()
    until(lambda: training.step > 3)


@pytest.mark.parametrize(
    ("stand", "script"),
    [
        (at_a_step, "ends.py"),
        (at_a_node, "ends.py"),
        (in_the_backward_pass, "ends.py"),
        (in_the_backward_pass, "device.py"),  # where another thread stands still, and the main one waits in C++
        (running_free, "ends.py"),
    ],
)
def test_ctrl_c(stand, script: str, train, job) -> None:
    running = train(script, "interrupted")
    training = job()
    stand(training)
    if script == "device.py":
        assert running.printed("another thread")
        node = training.cursor.node
        assert training.tensor(node).shape == tuple(training.node(node).outputs[0].type.shape)
        assert any("loss.backward()" in frame.text for frame in training.frames() if frame.user)
    running.kill(signal.SIGINT)
    assert running.wait(60) == 0, (running.out[-3:], running.err[-20:])
    assert running.printed("interrupted"), running.out[-3:]
    assert running.complaints == []


def test_workers_of_a_data_loader(train, job) -> None:
    alone = train("ends.py", "workers", debug=False)
    script = train("ends.py", "workers")
    training = job()
    step_on(training, lambda: training.run(2))
    assert finish(training) == "finished"
    assert script.wait() == alone.wait() == 0
    assert script.out == alone.out
    assert script.complaints == []


def test_workers_that_are_spawned(train, job) -> None:
    alone = train("ends.py", "spawned_workers", debug=False)
    script = train("ends.py", "spawned_workers")
    training = job()
    step_on(training, training.run)
    assert finish(training) == "finished"
    assert script.wait() == alone.wait() == 0
    assert script.out == alone.out
    assert script.complaints == []


def test_a_training_in_a_child(train, job) -> None:
    """Such as a daemon, where the parent has not trained."""
    script = train("ends.py", "trains_in_a_child")
    training = job()
    step_on(training, lambda: training.run(2))
    assert finish(training) in ("finished", "lost")  # `os._exit` says nothing
    assert script.wait() == 0
    assert len(script.printed("loss")) == 4
    assert script.complaints == []


def test_a_child_of_the_training(train, job) -> None:
    script = train("ends.py", "forks")
    training = job()
    step_on(training, lambda: training.run(2))
    step_on(training, training.run)
    assert finish(training) == "finished"
    assert script.wait() == 0
    assert (len(script.printed("loss")), len(script.printed("child"))) == (4, 3)
    assert script.complaints == []


def test_two_threads_that_train(train, job) -> None:
    script = train("ends.py", "two_threads")
    training = job()
    until(lambda: 4 in (len(script.printed("loss")), len(script.printed("second"))))  # either may be the first
    step_on(training, training.run)
    assert training.nodes("addmm")
    assert finish(training) == "finished"
    assert script.wait() == 0
    assert len(script.printed("loss")) == len(script.printed("second")) == 4
    (said,) = script.complaints
    assert "only the one that trained first" in said


def test_a_script_that_only_infers(cli) -> None:
    script = (sys.executable, str(SCRIPTS / "ends.py"), "infers")
    process = cli.pipes("run", "--step-unit", "forward", "--no-open", *cli.ports, "--", *script)
    try:
        until(lambda: read_running(cli.workspace))
        with stepscope.connect(cli.url) as debugger:
            inference = debugger.wait_for_job(COMPILE)
            assert inference.graphs == ["forward"]
            step_on(inference, inference.run)
            assert inference.step == 1
            node = next(iter(inference.nodes("relu")))
            step_on(inference, lambda: inference.run_to(node))
            assert (inference.step, inference.cursor.node) == (2, node)
            step_on(inference, lambda: inference.run(2))
            assert inference.step == 3
            assert finish(inference) == "finished"
        out, err = process.communicate(timeout=COMPILE)
        assert process.returncode == 0, err
        assert out.count("output") == 4
    finally:
        process.kill()
        process.communicate()
        cli.stop()


def test_no_server(train) -> None:
    script = train("ends.py", "workers", STEPSCOPE_HOST="127.0.0.1", STEPSCOPE_PORT="9", STEPSCOPE_CONNECT_WAIT="0.5")
    assert script.wait() == 0
    assert len(script.printed("loss")) == 6
    (said,) = script.said
    assert said.startswith("stepscope: no debugger at 127.0.0.1:9")


def test_a_pytorch_that_is_too_old(train, start_up) -> None:
    with open(start_up / "sitecustomize.py", "a") as file:
        file.write("import stepscope.probe.torch.entry\nstepscope.probe.torch.entry.OLDEST = (99, 0)\n")
    script = train("kinds.py", "cnn", "3", STEPSCOPE_HOST="127.0.0.1", STEPSCOPE_PORT="9")
    assert script.wait() == 0
    assert len(script.printed("loss")) == 3
    (said,) = script.said
    assert said.startswith("stepscope: PyTorch ")
    assert "is too old to be debugged; 99.0 will do; going on undebugged" in said


def test_the_server_goes_away_for_good(train, job, server) -> None:
    script = train("ends.py", "workers", STEPSCOPE_LOST_WAIT="0.5")
    training = job()
    step_on(training, training.next_node)
    server.close()
    assert script.wait() == 0
    assert len(script.printed("loss")) == 6
    (said,) = script.complaints
    assert "went away" in said


def test_frames_and_locals_at_a_node(train, job) -> None:
    train("kinds.py", "cnn", "4")
    training = job()
    step_on(training, training.run)
    node = training.nodes("convolution")[0]
    step_on(training, lambda: training.run_to(node, before=True))
    with pytest.raises(NotAvailable):
        training.tensor(node)
    assert training.tensor(node, input=0).shape == (8, 1, 8, 8)
    forward, loop = (frame for frame in training.frames() if frame.user and frame.function in ("forward", "cnn"))
    assert "self.features(images)" in forward.text
    assert {one.name: one.shape for one in loop.locals}["x"] == (8, 1, 8, 8)
    step_on(training, lambda: training.run_to(training.nodes(category="gradient")[0]))
    assert any("loss.backward()" in frame.text for frame in training.frames() if frame.user)
    training.terminate()


def test_an_update_that_a_scaler_left_out(train, job) -> None:
    script = train("kinds.py", "amp", "6")
    training = job()
    step_on(training, lambda: training.run(3))
    assert (training.info["notes"], training.info["skipped_updates"]) == ([], 0)
    step_on(training, training.run)
    assert (training.step, training.info["notes"], training.info["skipped_updates"]) == (4, ["update_skipped"], 1)
    assert not any(training.compare(name).changed_count for name in training.nodes(category="weight"))
    step_on(training, training.run)
    assert (training.info["notes"], training.info["skipped_updates"]) == ([], 1)
    assert finish(training) == "finished"
    assert script.wait() == 0
    assert training.step == 6
