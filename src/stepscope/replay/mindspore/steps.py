"""One recorded step: which node ran when, and where each of its tensors lies."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from stepscope.core.ports import ExecutedNode
from stepscope.replay.mindspore.files import PARAMETER, DumpFile, listing
from stepscope.replay.mindspore.names import mangle

_Slot = tuple[bool, int]  # is it an input, and which


class NodeNames:
    """From the dump's mangled names back to nodes, over every graph of the process."""

    def __init__(self) -> None:
        self._nodes: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
        self._parameters: dict[str, dict[str, list[str]]] = {}

    def add(self, graph: str, nodes: Iterable[tuple[str, str, str]], parameters: Iterable[tuple[str, str]]) -> None:
        """`nodes`: (op, name in the dump, name in the graph); `parameters`: (name in the dump, name in the graph).

        The parameters come in the graph's own order, which is the order of their files.
        """
        for op, dumped, name in nodes:
            self._nodes[op, mangle(dumped)].append((graph, name))
        by_name: dict[str, list[str]] = defaultdict(list)
        for dumped, name in parameters:
            by_name[mangle(dumped)].append(name)
        self._parameters[graph] = by_name

    def node(self, file: DumpFile, graph: str) -> tuple[str, str] | None:
        """(graph, node) of a file in the folder of `graph`; None for a name that no graph has."""
        found = self._nodes.get((file.op, file.node), ())
        return next((pair for pair in found if pair[0] == graph), found[0] if found else None)

    def parameters(self, graph: str, mangled: str) -> list[str]:
        return self._parameters.get(graph, {}).get(mangled, [])


@dataclass(frozen=True)
class SavedParameter:
    """A parameter that was copied in the process, outside any run. `own`: of the network that ran next."""

    path: Path
    dtype: str
    shape: tuple[int, ...]
    own: bool


@dataclass
class _Run:
    """One run of a node in the step; `position` is its place, from 1, in the order of execution."""

    node: ExecutedNode
    began: int
    files: dict[_Slot, DumpFile] = field(default_factory=dict)
    position: int = 0


class RecordedStep:
    """The tensors of a step: `folders` are the dump's, by graph; `before` holds copies of the parameters, if any."""

    def __init__(self, step: int, folders: dict[str, Path], before: Path, names: NodeNames) -> None:
        self.step = step
        self.unmatched: list[DumpFile] = []
        self._runs: dict[tuple[str, str], list[_Run]] = defaultdict(list)
        self._parameters: dict[tuple[str, str], DumpFile] = {}
        self._before = before
        self._saved: dict[str, list[SavedParameter]] = {}
        for graph, folder in folders.items():
            self._read(graph, listing(folder), names)
        runs = sorted((run for of_node in self._runs.values() for run in of_node), key=lambda run: run.began)
        for position, run in enumerate(runs, 1):
            run.position = position
        self.order = [run.node for run in runs]

    def find(self, graph: str, node: str, slot: int, *, is_input: bool, at: int | None = None) -> DumpFile | None:
        """The file of a node's input or output.

        Of a node that ran several times in the step: from its last run up to position `at` in the order of execution
        (its first, if that is later; without `at`, its last).
        """
        runs = self._runs.get((graph, node))
        if not runs:
            return None
        run = runs[-1] if at is None else next((run for run in reversed(runs) if run.position <= at), runs[0])
        return run.files.get((is_input, slot))

    def ran(self, graph: str, node: str) -> bool:
        return (graph, node) in self._runs

    def parameter(self, graph: str, name: str) -> DumpFile | None:
        """A parameter, or an input of the graph, as it was at the end of the step."""
        return self._parameters.get((graph, name))

    def saved(self, name: str, shape: tuple[int, ...] | None) -> SavedParameter | None:
        """The copy of a parameter; None if there is none, or several of that name that nothing tells apart."""
        if not self._saved:  # the copies are made when the next step begins: after this step was first looked at
            self._saved = _saved(self._before)
        found = [saved for saved in self._saved.get(name, ()) if shape is None or saved.shape == shape]
        own = [saved for saved in found if saved.own]
        candidates = own or found
        return candidates[0] if len(candidates) == 1 else None

    def _read(self, graph: str, files: list[DumpFile], names: NodeNames) -> None:
        parameters: dict[str, list[DumpFile]] = defaultdict(list)
        for file in files:
            if file.op == PARAMETER:
                parameters[file.node].append(file)
                continue
            key = names.node(file, graph)
            if key is None:
                self.unmatched.append(file)
                continue
            runs, slot = self._runs[key], (file.is_input, file.slot)
            if not runs or slot in runs[-1].files:  # a slot that comes again: the node ran again
                runs.append(_Run(ExecutedNode(*key, occurrence=len(runs)), file.timestamp))
            runs[-1].files[slot] = file
        for mangled, found in parameters.items():
            owners = names.parameters(graph, mangled)
            if not owners:
                self.unmatched += found
            for owner, file in zip(owners, found[-len(owners) :], strict=False):  # of several runs, the last
                self._parameters[graph, owner] = file


def _saved(folder: Path) -> dict[str, list[SavedParameter]]:
    saved: dict[str, list[SavedParameter]] = defaultdict(list)
    index = folder / "index.json"
    if index.exists():
        for entry in json.loads(index.read_text()):
            path = folder / entry["file"]
            saved[entry["name"]].append(SavedParameter(path, entry["dtype"], tuple(entry["shape"]), entry["own"]))
    return saved
