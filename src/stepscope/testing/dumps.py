"""What MindSpore leaves behind, in small: graph files, and the dump directories of recorded steps.

Layout and names are those of MindSpore 2.7 to 2.10 on a CPU. Every file gets a later timestamp than the one before.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from stepscope.core.step_data import BEFORE, NET
from stepscope.protocol.gen import stepscope_pb2 as pb

Array = np.ndarray[Any, Any]


class GraphFile:
    """A graph being made. What stands for a node (its number, a parameter's name, a constant's key) is its input."""

    def __init__(self) -> None:
        self.proto = pb.GraphProto(name="0", root_name="0")
        self.monad = self.constant(pb.ValueProto())

    def parameter(self, name: str, shape: tuple[int, ...] = (), data_type: int = pb.DT_FLOAT32) -> str:
        self.proto.parameters.add(name=name, type=tensor_type(shape, data_type))
        return name

    def constant(self, value: pb.ValueProto | int) -> str:
        count = len(self.proto.const_vals)
        content = pb.ValueProto(dtype=pb.DT_INT64, int_val=value) if isinstance(value, int) else value
        self.proto.const_vals.add(key=f"cst{count + 1}", full_name=f"Default_data-{count}", value=content)
        return f"cst{count + 1}"

    def op(self, name: str, *inputs: str, shape: tuple[int, ...] = (), tuple_of: int = 0) -> str:
        """A node, whose name ends with its type ("Default/fc1-Dense/MatMul"), with a tuple of outputs if so said."""
        output = tensor_type(shape)
        if tuple_of:
            output = pb.TypeProto(data_type=pb.DT_TUPLE)
            output.sequence_type.elem_types.extend([tensor_type(None)] * tuple_of)
        scope, _, op = name.rpartition("/")
        number = str(len(self.proto.node) + 1)
        refs = [pb.InputProto(name=one, type=pb.InputProto.DATA_EDGE) for one in inputs]
        self.proto.node.add(
            name=number, op_type=op, scope=scope, full_name=f"{name}-op{number}", input=refs, output_type=output
        )
        return number


class DumpFolder:
    """Where one process writes; made in `folder` as far as it is not there."""

    def __init__(self, folder: Path, rank: int = 0) -> None:
        self.path = folder
        self._rank = folder / f"rank_{rank}"
        self._clock = 1_700_000_000_000_000

    def write_graph(self, number: int, graph: GraphFile) -> Path:
        path = self._rank / "graphs" / f"ms_output_trace_code_graph_{number}.pb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pb.ModelProto(graph=graph.proto).SerializeToString())
        return path

    def run(
        self,
        step: int,
        op: str,
        name: str,
        inputs: Mapping[int, Array] | None = None,
        outputs: Mapping[int, Array] | None = None,
        graph: int = 0,
    ) -> None:
        """One run of a node: `name` is the dump's ("Default/fc1-Dense/MatMul-op0")."""
        for direction, arrays in (("input", inputs or {}), ("output", outputs or {})):
            for slot, array in arrays.items():
                self._write(self.step_folder(step, graph), op, name, direction, slot, array)

    def parameter(self, step: int, name: str, array: Array, graph: int = 0) -> None:
        """A parameter, or an input of the graph, as MindSpore writes it at the end of a run."""
        self._write(self.step_folder(step, graph), "Parameter", name, "output", 0, array)

    def parameters_before(self, step: int, values: Mapping[str, Array]) -> None:
        """The copies of the parameters that the probe makes before the step that follows `step`."""
        folder = self.path / BEFORE / str(step)
        folder.mkdir(parents=True)
        index = []
        for number, (name, array) in enumerate(values.items()):
            np.save(folder / f"{number}.npy", array, allow_pickle=False)
            entry = {"name": name, "file": f"{number}.npy", "dtype": array.dtype.name, "shape": list(array.shape)}
            index.append({**entry, "own": True})
        (folder / "index.json").write_text(json.dumps(index))

    def step_folder(self, step: int, graph: int = 0) -> Path:
        folder = self._rank / NET / str(graph) / str(step)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _write(self, folder: Path, op: str, name: str, direction: str, slot: int, array: Array) -> None:
        self._clock += 10
        for character in "/\\. ":
            name = name.replace(character, "_")
        dtype = array.dtype.name.capitalize()
        file = f"{op}.{name}.0.0.{self._clock}.{direction}.{slot}.DefaultFormat.{dtype}.npy"
        if len(file) > 255:
            with (folder / "mapping.csv").open("a", newline="", encoding="utf-8") as lines:
                csv.writer(lines).writerow([f"{self._clock}.npy", file])
            file = f"{self._clock}.npy"
        np.save(folder / file, array, allow_pickle=False)


def tensor_type(shape: tuple[int, ...] | None, data_type: int = pb.DT_FLOAT32) -> pb.TypeProto:
    """None: a shape that is not told, as that of a tuple's element."""
    result = pb.TypeProto(data_type=pb.DT_TENSOR)
    result.tensor_type.elem_type = data_type
    if shape is not None:
        result.tensor_type.shape.SetInParent()
        result.tensor_type.shape.dim.extend(pb.TensorShapeProto.Dimension(size=size) for size in shape)
    return result
