"""Who may import whom: the contracts of pyproject.toml for our own parts, and a table for the packages of others."""

from __future__ import annotations

import ast
import subprocess
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
    "demo/torch_train.py": {"numpy", "torch"},
    "graph_file.py": {"numpy"},
    "live_messages.py": {"numpy"},
    "probe": {"numpy"},
    "probe/mindspore": {"mindspore", "numpy"},
    "probe/torch": {"numpy", "torch"},
    "protocol": {"google", "grpc", "numpy"},
    "replay": {"numpy"},
    "server": {"fastapi", "grpc", "numpy", "pydantic", "starlette", "uvicorn"},
    "testing": {"grpc", "numpy"},
}


def test_our_own_parts() -> None:
    pytest.importorskip("importlinter", reason="in the environment for development")
    # In a process of its own: it switches off the loggers of the one that it runs in.
    script = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(sys.argv[1], no_cache=True))"
    command = [sys.executable, "-c", script, str(CHECKOUT / "pyproject.toml")]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


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
