"""Whatever is refused with a code, the page says in both of its languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ELSEWHERE = {"missing_nodes", "no_nodes", "malformed"}  # warnings of watchpoints; a request that the page never makes


def codes() -> set[str]:
    found: set[str] = set()
    for path in (ROOT / "src/stepscope").rglob("*.py"):
        for expression in re.findall(r"\bcode=([^)\n]*)|^    code = (.*)", path.read_text(), re.MULTILINE):
            found.update(re.findall(r'"(\w+)"', "".join(expression)))
    return found - ELSEWHERE


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_code_has_its_words(language) -> None:
    text = (ROOT / f"web/src/i18n/{language}.ts").read_text()
    words = text[text.index("  error: {") :]
    said = set(re.findall(r'^    (\w+): "', words[: words.index("  },")], re.MULTILINE))
    assert {"disconnected", "timeout", "ran_free", "no_slot"} <= codes()
    assert codes() - said == set()
