"""The files of a dumped step: what their names say, and that any array in them comes out as it was."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from stepscope.core.errors import NotAvailable
from stepscope.replay.mindspore.files import DumpFile, listing, parse, read
from stepscope.testing.dumps import DumpFolder

PATH = Path("/somewhere")
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
DTYPES = (
    hnp.boolean_dtypes()
    | hnp.integer_dtypes(endianness="=")
    | hnp.unsigned_integer_dtypes(endianness="?")
    | hnp.floating_dtypes(endianness="?", sizes=(16, 32, 64))
    | hnp.complex_number_dtypes(endianness="<", sizes=(64, 128))
)
same_folder = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=80, deadline=None
)


# ------------------------------------------------------------ names


def test_the_parts_of_a_name():
    name = "MatMul.Default_net-Net_fc1-Dense_MatMul-op12.0.3.1700000000123456.input.1.DefaultFormat.BFloat16.npy"
    assert parse(name, PATH) == DumpFile(
        PATH, "MatMul", "Default_net-Net_fc1-Dense_MatMul-op12", 1_700_000_000_123_456, True, 1, "bfloat16"
    )
    output = parse(name.replace("input.1", "output.10"), PATH)
    assert output is not None
    assert (output.is_input, output.slot) == (False, 10)


def test_a_name_with_dots_in_it_is_taken_from_both_ends():
    file = parse("Parameter.fc1.weight.0.0.5.output.0.DefaultFormat.Float32.npy", PATH)
    assert file is not None
    assert (file.op, file.node) == ("Parameter", "fc1.weight")


@pytest.mark.parametrize(
    "name",
    [
        "mapping.csv",
        "",
        ".npy",
        "123.npy",
        "MatMul.x-op0.0.0.5.input.0.DefaultFormat.Float32.csv",
        "MatMul.x-op0.0.0.5.weight.0.DefaultFormat.Float32.npy",
        "MatMul.x-op0.0.0.now.input.0.DefaultFormat.Float32.npy",
        "MatMul.x-op0.0.0.5.input.first.DefaultFormat.Float32.npy",
        "MatMul.0.0.5.input.0.DefaultFormat.Float32.npy",  # no node
    ],
)
def test_what_is_no_tensor(name):
    assert parse(name, PATH) is None


def test_the_files_of_a_folder_in_the_order_of_writing(tmp_path):
    names = [f"Add.n{number}.0.0.{time}.output.0.F.Float32.npy" for number, time in enumerate((30, 9, 200))]
    for name in (*names, "mapping.csv.bak", "ms_global.csv"):
        (tmp_path / name).write_text("")
    assert [(file.node, file.path.name) for file in listing(tmp_path)] == [
        ("n1", names[1]),
        ("n0", names[0]),
        ("n2", names[2]),
    ]


def test_names_that_are_too_long_stand_in_a_table(tmp_path):
    dump = DumpFolder(tmp_path)
    name = "Default/" + "n" * 250 + "/Add-op0"
    dump.run(1, "Add", name, inputs={0: np.float32(1)}, outputs={0: np.float32(2)})
    dump.run(1, "Add", "Default/Add-op0", outputs={0: np.float32(3)})
    files = listing(dump.step_folder(1))
    assert [(file.node, file.is_input, float(read(file.path))) for file in files] == [
        ("Default_" + "n" * 250 + "_Add-op0", True, 1.0),
        ("Default_" + "n" * 250 + "_Add-op0", False, 2.0),
        ("Default_Add-op0", False, 3.0),
    ]
    assert len(files[0].path.name) < 30


def test_a_table_with_half_a_line_is_read_as_far_as_it_goes(tmp_path):
    """MindSpore may be at it."""
    (tmp_path / "5.npy").write_text("")
    (tmp_path / "6.npy").write_text("")
    (tmp_path / "mapping.csv").write_text("5.npy,Add.x.0.0.5.output.0.F.Float32.npy\n6.npy")
    assert [file.node for file in listing(tmp_path)] == ["x"]


# ------------------------------------------------------------ arrays


def write(folder: Path, array: np.ndarray) -> Path:
    path = folder / "array.npy"
    path.unlink(missing_ok=True)
    np.save(path, array, allow_pickle=False)
    return path


@same_folder
@given(st.data())
def test_every_array_comes_out_as_numpy_wrote_it(tmp_path, data):
    array = data.draw(hnp.arrays(data.draw(DTYPES), SHAPES))
    array = np.asarray(array, order=data.draw(st.sampled_from("CF")))
    found = read(write(tmp_path, array))
    assert found.shape == array.shape
    assert found.dtype == array.dtype
    assert found.tobytes() == array.tobytes()
    assert not found.size or found.flags.f_contiguous or found.flags.c_contiguous


def write_bfloat16(folder: Path, bits: np.ndarray, order: str = "C") -> Path:
    """As MindSpore does on a CPU: the type that numpy has no name for."""
    header = {"descr": "<E2", "fortran_order": order == "F", "shape": bits.shape}
    path = folder / "bfloat16.npy"
    path.unlink(missing_ok=True)
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        file.write(bits.astype("<u2").tobytes(order))
    return path


@same_folder
@given(hnp.arrays(np.uint16, SHAPES), st.sampled_from("CF"))
def test_bfloat16_comes_out_as_its_bits(tmp_path, bits, order):
    found = read(write_bfloat16(tmp_path, bits, order))
    assert found.dtype == np.uint16
    assert np.array_equal(found, bits)


@pytest.mark.parametrize("descr", ["<f2", "<E2"])
@pytest.mark.parametrize("shape", [(2, 3), ()])
def test_single_precision_under_a_header_of_half_precision(descr, shape, tmp_path):
    """So MindSpore dumps a kernel that it runs in single precision for want of another."""
    values = np.array([1e6, -1.5, 70_000, 0.1, 3, -4], np.float32)[: int(np.prod(shape))].reshape(shape)
    path = tmp_path / "array.npy"
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": shape})
        file.write(values.tobytes())
    found = read(path)
    assert found.dtype == np.float32
    assert found.tolist() == values.tolist()


@pytest.mark.parametrize(("version", "start"), [((1, 0), 10), ((2, 0), 12), ((3, 0), 12)])
def test_all_versions_of_the_format(version, start, tmp_path):
    path = tmp_path / "array.npy"
    with path.open("wb") as file:
        np.lib.format.write_array(file, np.arange(5), version)
    assert path.read_bytes()[start : start + 1] == b"{"
    assert read(path).tolist() == [0, 1, 2, 3, 4]


def test_an_array_is_not_read_into_memory(tmp_path):
    found = read(write(tmp_path, np.zeros((100, 3), np.float32)))
    owner = found
    while isinstance(owner, np.ndarray):
        owner = owner.base
    assert isinstance(owner, memoryview)
    assert isinstance(owner.obj, mmap.mmap)
    assert not found.flags.writeable


@pytest.mark.parametrize(
    ("header", "count", "shape"),
    [
        ((-1, 3), 12, (4, 3)),
        ((2, -1), 12, (2, 6)),
        ((-1,), 12, (12,)),
        ((-1, -1), 12, (12,)),  # nobody can tell
        ((-1, 5), 12, (12,)),
    ],
)
def test_a_shape_that_was_not_known_is_counted(header, count, shape, tmp_path):
    """MindSpore 2.7 writes the compiler's -1 of dynamic shapes into the file."""
    path = tmp_path / "array.npy"
    with path.open("wb") as file:
        description = {"descr": "<f4", "fortran_order": False, "shape": header}
        np.lib.format.write_array_header_1_0(file, description)
        file.write(np.arange(count, dtype="<f4").tobytes())
    assert read(path).shape == shape
    assert read(path).ravel().tolist() == list(range(count))


