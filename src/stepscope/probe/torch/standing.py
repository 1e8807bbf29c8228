"""Where within a step the training stands, and the cursor, which goes back and forth over the nodes that have run."""

from __future__ import annotations

from typing import NamedTuple

from stepscope.core.ports import Command, Cursor, Moment
from stepscope.probe.torch.telling import Telling
from stepscope.probe.torch.values import Memory


class _At(NamedTuple):
    node: str
    position: int
    moment: Moment


class Standing:
    """`within`: it stands before or after a node of a step that is not over."""

    def __init__(self, memory: Memory, telling: Telling) -> None:
        self._memory, self._telling = memory, telling
        self._at: _At | None = None
        self._shown: int | None = None  # the node that the user went back to

    @property
    def within(self) -> bool:
        return self._at is not None

    @property
    def ran(self) -> int:
        """Nodes of the step that have run."""
        return len(self._memory.current.nodes) if self._memory.current is not None else 0

    def stand_at(self, node: str, moment: Moment) -> None:
        self._at, self._shown = _At(node, self.ran + (moment == "before"), moment), None

    def leave(self) -> None:
        """The training goes on, or the step is over."""
        self._at = self._shown = None

    def back(self) -> bool:
        """To the node before; False if none has run."""
        if self.ran == 0:
            return False
        self._shown = max(self._position - 1, 1)
        return True

    def moves_on(self, command: Command) -> bool:
        """Whether a node that has run already is the one to go to: then that is all there is to do."""
        if self._shown is None or self._memory.current is None:
            return False
        last = self._at.position if self._at is not None else self.ran
        position: int | None = self._shown + 1
        if command.kind == "run_to":
            position = self._memory.current.position(command.node)
        if position is None or not self._shown < position <= last:
            return False
        self._shown = None if self._at is not None and position == last else position
        return True

    def cursor(self) -> Cursor | None:
        current = self._memory.current
        if current is None:
            return None
        count = max(self._telling.known.stops, self.ran)
        if self._shown is not None:
            return Cursor(self._telling.known.name, current.nodes[self._shown - 1], self._shown, count)
        if self._at is not None:
            return Cursor(self._telling.known.name, self._at.node, self._at.position, count, self._at.moment)
        return None

    @property
    def _position(self) -> int:
        """Of the node that is shown."""
        if self._shown is not None:
            return self._shown
        return self._at.position if self._at is not None else self.ran + 1
