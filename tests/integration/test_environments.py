"""`scripts/environment.py`: made once, also when it is started twice or was interrupted, and clear about what fails."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "environment.py"
pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="only in a checkout")

# The same script with an environment that needs nothing which isn't there.
SMALL = f"""
import sys
sys.path.insert(0, {str(SCRIPT.parent)!r})
import environment
environment.ENVIRONMENTS["proto"] = (13, ["pip"], "no time")
environment.main(["proto", "-c", "import sys; print(sys.prefix)"])
"""


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("environment", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def start(cache: Path, *words: str, **variables: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [getattr(sys, "_base_executable", sys.executable), *words],
        env={**os.environ, "STEPSCOPE_CACHE": str(cache), **variables},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_requirements_are_those_of_the_project(script):
    main = script.requirements("main")
    assert {"hatchling>=1.26", "grpcio>=1.62", "ruff>=0.8", "numpy>=2"} <= set(main)
    assert not [each for each in main if each.startswith(("mindspore", "torch", "jax"))]
    assert {"grpcio>=1.62", "pytest>=8", "mindspore==2.10.0", "numpy<2"} <= set(script.requirements("mindspore"))


def test_the_name_of_an_environment_says_what_is_in_it(script, monkeypatch, tmp_path):
    monkeypatch.setenv("STEPSCOPE_CACHE", str(tmp_path))
    main = script.packages_folder("main")
    assert main.parent == tmp_path
    assert main.name.startswith(f"main-py{sys.version_info[0]}.{sys.version_info[1]}.")
    monkeypatch.setattr(script, "requirements", lambda name: ["something else"])
    assert script.packages_folder("main") != main
    monkeypatch.delenv("STEPSCOPE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert script.cache() == tmp_path / "xdg" / "stepscope"


def test_the_state_of_the_sources(script, monkeypatch, tmp_path):
    (tmp_path / "src" / "__pycache__").mkdir(parents=True)
    (tmp_path / "src" / "a.py").write_text("1")
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.setattr(script, "CHECKOUT", tmp_path)
    before = script.sources()
    (tmp_path / "src" / "__pycache__" / "a.pyc").write_text("")
    (tmp_path / "other.md").write_text("")
    assert script.sources() == before
    (tmp_path / "pyproject.toml").write_text("x")
    changed = script.sources()
    (tmp_path / "src" / "a.py").rename(tmp_path / "src" / "b.py")
    assert len({before, changed, script.sources()}) == 3


def test_two_at_once_after_one_that_was_interrupted(tmp_path):
    done = [start(tmp_path, "-c", SMALL) for _ in range(2)]
    answers = [process.communicate() for process in done]
    (prefix,) = {out.strip() for out, _ in answers}
    assert sorted(err.count("setting up") for _, err in answers) == [0, 1], answers
    assert start(tmp_path, "-c", SMALL).communicate() == (f"{prefix}\n", "")

    (Path(prefix) / ".complete").unlink()
    (Path(prefix) / "bin" / "python").unlink()
    out, err = start(tmp_path, "-c", SMALL).communicate()
    assert (out.strip(), err.count("setting up")) == (prefix, 1)


def test_what_was_not_used_for_long_is_removed(script, monkeypatch, tmp_path):
    monkeypatch.setenv("STEPSCOPE_CACHE", str(tmp_path))
    for name, days in (("main-py3.11.1-old", 31), ("main-py3.11.1-new", 29), ("mindspore-py3.11.1-old", 31)):
        marker = tmp_path / name / script.COMPLETE
        marker.parent.mkdir()
        marker.touch()
        os.utime(marker, (0, marker.stat().st_mtime - days * 86400))
    script.remove_unused("main-py*")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["main-py3.11.1-new", "mindspore-py3.11.1-old"]


def test_no_network(tmp_path):
    """All its own packages from an address at which nothing is."""
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_EXTRA_INDEX_URL": "", "PIP_FIND_LINKS": "",
               "PIP_RETRIES": "0", "PIP_NO_CACHE_DIR": "1", "PIP_CONFIG_FILE": os.devnull}  # fmt: skip
    process = start(tmp_path, str(SCRIPT), "main", "-c", "pass", **nowhere)
    _, err = process.communicate()
    assert process.returncode == 1
    first, second = err.splitlines()
    assert "setting up the main environment" in first
    assert second.startswith("stepscope: the package index can't be reached")


def test_a_name_that_is_none(tmp_path):
    process = start(tmp_path, str(SCRIPT), "tensorflow")
    names = "main, mindspore, mindspore-2.9, mindspore-2.7, torch, proto"
    assert process.communicate()[1] == f"stepscope: which environment? {names}\n"
    assert process.returncode == 1


def test_a_python_without_venv(script, tmp_path):
    """As Debian says it."""
    python = tmp_path / "python3"
    python.write_text("#!/bin/sh\necho 'not created successfully because ensurepip is not available.'\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(script.Problem, match="has no venv; on Debian and Ubuntu: apt install python3-venv"):
        script.make_venv(python, tmp_path / "environment")
