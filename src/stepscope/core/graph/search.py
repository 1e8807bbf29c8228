"""Names found by a part of them or by a pattern, and the names nearest to a wrong one."""

from __future__ import annotations

import difflib
import re
from bisect import bisect
from collections.abc import Iterable, Sequence
from fnmatch import translate
from itertools import islice

_GLOB = re.compile(r"[*?[]")
_NEAREST = 5
_COMPARED = 400  # names that difflib looks at: it needs some 50 µs each


class Names:
    """Finds among `names` without regard to case; results keep the order of the candidates."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._lower = [name.lower() for name in names]

    def matching(self, pattern: str, candidates: Iterable[int]) -> list[int]:
        """By a part of the name; where the pattern has * ? or [, by the whole name, unless it is itself part of one."""
        text, lower = pattern.lower(), self._lower
        if not _GLOB.search(pattern):
            return [node for node in candidates if text in lower[node]]
        candidates = list(candidates)
        literal = [node for node in candidates if text in lower[node]]
        if literal:
            return literal
        # The longest plain piece rules out most names at a fraction of the price of the whole pattern.
        piece = max(re.split(r"[*?]|\[.[^\]]*\]", text), key=len)
        matches = re.compile(translate(text)).match
        return [node for node in candidates if piece in lower[node] and matches(lower[node])]

    def nearest(self, name: str, near: Iterable[int]) -> list[str]:
        """Names that whoever wrote `name` may have meant; `near` are nodes that stand where it would stand."""
        text = name.lower()
        last = text.rpartition("/")[2]
        found: dict[int, None] = {}
        if text:
            found |= dict.fromkeys(islice((node for node, one in enumerate(self._lower) if text in one), _NEAREST))
        alike = sorted((self._lower[node].rpartition("/")[2], node) for node in near)
        middle = bisect(alike, (last, 0))
        alike = alike[max(middle - _COMPARED // 2, 0) : middle + _COMPARED // 2]
        by_last = dict(reversed(alike))
        found |= dict.fromkeys(by_last[one] for one in difflib.get_close_matches(last, by_last, _NEAREST))
        if last and len(found) < _NEAREST:
            elsewhere = (node for node, one in enumerate(self._lower) if one.endswith("/" + last))
            found |= dict.fromkeys(islice(elsewhere, _NEAREST))
        return [self._names[node] for node in list(found)[:_NEAREST]]
