"""Where the start-up hook comes in once torch has been imported.

Imports nothing of it: the other modules stand on much that an older PyTorch may not have.
"""

from __future__ import annotations

from types import ModuleType

from stepscope.probe.bootstrap import CannotDebug

OLDEST = (2, 4)


def install(torch: ModuleType) -> None:
    """Raises CannotDebug where this PyTorch is too old."""
    release = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if release < OLDEST:
        raise CannotDebug(f"PyTorch {torch.__version__} is too old to be debugged; {OLDEST[0]}.{OLDEST[1]} will do")
    from stepscope.probe.torch import hooks

    hooks.install(torch)
