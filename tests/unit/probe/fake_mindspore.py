"""MindSpore as the probe meets it: executors that are called, a dump that is switched, graph files that appear.

`FakeMindSpore` keeps to what the real one does: a compile writes a graph file, a run under an iteration number other
than 0 writes the step's files, and an error of a kernel comes out once, of whoever waits first.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from stepscope.testing.dumps import DumpFolder, GraphFile

VARIABLE = "MINDSPORE_DUMP_CONFIG"


class Tensor:
    def __init__(self, value: Any) -> None:
        self._value = np.asarray(value)
        self.shape, self.size = self._value.shape, self._value.size
        self.itemsize = self._value.itemsize
        self.dtype = self._value.dtype.name.capitalize()

    def asnumpy(self) -> np.ndarray:
        return self._value

    def float(self) -> Tensor:
        return Tensor(self._value.astype(np.float32))


class Parameter(Tensor):
    def __init__(self, name: str, value: Any, requires_grad: bool = True) -> None:
        super().__init__(value)
        self.name, self.requires_grad = name, requires_grad


class Switch(ModuleType):
    """`mindspore._c_expression`: reads the configuration once; from then on `iteration` decides what is dumped."""

    def __init__(self) -> None:
        super().__init__("mindspore._c_expression")
        self.config: dict[str, Any] = {}
        self.iteration = -1

    def _set_init_iter(self, value: int) -> None:
        self.config = json.loads(Path(os.environ[VARIABLE]).read_text())
        self.iteration = value

    def _dump_step(self, step: int) -> None:
        if not 0 <= step < 1 << 32:
            raise TypeError("incompatible function arguments")
        self.iteration = (self.iteration + step) % (1 << 32)


class Cell:
    """A network that is compiled at its first call; `work` is what a run of it does and returns."""

    def __init__(
        self, ms: FakeMindSpore, work: Callable[..., Any], parameters: Sequence[Parameter] = (), phase: str = "train",
        op: str = "ApplyMomentum",
    ) -> None:  # fmt: skip
        self._ms, self.work, self.phase, self.op = ms, work, phase, op
        self._parameters = parameters
        self.graph = -1

    def get_parameters(self) -> Sequence[Parameter]:
        return self._parameters

    def __call__(self, *args: Any) -> Any:
        executor = self._ms.api._cell_graph_executor
        if self.graph < 0:
            executor.compile(self, *args, phase=self.phase)
        return executor(self, *args, phase=self.phase)


class FakeMindSpore:
    """Stands in `sys.modules` for as long as the test runs. `api` is the module that the probe gets."""

    def __init__(self, monkeypatch: Any) -> None:
        self.switch = Switch()
        self.compiled = 0
        self.runs: list[tuple[int, int]] = []  # graph and iteration of each run
        self.error: Exception | None = None  # of a kernel, not raised yet
        self.syncs = 0
        self.pynative, self.device = False, "CPU"
        self.backward = True  # whether graphs have a backward pass
        package = ModuleType("mindspore")
        package.__dict__.update(
            __version__="2.10.0", Parameter=Parameter, PYNATIVE_MODE=1,
            get_context=lambda name: {"device_target": self.device, "mode": int(self.pynative)}[name],
        )  # fmt: skip
        self.api = self._make_api()
        for module in (package, self.switch, self.api):
            monkeypatch.setitem(sys.modules, module.__name__, module)

    def jit(self, work: Callable[..., Any], op: str = "ApplyMomentum") -> Callable[..., Any]:
        """A jit function: each call looks for what is compiled, then runs it."""
        cell = Cell(self, work, op=op)

        def call(*args: Any) -> Any:
            self.api._JitExecutor(cell).compile(*args)
            return self.api._pynative_executor.grad_jit(cell, *args)

        return call

    # ------------------------------------------------------------ inside

    def _compile(self, cell: Cell) -> None:
        if cell.graph >= 0:
            return
        cell.graph, self.compiled = self.compiled, self.compiled + 1
        if VARIABLE in os.environ and self.switch.config:
            graph = GraphFile()
            graph.op(f"Default/net/{cell.op}", *(graph.parameter(one.name) for one in cell.get_parameters()))
            graph.op("Gradients/net/MatMul" if self.backward else "Default/net/MatMul")
            path = self._folder().write_graph(cell.graph, graph)
            later = path.parent.stat().st_mtime_ns + 1_000_000  # the clock of the file system may tick too slowly
            os.utime(path.parent, ns=(later, later))

    def _run(self, cell: Cell, args: Sequence[Any]) -> Any:
        iteration = self.switch.iteration
        self.runs.append((cell.graph, iteration))
        result = cell.work(*args)
        if iteration > 0:
            folder = self._folder()
            for parameter in cell.get_parameters():
                folder.parameter(iteration, parameter.name, parameter.asnumpy(), cell.graph)
            name = f"Default/net/{cell.op}-op{cell.graph}"
            folder.run(iteration, cell.op, name, outputs={0: np.float32(iteration)}, graph=cell.graph)
        return result

    def _folder(self) -> DumpFolder:
        return DumpFolder(Path(self.switch.config["common_dump_settings"]["path"]))

    def _sync(self) -> None:
        self.syncs += 1
        error, self.error = self.error, None
        if error is not None:
            raise error

    def _make_api(self) -> ModuleType:
        ms = self

        class _CellGraphExecutor:
            def compile(self, obj: Cell, *args: Any, phase: str = "predict", **options: Any) -> tuple[str, bool]:
                ms._compile(obj)
                return phase, True

            def __call__(self, obj: Cell, *args: Any, phase: str = "predict") -> Any:
                return ms._run(obj, args)

        class _JitExecutor:
            def __init__(self, function: Cell) -> None:
                self._function = function

            def compile(self, *args: Any, **options: Any) -> str:
                ms._compile(self._function)
                return f"jit{id(self._function)}"

        class _PyNativeExecutor:
            def grad_jit(self, function: Cell, *args: Any) -> Any:
                return ms._run(function, args)

            def sync(self) -> None:
                ms._sync()

        api = ModuleType("mindspore.graph.api")
        for cls in (_CellGraphExecutor, _JitExecutor, _PyNativeExecutor):
            cls.__module__ = api.__name__
            setattr(api, cls.__name__, cls)
        api._cell_graph_executor, api._pynative_executor = _CellGraphExecutor(), _PyNativeExecutor()
        return api
