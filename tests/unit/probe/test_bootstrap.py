"""The start-up hook: the probe gets the framework's module right after its import, and never spoils that import.

A throw-away package stands for the framework, in a Python of its own: what is tested there is `sys.meta_path`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stepscope.probe import bootstrap

SOURCE = Path(__file__).parents[3] / "src"

# What a probe for the package `frame` could look like: it does what PROBE_DOES says.
PROBE = """
import os
from stepscope.probe.bootstrap import CannotDebug
def install(module):
    print("probe of", module.__name__, "sees", module.ready)
    exec(os.environ.get("PROBE_DOES", ""))
"""
START = """
import sys
from stepscope.probe import bootstrap
bootstrap.PROBES.clear()
bootstrap.PROBES["frame.api"] = "frame_probe"
bootstrap.start()
"""


@pytest.fixture
def python(tmp_path):
    """Runs code with the packages `frame` and `frame_probe` in reach, under the debugger."""
    (tmp_path / "frame").mkdir()
    (tmp_path / "frame" / "__init__.py").write_text("")
    (tmp_path / "frame" / "api.py").write_text("loader = __loader__, __spec__.loader\nready = True\n")
    (tmp_path / "frame" / "other.py").write_text("print('other')\n")
    (tmp_path / "frame" / "broken.py").write_text("raise OSError('the framework is broken')\n")
    (tmp_path / "frame_probe.py").write_text(PROBE)

    def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
        environ = {name: value for name, value in os.environ.items() if not name.startswith(("STEPSCOPE", "MS_"))}
        environ |= {"ENABLE_MS_DEBUGGER": "1", "PYTHONPATH": f"{SOURCE}{os.pathsep}{tmp_path}", **environment}
        return subprocess.run(
            [sys.executable, "-c", START + code], env=environ, capture_output=True, text=True, timeout=60
        )

    return run


def test_the_probe_gets_the_module_once_it_is_complete(python):
    done = python("import frame.api, frame.other, frame.api\nprint(frame.api.ready)")
    assert done.stdout == "probe of frame.api sees True\nother\nTrue\n"
    assert done.stderr == ""


def test_the_module_shows_its_own_loader(python):
    """User code, `inspect` and `pickle` look at it."""
    done = python(
        "import frame.api, inspect\n"
        "print([type(one).__name__ for one in (frame.api.__loader__, frame.api.__spec__.loader)])\n"
        "print(inspect.getsource(frame.api).startswith('loader ='))"
    )
    assert done.stdout.splitlines()[1:] == ["['SourceFileLoader', 'SourceFileLoader']", "True"]


def test_a_module_that_cannot_be_found_is_not_found(python):
    done = python(
        "bootstrap.PROBES['no_such_module'] = 'frame_probe'\n"
        "try: import no_such_module\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    assert done.stdout == "No module named 'no_such_module'\n"


def test_an_error_of_the_framework_itself_passes_through(python):
    done = python(
        "bootstrap.PROBES['frame.broken'] = 'frame_probe'\n"
        "try: import frame.broken\n"
        "except OSError as error: print(error, 'frame.broken' in sys.modules)"
    )
    assert done.stdout == "the framework is broken False\n"
    assert done.stderr == ""


def test_a_probe_that_fails_is_one_line_and_the_import_stands(python):
    done = python("import frame.api\nprint(frame.api.ready)", PROBE_DOES="1 / 0")
    assert done.stdout.splitlines()[-1] == "True"
    assert done.stderr == (
        "stepscope: could not attach to frame.api: ZeroDivisionError('division by zero'); going on undebugged\n"
    )


def test_a_probe_that_is_missing_is_one_line(python):
    done = python("bootstrap.PROBES['frame.api'] = 'no_probe'\nimport frame.api\nprint(frame.api.ready)")
    assert done.stdout == "True\n"
    (line,) = done.stderr.splitlines()
    assert line.startswith("stepscope: could not attach to frame.api: ModuleNotFoundError(")


def test_a_probe_that_says_why_it_can_not(python):
    done = python("import frame.api", PROBE_DOES="raise CannotDebug('the moon is full: wait')")
    assert done.stderr == "stepscope: the moon is full: wait; going on undebugged\n"


def test_a_closed_stderr_does_not_matter(python):
    done = python("import os\nsys.stderr.close()\nimport frame.api\nprint(frame.api.ready)", PROBE_DOES="1 / 0")
    assert done.stdout.splitlines()[-1] == "True"
    assert done.returncode == 0


@pytest.mark.parametrize("environment", [{"MS_ROLE": "MS_SCHED"}, {"ENABLE_MS_DEBUGGER": "0"}])
def test_who_is_left_alone(environment, python):
    done = python("import frame.api\nprint(len([f for f in sys.meta_path if 'Finder' in repr(f)]))", **environment)
    assert "probe of" not in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("role", ["MS_WORKER", "MS_SERVER", ""])
def test_other_roles_of_msrun_are_debugged(role, python):
    assert "probe of" in python("import frame.api", MS_ROLE=role).stdout


def test_starting_twice_waits_once(python):
    done = python("bootstrap.start()\nprint(sum(type(one).__module__ == bootstrap.__name__ for one in sys.meta_path))")
    assert done.stdout == "1\n"


def test_a_finder_of_the_old_kind_is_passed_over(python):
    old = "class Old:\n    def find_module(self, name, path=None): return None\n"
    done = python(old + "sys.meta_path.insert(1, Old())\nimport frame.api")
    assert "probe of frame.api" in done.stdout


def test_the_frameworks_that_have_a_probe():
    for probe in set(bootstrap.PROBES.values()):
        assert (SOURCE / probe.replace(".", "/")).with_suffix(".py").exists()
