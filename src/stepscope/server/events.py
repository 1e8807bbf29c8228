"""The events that pages and programs follow, each with a number that never comes twice, also over a restart.

The bus keeps the last events; a follower asks for those after the number that it has. One that is too far behind, or
that comes from somewhere else, gets a "server" event instead, which says: fetch everything anew.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator

from stepscope.core.graph.views import GraphSummary
from stepscope.server.models import (
    Event,
    GraphEvent,
    JobEvent,
    JobRemovedEvent,
    JobView,
    ServerEvent,
    ServerInfo,
)

KEPT = 2000  # events


class EventBus:
    """Used from the event loop only."""

    def __init__(self) -> None:
        self._seq = self._first = time.time_ns() // 1_000_000  # above all numbers of an earlier server
        self._kept: deque[tuple[int, Event]] = deque(maxlen=KEPT)
        self._news = asyncio.Event()
        self.closed = False

    def job(self, view: JobView) -> None:
        self._publish(JobEvent(seq=self._seq + 1, job=view))

    def graph(self, job_id: str, graph: GraphSummary) -> None:
        self._publish(GraphEvent(seq=self._seq + 1, job_id=job_id, graph=graph))

    def removed(self, job_id: str) -> None:
        self._publish(JobRemovedEvent(seq=self._seq + 1, job_id=job_id))

    def close(self) -> None:
        """End all followers."""
        self.closed = True
        self._wake()

    def _publish(self, event: Event) -> None:
        self._seq = event.seq
        self._kept.append((event.seq, event))
        self._wake()

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def follow(self, since: int | None, server: ServerInfo) -> AsyncGenerator[Event, None]:
        """The events after number `since`, without end; None: from now on."""
        at = since
        while not self.closed:
            news = self._news
            if at is None or at > self._seq or at < (self._kept[0][0] - 1 if self._kept else self._first):
                at = self._seq
                yield ServerEvent(seq=at, server=server)
            elif at < self._seq:
                # The numbers of the kept events are without gaps, so that the place of the next one is known.
                at, event = self._kept[at - self._kept[0][0] + 1]
                yield event
            else:
                await news.wait()
