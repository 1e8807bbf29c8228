"""docs/watchpoints.md says what the table of conditions says, and the recommended set as it is."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import get_args

from stepscope.core.watch import recommended
from stepscope.core.watch.conditions import CONDITIONS
from stepscope.core.watch.records import ErrorKind
from stepscope.core.watch.words import ERRORS

ROOT = Path(__file__).parents[3]


def _script():
    spec = importlib.util.spec_from_file_location("watchpoints_script", ROOT / "scripts" / "watchpoints.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_that_of_the_code():
    script = _script()
    text = script.FILE.read_text(encoding="utf-8")
    assert text == script.document(text), "python scripts/watchpoints.py"


def test_every_reason_is_explained():
    text = (ROOT / "docs" / "watchpoints.md").read_text(encoding="utf-8")
    assert set(ERRORS) == set(get_args(ErrorKind))
    assert all(f"`{kind}`" in text for kind in ERRORS)


def test_the_recommended_thresholds_are_those_of_the_code():
    text = (ROOT / "docs" / "watchpoints.md").read_text(encoding="utf-8")
    section = text.split("## The recommended set")[1].split("## ")[0]
    for one in recommended._RECOMMENDED:
        assert CONDITIONS[one.condition].abbreviation in section
        if len(one.parameters) == 1:
            ((name, value),) = one.parameters.items()
            assert f"`{name}={value:g}`".replace("e-0", "e-") in section
