"""The user guide says what is there: pictures, words of the page, commands, conditions, keys, names of Python."""

from __future__ import annotations

import argparse
import inspect
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import stepscope
from stepscope.cli.main import build_parser
from stepscope.client import Debugger, Job
from stepscope.core.watch.conditions import CONDITIONS
from stepscope.core.watch.words import LABELS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WEB = ROOT / "web" / "src"
IMAGES = DOCS / "images"

LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])


def guide(language: str) -> str:
    return (DOCS / "guide" / f"{language}.md").read_text(encoding="utf-8")


def prose(text: str) -> str:
    """Without the blocks of code."""
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def code(text: str) -> Iterator[str]:
    """The lines of the blocks, and what stands between backticks."""
    for block in re.findall(r"```.*?\n(.*?)```", text, flags=re.DOTALL):
        yield from block.splitlines()
    yield from re.findall(r"`([^`\n]+)`", prose(text))


def rows(text: str, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    section = text.partition(f"\n### {heading}\n")[2]
    assert section, heading
    lines = re.search(r"(?m)^\|[-|]+\|\n((?:\|.*\|\n)+)", section)
    assert lines, heading
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines[1].splitlines()]


def dictionary(language: str) -> str:
    """The source of the page's texts in one language."""
    text = (WEB / "i18n" / f"{language}.ts").read_text(encoding="utf-8")
    for name in ("graph/text", "watch/text", "tensor/text", "tensor/viewsText", "tensor/guide/text", "lineage/text"):
        source = (WEB / f"{name}.ts").read_text("utf-8")
        english, chinese = re.split(r"(?m)^type Widened|^export const \w+Zh", source, maxsplit=1)
        text += english if language == "en" else chinese
    return text


# ---------------------------------------------------------------- structure, pictures, links


def pictures(text: str) -> list[str]:
    return re.findall(r"!\[[^\]]+\]\(([^)\s]+)\)", text)


def test_both_guides_have_the_same_structure():
    english, chinese = guide("en"), guide("zh")
    levels = [[len(marks) for marks in re.findall(r"(?m)^(#+) ", prose(text))] for text in (english, chinese)]
    assert levels[0] == levels[1]
    blocks = [re.findall(r"```.*?```", text, flags=re.DOTALL) for text in (english, chinese)]
    assert blocks[0] == blocks[1]
    assert [name.replace("-en.png", "-zh.png") for name in pictures(english)] == pictures(chinese)
    assert all(name.endswith("-en.png") for name in pictures(english))


def test_every_picture_is_used_and_every_used_one_is_there():
    documents = {path: path.read_text(encoding="utf-8") for path in (*DOCS.rglob("*.md"), *ROOT.glob("*.md"))}
    used = {(path.parent / name).resolve() for path, text in documents.items() for name in pictures(text)}
    assert used == {path.resolve() for path in IMAGES.rglob("*.png")}


def test_pictures_are_small():
    sizes = {path.name: path.stat().st_size for path in IMAGES.rglob("*.png")}
    assert max(sizes.values()) < 150_000, sizes


