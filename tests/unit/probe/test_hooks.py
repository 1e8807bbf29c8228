"""The wrapped calls of MindSpore: whose calls are looked at, and that a fault of ours never is the user's."""

from __future__ import annotations

import os
import sys
import threading
from types import ModuleType

import numpy as np
import pytest
from fake_mindspore import VARIABLE, Cell, Tensor

from stepscope.probe.bootstrap import CannotDebug
from stepscope.probe.mindspore import hooks as module
from stepscope.probe.mindspore.hooks import install
from stepscope.probe.mindspore.session import Session

LOSS = Tensor(np.float32(0.25))


@pytest.fixture
def network(ms):
    return Cell(ms, lambda *args: LOSS)


def is_wrapped(cls: type, name: str = "__call__") -> bool:
    return hasattr(getattr(cls, name), "__wrapped__")


# ------------------------------------------------------------ which calls


def test_arguments_and_results_pass_through(ms, sidecar, debug):
    def work(*args: object) -> object:
        return args

    debug()
    assert Cell(ms, work)(1, "x", LOSS) == (1, "x", LOSS)
    assert ms.jit(work)(2) == (2,)


def test_a_call_inside_another_is_not_a_step_of_its_own(ms, sidecar, debug, network):
    def work() -> object:
        network()
        ms.jit(network)()
        return LOSS

    outer = Cell(ms, work)
    debug(("run", 2))
    outer()
    outer()
    assert sidecar.pauses() == [(0, "start", []), (2, "step", [1, 2])]
    assert [iteration for _, iteration in ms.runs] == [1] * 4 + [2] * 4  # though it is recorded, too


def test_calls_of_other_threads_are_not_looked_at(ms, sidecar, debug, network):
    debug(("run", 1), ("run", 1))
    network()
    other = threading.Thread(target=network)
    other.start()
    other.join()
    network()
    assert sidecar.pauses() == [(0, "start", []), (1, "step", [1]), (2, "step", [1, 2])]
    assert [iteration for _, iteration in ms.runs] == [1, 2, 2]


def test_the_thread_that_runs_the_first_graph_is_the_one(ms, sidecar, debug, network):
    debug(("run", 1))
    trains = threading.Thread(target=network)
    trains.start()
    trains.join()
    network()
    assert [step for step, _, _ in sidecar.pauses()] == [0, 1]


def test_saving_a_graph_is_no_step(ms, sidecar, debug, network):
    debug()
    ms.api._cell_graph_executor(network, phase="save")
    assert not sidecar.heard("hello")


def test_graphs_of_jit_functions_belong_to_the_function_that_was_called(ms, sidecar, debug):
    """With steps that end with the optimizer, the function without one ends none."""
    gradients, update = ms.jit(lambda: None, op="Add"), ms.jit(lambda: None, op="SGD")
    debug(("run", 1), ("run", 1), step_unit="optimizer")
    for _ in range(2):
        gradients()
        update()
    assert sidecar.pauses() == [(0, "start", []), (1, "step", [1]), (2, "step", [1, 2])]
    assert [iteration for _, iteration in ms.runs] == [1, 1, 2, 2]


def test_the_sidecar_starts_before_the_first_compile(ms, sidecar, debug, network, monkeypatch):
    """It connects while MindSpore compiles, and MindSpore must know of the dump by then."""
    seen = []
    monkeypatch.setattr(ms, "_compile", lambda cell: seen.append((sidecar._thread.is_alive(), os.environ[VARIABLE])))
    session = debug()
    del os.environ[VARIABLE]
    network.graph = -1
    ms.api._cell_graph_executor.compile(network, phase="train")
    assert seen == [(True, str(session._dump.config))]


# ------------------------------------------------------------ faults of ours


@pytest.mark.parametrize("where", ["begin", "compiled", "before_run", "after_run", "_keep_parameters", "_tell_graphs"])
def test_a_fault_in_the_session_detaches_and_the_result_is_untouched(where, ms, debug, network, monkeypatch, capsys):
    monkeypatch.setattr(Session, where, lambda *args: 1 / 0)
    debug(("run", 1))
    assert network() is LOSS
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "paused" not in line]
    assert line == "stepscope: a fault in the debugger (ZeroDivisionError: division by zero); going on undebugged"
    assert not is_wrapped(ms.api._CellGraphExecutor)
    assert not is_wrapped(ms.api._PyNativeExecutor, "grad_jit")
    assert VARIABLE not in os.environ
    assert ms.switch.iteration == 0
    assert network() is LOSS


def test_a_fault_after_a_step_that_raised_leaves_the_error_as_it_is(ms, sidecar, debug, monkeypatch):
    monkeypatch.setattr(Session, "run_failed", lambda self: 1 / 0)
    error = KeyError("of the user")

    def work() -> None:
        raise error

    debug()
    with pytest.raises(KeyError) as caught:
        Cell(ms, work)()
    assert caught.value is error


def test_a_fault_in_letting_go_is_left_behind(ms, sidecar, debug, network, monkeypatch):
    monkeypatch.setattr(Session, "after_run", lambda *args: 1 / 0)
    monkeypatch.setattr(Session, "release", lambda *args: {}["no such key"])
    debug()
    assert network() is LOSS
    assert not is_wrapped(ms.api._CellGraphExecutor)


def test_a_configuration_that_the_script_has_set_since_is_no_fault_of_ours(ms, sidecar, debug, network, capsys):
    debug()
    os.environ[VARIABLE] = "mine.json"
    assert network() is LOSS
    assert os.environ[VARIABLE] == "mine.json"
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("stepscope: MINDSPORE_DUMP_CONFIG is already set (mine.json), and ")
    assert line.endswith(": unset it to debug this training; going on undebugged")