def test_a_file_that_is_gone(tmp_path):
    with pytest.raises(NotAvailable, match="the step has moved on; its values are gone"):
        read(tmp_path / "array.npy")


@same_folder
@given(st.data())
def test_a_file_that_was_cut_off_is_refused(tmp_path, data):
    array = data.draw(hnp.arrays(np.float32, hnp.array_shapes(min_dims=0, max_dims=2)))
    path = write(tmp_path, array)
    content = path.read_bytes()
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    with pytest.raises(NotAvailable, match=r"array\.npy can't be read: "):
        read(path)


HEADERS: list[Any] = [
    {"descr": "<f4", "fortran_order": False},
    {"descr": "no type", "fortran_order": False, "shape": (1,)},
    {"descr": [("a", "<f4")], "fortran_order": False, "shape": (1,)},
    {"descr": "<f4", "fortran_order": False, "shape": 5},
    {"descr": "<f4", "fortran_order": False, "shape": ("x",)},
    {"descr": "<f4", "fortran_order": False, "shape": (1 << 70, 1 << 70)},
    {"descr": "<V0", "fortran_order": False, "shape": (-1,)},
    ["descr"],
    5,
]


@pytest.mark.parametrize("header", HEADERS, ids=repr)
def test_a_header_that_makes_no_sense_is_refused(header, tmp_path):
    path, text = tmp_path / "array.npy", repr(header).encode()
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(64))
    with pytest.raises(NotAvailable, match=r"array\.npy can't be read: "):
        read(path)


@same_folder
@given(st.binary(max_size=200), st.sampled_from([b"", b"\x93NUMPY\x01\x00", b"\x93NUMPY\x01\x00\x40\x00{'descr': "]))
def test_whatever_is_in_a_file_nothing_worse_comes_of_it(tmp_path, content, start):
    path = tmp_path / "array.npy"
    path.unlink(missing_ok=True)
    path.write_bytes(start + content)
    with pytest.raises(NotAvailable):
        read(path)


class Evil:
    """Runs code where it is unpickled."""

    def __reduce__(self) -> Any:
        return os.mkdir, (f"{os.environ['EVIL']}/unpickled",)


def test_objects_are_never_unpickled(tmp_path, monkeypatch):
    monkeypatch.setenv("EVIL", str(tmp_path))
    path = tmp_path / "array.npy"
    np.save(path, np.array([Evil()], dtype=object), allow_pickle=True)
    assert b"mkdir" in path.read_bytes()
    with pytest.raises(NotAvailable, match=r"array\.npy holds Python objects, which are not read"):
        read(path)
    assert not (tmp_path / "unpickled").exists()
