"""Whoever goes first – the server, the sidecar, the training – and whatever goes wrong: the user's run is unharmed."""

from __future__ import annotations

import os

import numpy as np
import pytest
from fake_mindspore import VARIABLE, Cell, Tensor

LOSS = Tensor(np.float32(0.25))


@pytest.fixture
def network(ms):
    return Cell(ms, lambda *args: LOSS)


@pytest.fixture
def undebugged(ms, place, capsys):
    """Checks that nothing is left of the debugger, after it has said one last line."""
    originals = {name: vars(getattr(ms.api, name)).copy() for name in ("_CellGraphExecutor", "_PyNativeExecutor")}

    def check(expected: str) -> None:
        assert capsys.readouterr().err.splitlines()[-1] == f"stepscope: {expected}"
        for name, attributes in originals.items():
            assert vars(getattr(ms.api, name)) == attributes
        assert VARIABLE not in os.environ
        assert not list(place.iterdir())
        assert ms.switch.iteration == 0

    return check


@pytest.mark.parametrize("greeting", ["unreachable", "refused"])
def test_without_a_server_the_training_goes_on(greeting, ms, sidecar, debug, network, undebugged):
    sidecar.greeting = [{"is": greeting, "reason": "nothing answers there, waited 15 s"}]
    debug(host="far", port=5)
    assert network() is LOSS
    undebugged("no debugger at far:5 (nothing answers there, waited 15 s); going on undebugged")
    assert network() is LOSS
    assert not sidecar.heard("report")


def test_a_sidecar_that_does_not_answer_is_not_waited_for(ms, sidecar, debug, network, undebugged):
    sidecar.greeting = []
    debug(connect_wait=-15.0)  # the sidecar has that and 15 seconds more
    assert network() is LOSS
    undebugged("no debugger at 127.0.0.1:50051 (the sidecar does not answer); going on undebugged")


@pytest.mark.parametrize("plan", [[], [("run", 1)]])
def test_a_server_that_is_gone_while_the_training_stands(plan, ms, sidecar, debug, network, undebugged):
    debug(*plan, lambda here: here.send("gone", reason="the server went away and did not come back"))
    for _ in range(3):
        assert network() is LOSS
    assert len(ms.runs) == 3
    undebugged("the server went away and did not come back; going on undebugged")
    (released,) = sidecar.heard("released")
    assert released["reason"] == "the server went away and did not come back; going on undebugged"


@pytest.mark.parametrize("plan", [[], [("run", 1)]])
def test_a_sidecar_that_dies_while_the_training_stands(plan, ms, sidecar, debug, network, undebugged):
    debug(*plan, lambda here: here.die())
    for _ in range(3):
        assert network() is LOSS
    assert len(ms.runs) == 3
    undebugged("the debugger's sidecar is gone; going on undebugged")


def test_a_sidecar_that_dies_while_the_training_runs(ms, sidecar, debug, undebugged):
    network = Cell(ms, lambda number: sidecar.die() if number == 2 else LOSS)
    debug("resume")
    assert [network(number) for number in range(1, 5)] == [LOSS, None, LOSS, LOSS]
    undebugged("the debugger's sidecar is gone; going on undebugged")


def test_a_sidecar_that_can_not_be_started(ms, sidecar, debug, network, undebugged, monkeypatch):
    def launch() -> None:
        raise OSError("no python could be started")

    monkeypatch.setattr("stepscope.probe.mindspore.session.sidecar.launch", launch)
    debug()
    assert network() is LOSS
    undebugged("a fault in the debugger (OSError: no python could be started); going on undebugged")


def test_garbage_from_the_sidecar(ms, sidecar, debug, network, undebugged):
    debug(lambda here: here._end._socket.sendall(b"\0\0\0\x02{}"))
    assert network() is LOSS
    undebugged("the debugger's sidecar is gone; going on undebugged")


# ------------------------------------------------------------ the user's own errors


def test_an_error_in_the_step_passes_through_unchanged(ms, sidecar, debug):
    error = ValueError("the second step went wrong")

    def work(number: int) -> Tensor:
        if number == 2:
            raise error
        return LOSS

    network = Cell(ms, work)
    debug(("run", 3), "resume")
    assert network(1) is LOSS
    with pytest.raises(ValueError, match="the second step went wrong") as caught:
        network(2)
    assert caught.value is error
    assert error.__context__ is None
    assert error.__cause__ is None
    assert ms.switch.iteration == 0
    for _ in range(3):
        assert network(3) is LOSS
    assert sidecar.pauses()[1:] == [(3, "step", [2, 3])]  # it is no step


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_so_does_whatever_else_ends_a_step(kind, ms, sidecar, debug):
    def work() -> None:
        raise kind

    debug(("run", 1))
    with pytest.raises(kind):
        Cell(ms, work)()
    assert ms.switch.iteration == 0


def test_an_error_in_the_compiler_passes_through_unchanged(ms, sidecar, debug, network, monkeypatch):
    error = TypeError("undefined_name")

    def compile_it(cell: object) -> None:
        raise error

    debug()
    monkeypatch.setattr(ms, "_compile", compile_it)
    with pytest.raises(TypeError) as caught:
        network()
    assert caught.value is error
    assert error.__context__ is None


def test_an_error_of_a_kernel_that_ran_late_reaches_the_user(ms, sidecar, debug):
    """MindSpore raises it once, to whoever waits first: swallowed, it would leave garbage as the result."""
    error = RuntimeError("label out of range")

    def work(number: int) -> Tensor:
        if number == 2:
            ms.error = error
        return LOSS

    network = Cell(ms, work)
    debug(("run", 2), "resume")
    assert network(1) is LOSS
    with pytest.raises(RuntimeError) as caught:
        network(2)
    assert caught.value is error
    assert network(3) is LOSS  # still debugged
    assert sidecar.pauses()[1:] == [(2, "step", [1, 2])]


def test_an_error_of_a_kernel_from_before_the_first_run_reaches_the_user(ms, sidecar, debug, network):
    debug()
    ms.error = error = RuntimeError("of an operator outside of any graph")
    with pytest.raises(RuntimeError) as caught:
        network()
    assert caught.value is error
    assert ms.runs == []


def test_an_error_in_a_step_wins_over_that_of_a_kernel(ms, sidecar, debug):
    error = ValueError("of the call")

    def work() -> None:
        ms.error = RuntimeError("of a kernel")
        raise error

    debug(("run", 1))
    with pytest.raises(ValueError, match="of the call") as caught:
        Cell(ms, work)()
    assert caught.value is error
    assert ms.switch.iteration == 0


def test_an_error_of_a_kernel_does_not_keep_the_training_from_being_terminated(ms, sidecar, debug, network):
    def terminate(here) -> None:
        ms.error = RuntimeError("of a kernel")
        here.command("terminate")

    debug(("run", 1), terminate)
    with pytest.raises(SystemExit):
        network()
    assert ms.switch.iteration == 0


def test_ctrl_c_while_the_training_stands(ms, sidecar, debug, network):
    """It is in the user's terminal that somebody waits."""

    def interrupt(here) -> None:
        os.kill(os.getpid(), 2)

    debug(("run", 1), interrupt)
    with pytest.raises(KeyboardInterrupt):
        network()
    network()  # a script that catches it goes on, debugged
    assert sidecar.pauses() == [(0, "start", []), (1, "step", [1]), (2, "step", [1, 2])]
