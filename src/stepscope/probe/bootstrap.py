"""The start-up hook: imported by `stepscope.pth` at interpreter start when the environment asks for the debugger.

Importing it waits for the framework's import and hands over to the framework's own probe. Nothing here may fail
loudly: whatever goes wrong costs one line on stderr and the debugger, never the user's program.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import os
import sys
from types import ModuleType
from typing import Any

from stepscope.probe import settings

# The module after whose import a probe can do its work, and the probe's own module.
PROBES = {
    "mindspore.graph.api": "stepscope.probe.mindspore.hooks",  # 2.9 and later
    "mindspore.common.api": "stepscope.probe.mindspore.hooks",  # up to 2.8
    "torch": "stepscope.probe.torch.entry",
}


class CannotDebug(Exception):
    """This process can't be debugged; the message says why, and what to do."""


def say(line: str) -> None:
    """One line to the user, on stderr."""
    try:
        sys.stderr.write(f"stepscope: {line}\n")
        sys.stderr.flush()
    except Exception:  # a closed stderr must not matter
        pass


class _Loader(importlib.abc.Loader):
    """Runs a module with its own loader, then the probe for it."""

    def __init__(self, loader: Any, probe: str) -> None:
        self._loader = loader
        self._probe = probe

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader  # what the user's code may look at
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        try:
            importlib.import_module(self._probe).install(module)
        except CannotDebug as reason:
            say(f"{reason}; going on undebugged")
        except Exception as error:
            say(f"could not attach to {module.__name__}: {error!r}; going on undebugged")


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name not in PROBES:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, PROBES[name])
                return spec
        return None


def start(environ: Any = os.environ) -> None:
    """Waits for the framework, if this is a process that trains."""
    if not settings.enabled(environ) or environ.get("MS_ROLE") == "MS_SCHED":
        return
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


start()
