"""Who may import whom: the contracts of pyproject.toml for our own parts, and a table for the packages of others."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
PACKAGE = CHECKOUT / "src" / "stepscope"

# Besides the standard library and stepscope. What is not named may use nothing else.
MAY_USE = {
    "agent": {"grpc", "numpy"},
    "client": {"httpx", "numpy", "pydantic"},
    "core": {"numpy"},
    "demo/mindspore_train.py": {"mindspore", "numpy"},
    "probe": {"numpy"},
    "probe/mindspore": {"mindspore", "numpy"},
    "protocol": {"google", "grpc", "numpy"},
    "replay": {"numpy"},
    "server": {"fastapi", "grpc", "numpy", "pydantic", "starlette", "uvicorn"},
    "testing": {"grpc", "numpy"},
}


def test_our_own_parts() -> None:
    importlinter = pytest.importorskip("importlinter.cli", reason="in the environment for development")
    assert importlinter.lint_imports(str(CHECKOUT / "pyproject.toml"), no_cache=True, no_logo=True) == 0


def imported(path: Path) -> set[str]:
    """Top-level names that a file imports from elsewhere, wherever in the file."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(str(node.module).split(".")[0])
    return names - sys.stdlib_module_names - {"stepscope"}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_packages_of_others(path: Path) -> None:
    place = path.relative_to(PACKAGE)
    allowed = next((MAY_USE[str(each)] for each in (place, *place.parents) if str(each) in MAY_USE), set())
    assert imported(path) <= allowed
