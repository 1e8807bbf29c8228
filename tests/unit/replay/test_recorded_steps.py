"""One recorded step: which node ran when, how often, and where each of its tensors lies."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from stepscope.core.ports import ExecutedNode
from stepscope.replay.mindspore.files import DumpFile, parse, read
from stepscope.replay.mindspore.steps import NodeNames, RecordedStep
from stepscope.testing.dumps import DumpFolder

NOTHING = Path("/no/such/folder")


def one(value: float) -> np.ndarray:
    return np.array([value], np.float32)


def value_in(file) -> float | None:
    return None if file is None else float(read(file.path)[0])


@pytest.fixture
def dump(tmp_path) -> DumpFolder:
    return DumpFolder(tmp_path)


@pytest.fixture
def names() -> NodeNames:
    """Nodes a, b and c of graph "g", and a node that only graph "other" has."""
    found = NodeNames()
    found.add("g", [("Add", f"S/{name}-op0", f"S/{name}-op0") for name in "abc"], [("x.y", "x.y"), ("w", "w")])
    found.add("other", [("Add", "S/d-op0", "S/d-op0"), ("Mul", "S/a-op0", "S/a-op0#2")], [])
    return found


def step(dump: DumpFolder, names: NodeNames, before: Path = NOTHING, graphs: str = "g") -> RecordedStep:
    folders = {name: dump.step_folder(1, number) for number, name in enumerate(graphs.split())}
    return RecordedStep(1, folders, before, names)


# ------------------------------------------------------------ names


def file_of(op: str, node: str) -> DumpFile:
    found = parse(f"{op}.{node}.0.0.5.output.0.F.Float32.npy", NOTHING)
    assert found is not None
    return found


def test_a_file_belongs_to_the_node_of_its_name_and_type(names):
    assert names.node(file_of("Add", "S_a-op0"), "g") == ("g", "S/a-op0")
    assert names.node(file_of("Mul", "S_a-op0"), "g") == ("other", "S/a-op0#2")  # of another graph, as on Ascend
    assert names.node(file_of("Add", "S_d-op0"), "g") == ("other", "S/d-op0")
    assert names.node(file_of("Sub", "S_a-op0"), "g") is None
    assert names.node(file_of("Add", "S_x-op0"), "g") is None


def test_of_nodes_with_the_same_mangled_name_that_of_the_folders_graph_comes_first():
    names = NodeNames()
    names.add("one", [("Add", "S/a.b-op0", "S/a.b-op0")], [])
    names.add("two", [("Add", "S/a/b-op0", "S/a/b-op0")], [])
    assert names.node(file_of("Add", "S_a_b-op0"), "one") == ("one", "S/a.b-op0")
    assert names.node(file_of("Add", "S_a_b-op0"), "two") == ("two", "S/a/b-op0")
    assert names.node(file_of("Add", "S_a_b-op0"), "three") == ("one", "S/a.b-op0")


# ------------------------------------------------------------ order


def test_the_order_is_that_of_the_files(dump, names):
    for name in "bac":
        dump.run(1, "Add", f"S/{name}-op0", {0: one(0)}, {0: one(1)})
    assert step(dump, names).order == [ExecutedNode("g", f"S/{name}-op0") for name in "bac"]


def test_the_order_goes_over_all_graphs_of_the_step(dump, names):
    dump.run(1, "Add", "S/a-op0", {}, {0: one(1)}, graph=0)
    dump.run(1, "Add", "S/d-op0", {}, {0: one(1)}, graph=1)
    dump.run(1, "Add", "S/b-op0", {}, {0: one(1)}, graph=0)
    recorded = step(dump, names, graphs="g other")
    assert [(node.graph, node.node) for node in recorded.order] == [
        ("g", "S/a-op0"),
        ("other", "S/d-op0"),
        ("g", "S/b-op0"),
    ]


def test_a_node_that_runs_again_is_there_again(dump, names):
    for round_ in range(3):
        dump.run(1, "Add", "S/a-op0", {0: one(round_), 1: one(0)}, {0: one(10 + round_)})
        if round_ < 2:
            dump.run(1, "Add", "S/b-op0", {}, {0: one(20 + round_)})
    recorded = step(dump, names)
    assert [(node.node[2], node.occurrence) for node in recorded.order] == [
        ("a", 0),
        ("b", 0),
        ("a", 1),
        ("b", 1),
        ("a", 2),
    ]


@pytest.mark.parametrize(
    ("at", "expected"), [(None, 12.0), (5, 12.0), (99, 12.0), (4, 11.0), (3, 11.0), (2, 10.0), (1, 10.0), (0, 10.0)]
)
def test_of_many_runs_the_last_before_the_cursor_is_shown(at, expected, dump, names):
    for round_ in range(3):
        dump.run(1, "Add", "S/a-op0", {0: one(round_)}, {0: one(10 + round_)})
        if round_ < 2:
            dump.run(1, "Add", "S/b-op0", {}, {0: one(0)})
    recorded = step(dump, names)
    assert value_in(recorded.find("g", "S/a-op0", 0, is_input=False, at=at)) == expected
    assert value_in(recorded.find("g", "S/a-op0", 0, is_input=True, at=at)) == expected - 10


def test_inputs_and_outputs_are_found_by_their_numbers(dump, names):
    dump.run(1, "Add", "S/a-op0", {0: one(1), 2: one(2)}, {0: one(3), 1: one(4)})
    recorded = step(dump, names)

    def value(slot: int, is_input: bool) -> float | None:
        return value_in(recorded.find("g", "S/a-op0", slot, is_input=is_input))

    assert [value(slot, True) for slot in range(3)] == [1.0, None, 2.0]
    assert [value(slot, False) for slot in range(3)] == [3.0, 4.0, None]
    assert recorded.ran("g", "S/a-op0")
    assert not recorded.ran("g", "S/b-op0")
    assert recorded.find("g", "S/b-op0", 0, is_input=False) is None
    assert recorded.find("other", "S/a-op0", 0, is_input=False) is None


def test_files_of_no_known_node_are_kept_apart(dump, names):
    dump.run(1, "Add", "S/a-op0", {}, {0: one(1)})
    dump.run(1, "Add", "S/unknown-op0", {}, {0: one(2)})
    dump.parameter(1, "unknown", one(3))
    recorded = step(dump, names)
    assert [value_in(file) for file in recorded.unmatched] == [2.0, 3.0]
    assert len(recorded.order) == 1


def test_an_empty_folder_is_an_empty_step(dump, names):
    assert step(dump, names).order == []


# ------------------------------------------------------------ parameters


def test_parameters_are_found_by_their_own_names(dump, names):
    dump.parameter(1, "w", one(1))
    dump.parameter(1, "x.y", one(2))
    recorded = step(dump, names)
    assert value_in(recorded.parameter("g", "w")) == 1.0
    assert value_in(recorded.parameter("g", "x.y")) == 2.0
    assert recorded.parameter("g", "z") is None
    assert recorded.parameter("other", "w") is None
    assert recorded.order == []  # they are no nodes that ran


@pytest.fixture
def alike() -> NodeNames:
    """Two parameters whose names are the same in the dump: their files are told apart by their order."""
    found = NodeNames()
    found.add("g", [("Add", "S/a-op0", "S/a-op0")], [("x.y_z", "x.y_z"), ("other", "other"), ("x_y.z", "x_y.z")])
    return found


def test_parameters_with_the_same_mangled_name_are_told_apart(dump, alike):
    for name, value in (("x.y_z", 1), ("other", 9), ("x_y.z", 2)):
        dump.parameter(1, name, one(value))
    recorded = step(dump, alike)
    assert value_in(recorded.parameter("g", "x.y_z")) == 1.0
    assert value_in(recorded.parameter("g", "x_y.z")) == 2.0


def test_of_several_runs_of_the_graph_the_last_counts(dump, alike):
    for round_ in (0, 10):
        for name, value in (("x.y_z", 1), ("other", 9), ("x_y.z", 2)):
            dump.parameter(1, name, one(round_ + value))
    recorded = step(dump, alike)
    assert value_in(recorded.parameter("g", "x.y_z")) == 11.0
    assert value_in(recorded.parameter("g", "x_y.z")) == 12.0
    assert value_in(recorded.parameter("g", "other")) == 19.0


# ------------------------------------------------------------ copies of parameters


def save(folder: Path, *entries: tuple[str, float, tuple[int, ...], bool]) -> None:
    folder.mkdir()
    index = []
    for number, (name, value, shape, own) in enumerate(entries):
        np.save(folder / f"{number}.npy", np.full(shape, value, np.float32))
        index.append({"name": name, "dtype": "float32", "shape": shape, "file": f"{number}.npy", "own": own})
    (folder / "index.json").write_text(json.dumps(index))


def saved(recorded: RecordedStep, name: str, shape: tuple[int, ...] | None = (1,)) -> float | None:
    found = recorded.saved(name, shape)
    return None if found is None else float(read(found.path).ravel()[0])


def test_copies_are_found_by_name_and_shape(dump, names, tmp_path):
    save(tmp_path / "before", ("w", 1, (1,), True), ("w", 2, (2, 2), True), ("v", 3, (), False))
    recorded = step(dump, names, tmp_path / "before")
    assert saved(recorded, "w", (1,)) == 1.0
    assert saved(recorded, "w", (2, 2)) == 2.0
    assert saved(recorded, "v", ()) == 3.0
    assert saved(recorded, "v", None) == 3.0  # of a shape that is not known
    assert saved(recorded, "w", (3,)) is None
    assert saved(recorded, "w", None) is None  # nothing tells which
    assert saved(recorded, "z") is None


def test_of_copies_alike_that_of_the_network_that_ran_is_taken(dump, names, tmp_path):
    save(tmp_path / "before", ("w", 1, (1,), False), ("w", 2, (1,), True), ("w", 3, (1,), False))
    assert saved(step(dump, names, tmp_path / "before"), "w") == 2.0


def test_copies_that_nothing_tells_apart_are_not_guessed(dump, names, tmp_path):
    save(tmp_path / "before", ("w", 1, (1,), False), ("w", 2, (1,), False))
    assert saved(step(dump, names, tmp_path / "before"), "w") is None


def test_copies_that_are_made_later_are_found(dump, names, tmp_path):
    """They are made when the next step begins, and this one may have been looked at before."""
    recorded = step(dump, names, tmp_path / "before")
    assert saved(recorded, "w") is None
    save(tmp_path / "before", ("w", 1, (1,), True))
    assert saved(recorded, "w") == 1.0
