"""stepscope: the debugger for training neural networks.

Importing this costs nothing: what needs numpy or the web is loaded when it is used.
"""

from __future__ import annotations

from stepscope.core.errors import (
    BadRequest,
    Conflict,
    ConnectionFailed,
    NotAvailable,
    StepscopeError,
    Timeout,
    UnknownJob,
    UnknownNode,
)

TYPE_CHECKING = False  # what type checkers take for true; `typing` itself would be the largest import here
if TYPE_CHECKING:
    from stepscope.client import connect
    from stepscope.core.tensors import stats
    from stepscope.core.watch.plan import evaluate

__version__ = "0.1.0"

__all__ = [
    "BadRequest",
    "Conflict",
    "ConnectionFailed",
    "NotAvailable",
    "StepscopeError",
    "Timeout",
    "UnknownJob",
    "UnknownNode",
    "__version__",
    "connect",
    "evaluate",
    "stats",
]

_LAZY = {
    "connect": "stepscope.client",
    "evaluate": "stepscope.core.watch.plan",
    "stats": "stepscope.core.tensors",
}


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module 'stepscope' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_LAZY[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