# ------------------------------------------------------------ install


@pytest.fixture
def fresh(ms, sidecar, at_exit, place, monkeypatch):
    """A process in which nothing has been installed."""
    monkeypatch.setattr(module, "_hooks", None)
    for name in list(os.environ):
        if name.startswith(("STEPSCOPE_", "MS_DEBUGGER_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("STEPSCOPE_DATA_ROOT", str(place))
    yield ms
    if module._hooks is not None:
        module._hooks.detach("the test is over")


def test_install_wraps_what_runs_and_what_compiles(fresh, at_exit):
    install(fresh.api)
    assert is_wrapped(fresh.api._CellGraphExecutor, "__call__")
    assert is_wrapped(fresh.api._CellGraphExecutor, "compile")
    assert is_wrapped(fresh.api._JitExecutor, "compile")
    assert is_wrapped(fresh.api._PyNativeExecutor, "grad_jit")
    assert not is_wrapped(fresh.api._PyNativeExecutor, "sync")
    assert len(at_exit) == 1
    assert module._hooks is not None
    installed = module._hooks
    install(fresh.api)
    assert module._hooks is installed


@pytest.mark.parametrize("shim", [True, False])
def test_a_module_that_only_passes_the_executors_on_is_left_alone(shim, fresh):
    other = ModuleType("mindspore.common.api")
    if shim:
        other._CellGraphExecutor = fresh.api._CellGraphExecutor
    install(other)
    assert module._hooks is None
    assert not is_wrapped(fresh.api._CellGraphExecutor)


@pytest.mark.parametrize("missing", ["_JitExecutor", "grad_jit"])
def test_a_mindspore_of_another_make_is_left_as_it_was(missing, fresh, place, capsys):
    delattr(fresh.api if missing == "_JitExecutor" else fresh.api._PyNativeExecutor, missing)
    install(fresh.api)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("stepscope: could not attach to mindspore.graph.api: AttributeError(")
    assert line.endswith("; going on undebugged")
    assert not is_wrapped(fresh.api._CellGraphExecutor)
    assert VARIABLE not in os.environ
    assert not list(place.iterdir())


def test_a_variable_that_makes_no_sense_is_one_clear_line(fresh, place, monkeypatch):
    monkeypatch.setenv("STEPSCOPE_PORT", "99999")
    with pytest.raises(CannotDebug, match=r"^the debugger port must be a number from 1 to 65535, not '99999'$"):
        install(fresh.api)
    assert not is_wrapped(fresh.api._CellGraphExecutor)
    assert not list(place.iterdir())


def test_the_settings_are_those_of_the_environment(fresh, sidecar, network, monkeypatch):
    monkeypatch.setenv("MS_DEBUGGER_HOST", "far.example")
    monkeypatch.setenv("STEPSCOPE_STEP_UNIT", "forward")
    install(fresh.api)
    network()
    (hello,) = sidecar.heard("hello")
    assert hello["host"] == "far.example"
    assert hello["info"]["step_unit"] == "forward"


# ------------------------------------------------------------ the end, and children


def test_the_end_of_the_script_is_told(ms, sidecar, debug, network, at_exit, place):
    debug()
    network()
    network()
    at_exit[0]()
    assert sidecar.heard("bye") == [{"is": "bye", "step": 2, "error": ""}]
    assert not list(place.iterdir())


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("the third step went wrong\nand more"), "ValueError: the third step went wrong"),
        (RuntimeError("x" * 1000), "RuntimeError: " + "x" * 286),
        (KeyboardInterrupt("some text"), "KeyboardInterrupt"),
        (type("Broken", (Exception,), {"__str__": lambda self: 1 / 0})(), "Broken"),
    ],
)
def test_an_uncaught_exception_is_told_and_shown_as_ever(error, told, sidecar, debug, network, at_exit, monkeypatch):
    shown = []
    monkeypatch.setattr(sys, "excepthook", lambda *args: shown.append(args))
    debug()
    network()
    sys.excepthook(type(error), error, None)
    assert shown == [(type(error), error, None)]
    at_exit[0]()
    assert [message["error"] for message in sidecar.heard("bye")] == [told]


def test_a_script_without_any_graph_is_told_why_nothing_happened(ms, sidecar, debug, at_exit, place, capsys):
    debug()
    at_exit[0]()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("stepscope: MindSpore compiled no graph in this run, so there was nothing to debug")
    assert not list(place.iterdir())


def test_a_script_that_failed_before_any_graph_is_not(ms, sidecar, debug, at_exit, capsys, monkeypatch):
    monkeypatch.setattr(sys, "excepthook", lambda *args: None)
    debug()
    sys.excepthook(ImportError, ImportError("no such module"), None)
    at_exit[0]()
    assert capsys.readouterr().err == ""


def test_a_forked_child_is_not_debugged_and_takes_nothing_away(ms, sidecar, debug, network, at_exit, capfd):
    """A data loader's worker."""
    session = debug(("run", 1), ("run", 1))
    network()
    child = os.fork()
    if not child:
        status = 1
        try:
            network()
            at_exit[0]()
            status = 0 if len(ms.runs) == 2 else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    said = [line for line in capfd.readouterr().err.splitlines() if line.startswith("stepscope:")]  # grpc speaks, too
    assert said == ["stepscope: paused before the first step; go on from http://here"]
    assert session._dump.folder.path.exists()
    network()
    assert sidecar.pauses() == [(0, "start", []), (1, "step", [1]), (2, "step", [1, 2])]
    assert not sidecar.heard("bye")
