"""The watchpoints of one job. Pure: no I/O, no graph.

* Numbers rise and are never used again within the job.
* `revision` rises with each change. `checked_since` is the revision of the last one that a check would notice: another
  name, or anything about a watchpoint that is disabled, is no reason to call hits outdated.
* Each method either does all of its change or raises and does nothing.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stepscope.core.errors import Conflict, NotAvailable
from stepscope.core.watch.conditions import CONDITIONS
from stepscope.core.watch.records import Rule, Selection, Watchpoint, WatchpointSet
from stepscope.core.watch.selection import tick
from stepscope.core.watch.validate import validate
from stepscope.server.watch.models import Offer

MOST = 1000  # watchpoints of a job
_REMEMBERED = 16  # earlier states, for checks that are on their way while something changes


@dataclass(frozen=True)
class State:
    """All of it, as the store keeps it."""

    revision: int = 0
    checked_since: int = 0
    last_id: int = 0
    recommended: Offer = "open"
    earlier_taken: bool = False
    watchpoints: tuple[Watchpoint, ...] = ()


class Watchpoints:
    """`state` is replaced, never changed."""

    def __init__(self, state: State | None = None):
        self.state = state or State()
        self._earlier: deque[State] = deque(maxlen=_REMEMBERED)

    @property
    def set(self) -> WatchpointSet:
        """What goes to the training process."""
        return WatchpointSet(self.state.revision, self.state.watchpoints)

    def at(self, revision: int) -> tuple[Watchpoint, ...]:
        """What they were at a revision, as far as that is known; else what they are."""
        known = (each for each in self._earlier if each.revision == revision)
        return next(known, self.state).watchpoints

    def get(self, id: int) -> Watchpoint:
        """Raises NotAvailable."""
        for each in self.state.watchpoints:
            if each.id == id:
                return each
        raise NotAvailable(f"the job has no watchpoint {id}")

    # ------------------------------------------------------------ changes

    def create(
        self,
        condition: str,
        parameters: Mapping[str, Any],
        selection: Selection | None = None,
        name: str = "",
        enabled: bool = True,
    ) -> Watchpoint:
        """Without a selection it covers what the condition is for. Raises InvalidParameter."""
        given = validate(condition, parameters)
        selection = selection or Selection(CONDITIONS[condition].base)
        return self._add([Watchpoint(0, condition, given, selection, name, enabled)])[0]

    def update(
        self,
        id: int,
        condition: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        name: str | None = None,
        enabled: bool | None = None,
    ) -> Watchpoint:
        """What is None stays. Nodes that nobody has chosen follow the condition: now all gradients, not all weights."""
        old = self.get(id)
        new_condition = old.condition if condition is None else condition
        given = old.parameters if parameters is None else parameters
        checked = validate(new_condition, given)
        untouched = old.selection == Selection(CONDITIONS[old.condition].base)
        new = replace(
            old,
            condition=new_condition,
            parameters=checked,
            selection=Selection(CONDITIONS[new_condition].base) if untouched else old.selection,
            name=old.name if name is None else name,
            enabled=old.enabled if enabled is None else enabled,
        )
        return self._replace(new)

    def tick(self, id: int, rules: Sequence[Rule]) -> Watchpoint:
        old = self.get(id)
        return self._replace(replace(old, selection=tick(old.selection, rules)))

    def duplicate(self, id: int) -> Watchpoint:
        old = self.get(id)
        return self._add([replace(old, name=self._free_name(old.name), recommended=False)])[0]

    def delete(self, id: int) -> None:
        gone = self.get(id)
        self._set(tuple(each for each in self.state.watchpoints if each is not gone))

    def clear(self) -> None:
        self._set(())

    def add_new(self, watchpoints: Iterable[Watchpoint]) -> list[Watchpoint]:
        """Take in those whose like is not there yet, under new numbers."""
        there = [_content(each) for each in self.state.watchpoints]
        new: list[Watchpoint] = []
        for each in watchpoints:
            if _content(each) not in there:
                there.append(_content(each))
                new.append(each)
        return self._add(new)

    def answer_offer(self, accepted: bool) -> None:
        """Of the recommended ones."""
        self._change(recommended="accepted" if accepted else "declined")

    def take_earlier(self, of: State) -> None:
        """Take in those of an earlier run, with the answer that was given there to the offer of recommended ones."""
        self.add_new(of.watchpoints)
        self._change(
            earlier_taken=True,
            recommended=of.recommended if self.state.recommended == "open" else self.state.recommended,
        )

    # ------------------------------------------------------------

    def _add(self, watchpoints: Sequence[Watchpoint]) -> list[Watchpoint]:
        if len(self.state.watchpoints) + len(watchpoints) > MOST:
            raise Conflict(f"a job has {MOST} watchpoints at most: delete some first", code="most_watchpoints")
        first = self.state.last_id + 1
        new = [replace(each, id=id) for id, each in enumerate(watchpoints, first)]
        self._set((*self.state.watchpoints, *new), last_id=self.state.last_id + len(new))
        return new

    def _replace(self, new: Watchpoint) -> Watchpoint:
        self._set(tuple(new if each.id == new.id else each for each in self.state.watchpoints))
        return new

    def _set(self, watchpoints: tuple[Watchpoint, ...], **more: Any) -> None:
        checked = self.state.checked_since
        if _checked(watchpoints) != _checked(self.state.watchpoints):
            checked = self.state.revision + 1
        self._change(watchpoints=watchpoints, checked_since=checked, **more)

    def _change(self, **changes: Any) -> None:
        changed = replace(self.state, **changes)
        if changed != self.state:
            self._earlier.append(self.state)
            self.state = replace(changed, revision=self.state.revision + 1)

    def _free_name(self, name: str) -> str:
        """ "x" → "x (2)", "x (2)" → "x (3)"; no name stays none."""
        names = {each.name for each in self.state.watchpoints}
        stem = re.sub(r" \(\d+\)$", "", name)
        number = 2
        while name and name in names:
            name = f"{stem} ({number})"
            number += 1
        return name


def _content(watchpoint: Watchpoint) -> tuple[object, ...]:
    return watchpoint.condition, dict(watchpoint.parameters), watchpoint.selection


def _checked(watchpoints: Iterable[Watchpoint]) -> list[tuple[object, ...]]:
    return [(each.id, *_content(each)) for each in watchpoints if each.enabled]
