"""What the agent knows of the training that it serves, however that is stepped through."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Protocol

from stepscope.agent.answering import Values
from stepscope.core.ports import Command, Report
from stepscope.core.step_data import COUNTER
from stepscope.core.watch.records import WatchpointSet
from stepscope.pipe import Message


class Debuggee(Values, Protocol):
    """Takes what the server asks for and what the probe tells, and passes on what the other side has to know of it.

    Commands, watchpoints and messages come one at a time, in order; queries at any time. Queries raise StepscopeErrors.
    """

    @property
    def paused(self) -> bool: ...

    async def command(self, command: Command) -> None: ...

    async def watch(self, watchpoints: WatchpointSet) -> None: ...

    async def told(self, message: Message) -> None:
        """A message of the probe."""
        ...

    def last_words(self, goodbye: Message | None) -> Report:
        """The last report of a training that has ended: how far it came, and that its values are gone."""
        ...


def steps_counted(folder: Path) -> int:
    """How far the training has come, by the counter in its folder: of one that was killed, this is all there is."""
    with contextlib.suppress(OSError):
        return int.from_bytes((folder / COUNTER).read_bytes(), "little")
    return 0