def anchors(path: Path) -> set[str]:
    """Of the headings, as GitHub makes them."""
    headings = re.findall(r"(?m)^#+ (.*)$", prose(path.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@LANGUAGES
def test_links_lead_somewhere(language):
    here = DOCS / "guide" / f"{language}.md"
    links = re.findall(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)", guide(language))
    assert links
    for link in links:
        name, _, anchor = link.partition("#")
        path = (here.parent / name).resolve() if name else here
        assert path.is_file(), link
        assert not anchor or anchor in anchors(path), link


# ---------------------------------------------------------------- words of the page


@LANGUAGES
def test_words_in_bold_are_on_the_page(language):
    source = dictionary(language)
    words = set(re.findall(r'"((?:[^"\\]|\\.)*)"', source))
    names = [getattr(condition.name, language) for condition in CONDITIONS.values()]
    words |= {*names, *(getattr(label, language) for label in LABELS.values())}
    bold = set(re.findall(r"\*\*(.+?)\*\*", prose(guide(language)).replace("\n", " ")))
    assert len(bold) > 50
    assert bold - words == set()


@LANGUAGES
def test_the_keys_are_those_of_the_page(language):
    source = dictionary(language)
    table = re.findall(
        r'key: "([^"]+)",\s*label: \(text\) => text\.(?:watch\.)?(\w+)',
        (WEB / "control" / "keys.ts").read_text("utf-8"),
    )
    assert len(table) > 5
    expected = {}
    for key, name in table:
        label = re.search(rf'(?m)^  {name}: "([^"]+)"', source)
        assert label, name
        expected[key] = label[1]
    assert dict(rows(guide(language), {"en": "Keys", "zh": "快捷键"}[language])) == expected


@LANGUAGES
def test_the_conditions_are_those_of_the_table(language):
    expected = [[each.abbreviation, getattr(each.name, language), each.id] for each in CONDITIONS.values()]
    assert rows(guide(language), {"en": "The conditions", "zh": "条件"}[language]) == expected


# ---------------------------------------------------------------- commands, variables, Python


def options() -> dict[str, set[str]]:
    """Of each command."""
    (subparsers,) = (action for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction))
    return {
        name: {option for action in parser._actions for option in action.option_strings}
        for name, parser in subparsers.choices.items()
    }


@LANGUAGES
def test_commands_have_the_options_that_are_named(language):
    known = options()
    every = set().union(*known.values())
    seen = set()
    for line in code(guide(language)):
        if line.startswith("stepscope check:"):  # what it prints
            continue
        if line.startswith("stepscope "):
            _, name, *words = line.split()
            assert name in known, line
            seen.add(name)
            script = next((at for at, word in enumerate(words) if word in ("--", "python")), len(words))
            given = {word.partition("=")[0] for word in words[:script] if word.startswith("-")}
            assert given <= known[name], line
            bugs = words[words.index("--bug") + 1 :][:1] if "--bug" in words else []
            assert set(bugs) <= {"none", "nan", "frozen", "exploding", "dead-relu"}
        elif line.startswith("--"):
            assert line.split()[0].partition("=")[0] in every, line
    assert seen == set(known)


@LANGUAGES
def test_what_check_is_told_to_watch_is_understood(language):
    from stepscope.cli.check import wish

    texts = [text for line in code(guide(language)) for text in re.findall(r"--watch (\S+)", line)]
    assert texts
    assert {wish(text).condition for text in texts} <= set(CONDITIONS)


@LANGUAGES
def test_variables_are_read_by_the_code(language):
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    named = set(re.findall(r"\b(?:STEPSCOPE|MS_DEBUGGER|ENABLE_MS)_[A-Z_]+", guide(language)))
    assert len(named) > 3
    assert {name for name in named if f'"{name}"' not in source} == set()


@LANGUAGES
def test_the_program_uses_what_the_client_has(language):
    (block,) = re.findall(r"```python\n(.*?)```", guide(language), flags=re.DOTALL)
    compile(block, "guide", "exec")
    text = block + "\n".join(code(guide(language)))
    owners = {"job": Job, "dbg": Debugger, "stepscope": stepscope}
    for owner, name in re.findall(r"\b(job|dbg|stepscope)\.([a-zA-Z]\w*)", text):
        assert hasattr(owners[owner], name), f"{owner}.{name}"
    (watched,) = re.findall(r'job\.watch\("(\w+)", (.*)\)', block)
    own = set(inspect.signature(Job.watch).parameters)
    given = set(re.findall(r"(\w+)=", watched[1])) - own
    assert given <= {parameter.name for parameter in CONDITIONS[watched[0]].parameters}


def test_the_readme_leads_to_the_guide():
    for name, language in (("README.md", "en"), ("README.zh-CN.md", "zh")):
        assert f"(docs/guide/{language}.md)" in (ROOT / name).read_text(encoding="utf-8")
        assert os.path.isfile(DOCS / "guide" / f"{language}.md")
