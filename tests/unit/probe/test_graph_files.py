"""Graph files as they appear, and what a run of a graph means for the count of steps."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from stepscope.core.graph.optimizers import OPTIMIZERS
from stepscope.probe.mindspore.graphs import GraphFiles, RunKind
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.testing.dumps import DumpFolder, GraphFile

LENET_ADAM = Path(__file__).parents[2] / "data" / "lenet_adam.pb.gz"
CELL, OTHER_CELL, JIT = object(), object(), None


def one_op(op: str, name: str = "Default/x") -> GraphFile:
    graph = GraphFile()
    graph.op(f"{name}/{op}")
    return graph


@pytest.fixture
def dump(tmp_path) -> DumpFolder:
    return DumpFolder(tmp_path / "data")


@pytest.fixture
def files(dump) -> GraphFiles:
    """What the probe knows of the graphs in `dump`."""

    class Now:
        @property
        def rank_folder(self) -> Path | None:
            return next(dump.path.glob("rank_*"), None)

    return GraphFiles(Now())


def compiled(files: GraphFiles, phase: str, cell: object) -> None:
    """As after a compile, however fast the clock of the file system ticks."""
    folder = next(iter(files._dump.rank_folder.glob("graphs")))
    later = folder.stat().st_mtime_ns + 1_000_000
    os.utime(folder, ns=(later, later))
    assert files.changed()
    files.take_new(phase, cell)


def test_nothing_has_changed_until_a_graph_is_written(files, dump):
    assert not files.changed()
    (dump.path / "rank_0").mkdir(parents=True)
    assert not files.changed()
    dump.write_graph(0, one_op("Add"))
    assert files.changed()
    assert not files.changed()


def test_a_graph_is_told_once(files, dump):
    first = dump.write_graph(0, one_op("Add"))
    (first.parent / "ms_output_trace_code_graph_1.ir").write_text("no graph file")
    (first.parent / "execution_order").mkdir()
    compiled(files, "train", CELL)
    assert files.untold == [(0, first)]
    assert files.known == {0}
    files.untold.clear()
    later = [dump.write_graph(number, one_op("Add")) for number in (2, 13)]
    compiled(files, "train", CELL)
    assert sorted(files.untold) == [(2, later[0]), (13, later[1])]
    assert files.known == {0, 2, 13}


def test_gradients_are_seen(files, dump):
    dump.write_graph(0, one_op("MatMul"))
    compiled(files, "train", CELL)
    assert not files.any_gradient
    dump.write_graph(1, one_op("MatMul", "Gradients/Default"))
    compiled(files, "train", CELL)
    assert files.any_gradient
    dump.write_graph(2, one_op("MatMul"))
    compiled(files, "eval", CELL)
    assert files.any_gradient


def test_the_optimizer_in_a_graph_of_mindspore(files, dump):
    path = dump.write_graph(0, GraphFile())
    path.write_bytes(gzip.decompress(LENET_ADAM.read_bytes()))
    compiled(files, "eval.of a phase whose name misleads", CELL)
    assert files.any_gradient
    assert files.kind_of_run("eval.of a phase whose name misleads", CELL, "optimizer") is RunKind.STEP


def test_a_graph_of_mindspore_without_its_optimizer_does_not_train(files, dump):
    model = pb.ModelProto.FromString(gzip.decompress(LENET_ADAM.read_bytes()))
    rest = [node for node in model.graph.node if node.op_type != "Adam"]
    assert 0 < len(rest) < len(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend(rest)
    assert b"Adam" in model.SerializeToString()  # as scope, and as the name of parameters
    dump.write_graph(0, GraphFile()).write_bytes(model.SerializeToString())
    compiled(files, "train", CELL)
    assert files.kind_of_run("train", CELL, "optimizer") is RunKind.PART_OF_STEP


@pytest.mark.parametrize("op", OPTIMIZERS)
def test_every_optimizer_is_found(op, files, dump):
    dump.write_graph(0, one_op(op))
    compiled(files, "train", CELL)
    assert files.kind_of_run("train", CELL, "optimizer") is RunKind.STEP


@pytest.mark.parametrize("op", ["ada", "Adam2", "MyAdam", "ApplyMomentumX", "AssignAdd", "adam"])
def test_what_only_sounds_like_an_optimizer_is_none(op, files, dump):
    dump.write_graph(0, one_op(op, "Default/Adam/SGD"))
    compiled(files, "train", CELL)
    assert files.kind_of_run("train", CELL, "optimizer") is RunKind.PART_OF_STEP


STEP, PART, EVALUATION = RunKind.STEP, RunKind.PART_OF_STEP, RunKind.EVALUATION


@pytest.mark.parametrize(
    ("phase", "cell", "trains", "run", "optimizer", "forward"),
    [
        ("train.1", CELL, True, STEP, STEP, STEP),
        ("train.1", CELL, False, STEP, PART, STEP),
        ("eval.1", CELL, False, EVALUATION, EVALUATION, STEP),
        ("predict", CELL, False, EVALUATION, EVALUATION, STEP),
        ("eval.1", CELL, True, STEP, STEP, STEP),  # trained without set_train()
        ("evaluate_and_train", JIT, False, STEP, PART, STEP),  # a jit function has no phase that would tell
        ("jit", JIT, True, STEP, STEP, STEP),
    ],
)
def test_what_a_run_is(phase, cell, trains, run, optimizer, forward, files, dump):
    dump.write_graph(0, one_op("Add"))
    dump.write_graph(1, one_op("ApplyMomentum" if trains else "Add"))
    compiled(files, phase, cell)
    assert files.kind_of_run(phase, cell, "run") is run
    assert files.kind_of_run(phase, cell, "optimizer") is optimizer
    assert files.kind_of_run(phase, cell, "forward") is forward


def test_graphs_belong_to_the_phase_of_the_cell_that_compiled_them(files, dump):
    dump.write_graph(0, one_op("SGD"))
    compiled(files, "train", CELL)
    assert files.kind_of_run("train", OTHER_CELL, "optimizer") is PART
    assert files.kind_of_run("eval", CELL, "optimizer") is EVALUATION
    assert files.kind_of_run("train", JIT, "optimizer") is PART


def test_a_later_graph_without_optimizer_takes_nothing_back(files, dump):
    """A jit function with control flow has many graphs; its optimizer is in one of them."""
    dump.write_graph(0, one_op("SGD"))
    compiled(files, "f", JIT)
    dump.write_graph(1, one_op("Add"))
    compiled(files, "f", JIT)
    assert files.kind_of_run("f", JIT, "optimizer") is STEP


def test_the_folder_is_looked_at_and_no_more(files, dump):
    """One stat a run is what a training that runs free pays."""
    dump.write_graph(0, one_op("Add"))
    files.changed()
    files._dump = SimpleNamespace()  # not asked again
    assert not files.changed()
