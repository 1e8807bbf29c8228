"""The files of one dumped step: their names taken apart, and their arrays read.

A name is `op.node.task.stream.timestamp.input|output.slot.format.dtype.npy`; names that are too long for the file
system stand in `mapping.csv` beside a file with a random name.
"""

from __future__ import annotations

import ast
import csv
import math
import mmap
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from stepscope.core.errors import NotAvailable

PARAMETER = "Parameter"
_MAGIC = b"\x93NUMPY"
_BFLOAT16 = "<E2"
_HALF, _SINGLE = "<f2", "<f4"


@dataclass(frozen=True)
class DumpFile:
    """One tensor on disk. `node` is the mangled name; `dtype` MindSpore's name in lower case."""

    path: Path
    op: str
    node: str
    timestamp: int  # microseconds
    is_input: bool
    slot: int
    dtype: str


def parse(name: str, path: Path) -> DumpFile | None:
    """The parts of a dump file's name; None for a file that is no tensor."""
    parts = name.split(".")
    if len(parts) < 10 or parts[-1] != "npy":
        return None
    op, node = parts[0], ".".join(parts[1:-8])
    timestamp, direction, slot, _, dtype = parts[-6:-1]
    if direction not in ("input", "output") or not timestamp.isdigit() or not slot.isdigit():
        return None
    return DumpFile(path, op, node, int(timestamp), direction == "input", int(slot), dtype.lower())


def listing(folder: Path) -> list[DumpFile]:
    """The tensors of one graph's folder for one step, in the order in which they were written."""
    long_names: dict[str, str] = {}
    mapping = folder / "mapping.csv"
    if mapping.exists():
        with mapping.open(newline="", encoding="utf-8") as lines:
            long_names = {row[0].strip(): row[1].strip() for row in csv.reader(lines) if len(row) >= 2}
    files = []
    for path in folder.iterdir():
        name = long_names.get(path.name, long_names.get(path.stem, path.name))
        file = parse(name, path)
        if file is not None:
            files.append(file)
    files.sort(key=lambda file: file.timestamp)
    return files


def read(path: Path) -> np.ndarray[Any, Any]:
    """The array of an .npy file, memory-mapped; bfloat16, which numpy refuses, as bits. Never unpickles."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise NotAvailable("the step has moved on; its values are gone", code="moved_on") from error
    except OSError as error:
        raise NotAvailable(f"{path.name} can't be read: {error}") from error
    try:
        header, offset = _header(os.read(descriptor, 4096))
        descr, shape = str(header["descr"]), tuple(header["shape"])
        dtype = np.dtype("<u2" if descr == _BFLOAT16 else descr)
        if dtype.hasobject:
            raise NotAvailable(f"{path.name} holds Python objects, which are not read", code="no_numbers")
        if min(shape, default=0) < 0:
            shape = _counted(shape, (os.fstat(descriptor).st_size - offset) // dtype.itemsize)
        elif descr in (_HALF, _BFLOAT16) and os.fstat(descriptor).st_size - offset == 4 * math.prod(shape) > 0:
            # Where MindSpore has no kernel for half precision, it runs one for single precision and casts the result.
            # The dump is of that kernel's output, only its header says half precision.
            descr, dtype = _SINGLE, np.dtype(_SINGLE)
        order: Literal["F", "C"] = "F" if header["fortran_order"] else "C"
        if 0 in shape:
            array = np.empty(shape, dtype)
        elif not shape:
            array = np.frombuffer(os.pread(descriptor, dtype.itemsize, offset), dtype, 1).reshape(())
        else:
            array = _mapped(descriptor, dtype, offset, shape, order)
    except (OSError, SyntaxError, TypeError, ValueError, ArithmeticError, LookupError) as error:
        raise NotAvailable(f"{path.name} can't be read: {error}") from error
    finally:
        os.close(descriptor)
    return array


def _mapped(
    descriptor: int, dtype: np.dtype[Any], offset: int, shape: tuple[int, ...], order: Literal["F", "C"]
) -> np.ndarray[Any, Any]:
    """As numpy.memmap, which spends a tenth of a millisecond on each file: a step has a thousand of them."""
    memory = mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
    flat = np.frombuffer(memory, dtype, math.prod(shape), offset)
    return flat.reshape(shape, order=order)


def _counted(shape: tuple[int, ...], elements: int) -> tuple[int, ...]:
    """The shape of a dynamic tensor, whose header (of MindSpore 2.7) has -1 for what was not known at compile time."""
    known = int(np.prod([size for size in shape if size >= 0], dtype=np.int64))
    if sum(size < 0 for size in shape) == 1 and known and elements % known == 0:
        return tuple(elements // known if size < 0 else size for size in shape)
    return (elements,)


def _header(start: bytes) -> tuple[dict[str, Any], int]:
    """The header of the .npy format (versions 1 to 3) and where the data begin; `start` may be longer than that."""
    if not start.startswith(_MAGIC):
        raise ValueError("no .npy file")
    wide = start[6] >= 2
    length = int.from_bytes(start[8:12] if wide else start[8:10], "little")
    begin = 12 if wide else 10
    if begin + length > len(start):
        raise ValueError("its header is too long")
    return _described(start[begin : begin + length]), begin + length


@lru_cache(maxsize=4096)
def _described(header: bytes) -> dict[str, Any]:
    described: dict[str, Any] = ast.literal_eval(header.decode("utf-8"))
    return described
