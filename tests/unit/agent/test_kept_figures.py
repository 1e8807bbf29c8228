"""What the agent keeps of what it worked out, and when it works it out anew."""

from __future__ import annotations

import numpy as np
import pytest

from stepscope.agent import figures
from stepscope.agent.figures import KeptFigures
from stepscope.core.errors import NotAvailable
from stepscope.core.looks import Heatmap


class Work:
    """Counts how often it is done."""

    def __init__(self, answer: object = "answer"):
        self.done = 0
        self.answer = answer

    def __call__(self) -> object:
        self.done += 1
        return self.answer


def test_the_same_is_worked_out_once_in_a_moment():
    moment = [1]
    kept, work, other = KeptFigures(lambda: moment[0]), Work(), Work("other")
    assert [kept.get("a", work), kept.get("a", work), kept.get("b", other)] == ["answer", "answer", "other"]
    assert (work.done, other.done) == (1, 1)
    moment[0] = 2
    kept.get("a", work)
    assert work.done == 2
    moment[0] = 1
    kept.get("a", work)
    assert work.done == 2


def test_what_belongs_to_two_moments_is_not_kept():
    moment = [1]
    kept, work = KeptFigures(lambda: moment[0]), Work()

    def slow() -> object:
        moment[0] = 2
        return work()

    kept.get("a", slow)
    moment[0] = 1
    kept.get("a", work)
    assert work.done == 2


def test_an_error_is_not_kept():
    kept, work = KeptFigures(lambda: 1), Work()

    def broken() -> object:
        raise NotAvailable

    with pytest.raises(NotAvailable):
        kept.get("a", broken)
    assert kept.get("a", work) == "answer"


def test_the_last_used_are_kept(monkeypatch):
    monkeypatch.setattr(figures, "MOST", 2)
    kept, first, second, third = KeptFigures(lambda: 1), Work(), Work(), Work()
    for name, work in (("1", first), ("2", second), ("1", first), ("3", third), ("1", first), ("2", second)):
        kept.get(name, work)
    assert (first.done, second.done, third.done) == (1, 2, 1)


def test_large_pictures_leave_no_room_for_others(monkeypatch):
    monkeypatch.setattr(figures, "BYTES", 6 * 10_000 + 3 * 2048)
    picture = Heatmap(
        "float32", 1, (100, 100), 0.0, 1.0, np.zeros((100, 100), np.float32), np.zeros((100, 100), np.uint8)
    )
    kept, works = KeptFigures(lambda: 1), [Work(picture) for _ in range(2)]
    for turn in (0, 0, 1, 1, 0):
        kept.get(turn, works[turn])
    assert [work.done for work in works] == [2, 1]
