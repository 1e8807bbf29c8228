"""The source lines of a node, read from the text that MindSpore puts into `source_address`.

The text has a line "# In file PATH:LINE, COLUMNS/CODE/" a frame, innermost first; older releases write
"PATH(LINE)/CODE/". After a frame comes the function that it stands in, as a frame of its own that spans lines: the two
are joined here. For a node of the backward pass the text gives the frames of the forward node, after the line
"Corresponding forward node candidate:".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

_FRAME = re.compile(
    r"In file (?P<file>.+?)"
    r"(?:(?<=\.py)\((?P<old_line>\d+)\)|:(?P<line>\d+)(?:~(?P<end>\d+))?(?:, \d+(?:~\d+)?)?)/(?P<text>.*)"
)
_FUNCTION = re.compile(r"(?:async )?def (\w+)")
_DEMO = r"(?!.*[/\\]stepscope[/\\]demo[/\\])"  # a user's script, though it is installed with the package
_LIBRARY = re.compile(_DEMO + r".*(?:[/\\](?:site-packages|dist-packages|lib[/\\]python\d[\d.]*)[/\\]|^<frozen )")


@dataclass(frozen=True)
class Frame:
    """One level of the stack. `user` is False for installed packages and the standard library.

    `function` and `text` (the line of code) are "" where the source does not tell.
    """

    file: str
    line: int
    function: str = ""
    text: str = ""
    user: bool = True


@dataclass(frozen=True)
class _Entry:
    frame: Frame
    end: int  # the last line that the entry spans

    @property
    def is_function(self) -> bool:
        return self.frame.text.startswith(("def ", "async def ", "@"))


@lru_cache(maxsize=65536)  # a graph has many nodes but few lines of code
def _entry(line: str) -> _Entry | None:
    match = _FRAME.search(line)
    if not match:
        return None
    file = match["file"]
    number = int(match["line"] or match["old_line"])
    text = match["text"].strip().removesuffix("/").strip()
    frame = Frame(file, number, "", text, is_user_file(file))
    return _Entry(frame, int(match["end"] or number))


def frames(stack: str) -> tuple[Frame, ...]:
    """All frames of a stack, innermost first; lines that name no file are passed over."""
    result: list[Frame] = []
    waiting = 0  # the first frame whose function is not known yet
    for entry in filter(None, map(_entry, stack.splitlines())):
        inside = [
            index
            for index in range(waiting, len(result))
            if result[index].file == entry.frame.file and entry.frame.line <= result[index].line <= entry.end
        ]
        if not entry.is_function or not inside:
            result.append(entry.frame)
            continue
        name = _FUNCTION.match(entry.frame.text)
        for index in inside:
            result[index] = replace(result[index], function=name[1] if name else "")
        waiting = len(result)
    return tuple(result)


def is_user_file(file: str) -> bool:
    """Whether a file is the user's own: not of an installed package or the standard library."""
    return not _LIBRARY.match(file)


def runs_through(stack: str, file: str, line: int | None) -> bool:
    """Whether a frame of the user's code in `stack` lies in `file` (a whole path, or the end of one), at `line`."""
    needles = [file] if line is None else [f"{file}:{line}", f"{file}({line})"]
    return any(
        frame.user and (frame.file == file or frame.file.endswith("/" + file)) and line in (None, frame.line)
        for needle in needles
        for frame in _frames_with(stack, needle)
    )


def _frames_with(stack: str, needle: str) -> Iterator[Frame]:
    """The frames whose line holds `needle`, found without reading the others: a graph has many stacks."""
    at = stack.find(needle)
    while at >= 0:
        end = stack.find("\n", at) % (len(stack) + 1)  # -1, no more lines, is the end of the text
        entry = _entry(stack[stack.rfind("\n", 0, at) + 1 : end])
        if entry and not (entry.is_function and entry.end > entry.frame.line):
            yield entry.frame
        at = stack.find(needle, end + 1)


def parse_line(text: str) -> tuple[str, int | None]:
    """ "net.py:12" → ("net.py", 12); "net.py" → ("net.py", None)."""
    file, colon, number = text.rpartition(":")
    if colon and number.isdigit():
        return file, int(number)
    return text, None
