"""Parameters as they are in the process: which of them are trained, and copies for steps that have no record.

A copy is needed before the first step and wherever a recorded step follows one that was not recorded, so that a weight
can always be compared with the step before.
"""

from __future__ import annotations

import gc
import json
import sys
from typing import Any

import numpy as np

from stepscope.core.step_data import BEFORE
from stepscope.probe.mindspore.dump import Dump


class ParameterSnapshot:
    def __init__(self, dump: Dump) -> None:
        self._dump = dump

    def roles(self, cell: Any) -> dict[str, bool]:
        """Name → trainable, of every parameter alive; the running cell's come first where a name is used twice."""
        roles: dict[str, bool] = {}
        for parameter in _alive(cell):
            roles.setdefault(parameter.name, bool(parameter.requires_grad))
        return roles

    def take(self, step: int, cell: Any) -> None:
        """Copies every parameter as its value after `step`; skipped where it would not fit."""
        folder = self._dump.folder.path / BEFORE / str(step)
        if folder.exists():
            return
        parameters = _alive(cell)
        size = sum(_bytes(parameter) for parameter in parameters)
        if size * 2 > self._dump.folder.free_bytes():
            return
        folder.mkdir(parents=True)
        own = {id(parameter) for parameter in _own(cell)}
        index = []
        for number, parameter in enumerate(parameters):
            array, dtype = _value(parameter)
            if array is None:
                continue
            np.save(folder / f"{number}.npy", array, allow_pickle=False)
            entry = {"name": parameter.name, "dtype": dtype, "shape": array.shape, "file": f"{number}.npy"}
            index.append({**entry, "own": id(parameter) in own})
        (folder / "index.json").write_text(json.dumps(index))


def _alive(cell: Any) -> list[Any]:
    """The cell's parameters, then every other one that is alive: a jit function's weights hang on no cell we see."""
    kind = sys.modules["mindspore"].Parameter
    own = _own(cell)
    seen = {id(parameter) for parameter in own}
    # By the type, never by isinstance: that one asks proxies for their class, and what proxies stand for may be gone.
    others = [thing for thing in gc.get_objects() if kind in type(thing).__mro__ and id(thing) not in seen]
    return own + others


def _own(cell: Any) -> list[Any]:
    return list(cell.get_parameters()) if cell is not None else []


def _bytes(parameter: Any) -> int:
    return int(np.prod(parameter.shape, dtype=np.int64)) * int(parameter.itemsize) if _static(parameter) else 0


def _static(parameter: Any) -> bool:
    return all(size >= 0 for size in parameter.shape)


def _value(parameter: Any) -> tuple[np.ndarray[Any, Any] | None, str]:
    """The value and MindSpore's name of its type; bfloat16 as float32, which holds it exactly."""
    dtype = str(parameter.dtype).lower()
    try:
        if dtype == "bfloat16":
            return parameter.float().asnumpy(), dtype
        return parameter.asnumpy(), dtype
    except (RuntimeError, TypeError, ValueError):  # no data yet, or sliced away to another place
        return None, dtype
