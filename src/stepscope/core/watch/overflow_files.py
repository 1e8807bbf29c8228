"""Which operators overflowed, by the files that Ascend's overflow detection leaves in a dump directory.

Only names are looked at: `Opdebug.Node_OpDebug.<task>.<stream>.<time>` marks the task in which an overflow was seen,
and the tensors of a task lie in files `<type>.<operator>.<task>.<stream>.<time>…`. Whether their values are finite
doesn't matter: an operator may overflow inside and saturate what it puts out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_MARK = re.compile(r"Opdebug\.Node_OpDebug\.(\d+)\.(\d+)\.\d+(?:\.|$)")
_TENSOR = re.compile(r"[^.]+\.(.+?)\.(\d+)\.(\d+)\.\d+(?:\.|$)")


def overflowed(step_files: Iterable[str], debug_files: Iterable[str] | None = None) -> frozenset[str]:
    """The operators that overflowed in a step, named as in the names of their files.

    step_files: the names of the files in the directory of the step.
    debug_files: those in the `debug_files` directory of the step, the marks among which count; None where there is no
        such directory, and the marks lie among the tensors.
    """
    names = list(step_files)
    marks = {found.groups() for found in map(_MARK.match, names if debug_files is None else debug_files) if found}
    tensors = (found.groups() for found in map(_TENSOR.match, names) if found and not _MARK.match(found.string))
    return frozenset(operator for operator, task, stream in tensors if (task, stream) in marks)
