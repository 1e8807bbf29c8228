"""The graph files that MindSpore writes when it compiles, and what a run of a graph means.

The files are protobuf; here they are only searched for a few names, since this process must not depend on protobuf.
"""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path
from typing import Any

from stepscope.core.graph.optimizers import OPTIMIZERS
from stepscope.probe.mindspore.dump import Dump

_NUMBER = re.compile(r"ms_output_trace_code_graph_(\d+)\.pb")


class RunKind(Enum):
    STEP = "the run ends a step"
    PART_OF_STEP = "the run belongs to a step that a later run ends"
    EVALUATION = "the run is no training"


class GraphFiles:
    def __init__(self, dump: Dump) -> None:
        self._dump = dump
        self._folder: Path | None = None
        self._stamp = 0
        self.known: set[int] = set()
        self.any_gradient = False
        self.untold: list[tuple[int, Path]] = []  # number, file: not yet told to the agent
        self._trains: dict[object, bool] = {}  # what a run is known by → whether an optimizer is in its graphs
        self._optimizer = re.compile(b"|".join(b"\x1a" + bytes([len(op)]) + op.encode() for op in OPTIMIZERS))

    def changed(self) -> bool:
        """Whether graphs were compiled since the last call: one stat."""
        if self._folder is None:
            rank = self._dump.rank_folder
            if rank is None or not (rank / "graphs").is_dir():
                return False
            self._folder = rank / "graphs"
        stamp = self._folder.stat().st_mtime_ns
        changed, self._stamp = stamp != self._stamp, stamp
        return changed

    def take_new(self, phase: str, cell: Any) -> None:
        """Takes in the graphs that were not known before; they belong to this phase of this cell or jit function."""
        assert self._folder is not None
        for path in self._folder.iterdir():
            match = _NUMBER.fullmatch(path.name)
            if not match or int(match[1]) in self.known:
                continue
            self.known.add(int(match[1]))
            self.untold.append((int(match[1]), path))
            content = path.read_bytes()
            self.any_gradient = self.any_gradient or b"Gradients/" in content
            key = _key(phase, cell)
            self._trains[key] = self._trains.get(key, False) or bool(self._optimizer.search(content))

    def kind_of_run(self, phase: str, cell: Any, unit: str) -> RunKind:
        trains = self._trains.get(_key(phase, cell), False)
        if unit == "forward":
            return RunKind.STEP
        if cell is not None and not trains and phase.startswith(("eval", "predict")):
            return RunKind.EVALUATION
        if unit == "optimizer" and not trains:
            return RunKind.PART_OF_STEP
        return RunKind.STEP


def _key(phase: str, cell: Any) -> object:
    return (phase, id(cell)) if cell is not None else phase
