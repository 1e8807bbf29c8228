"""What a server keeps: jobs, graphs, watchpoints, hits and the step history, in one SQLite file of the workspace.

The event loop never waits for the disk: one thread owns the database, small changes are collected and written together
a few times a second, and what must be on the disk before it is told of (a graph) is awaited.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from stepscope.core.errors import NotAvailable
from stepscope.core.graph.views import GraphSummary
from stepscope.server.errors import StartError
from stepscope.server.models import JobView, StepRecord, as_json
from stepscope.server.watch import tables
from stepscope.server.watch.hits import Checked
from stepscope.server.watch.watchpoints import State

T = TypeVar("T")

log = logging.getLogger(__name__)

VERSION = 2
FLUSH_SECONDS = 0.2

_SCHEMA = """
CREATE TABLE job (id TEXT PRIMARY KEY, created INTEGER NOT NULL, sequence INTEGER NOT NULL, view TEXT NOT NULL);
CREATE TABLE graph (
  job_id TEXT NOT NULL REFERENCES job ON DELETE CASCADE, name TEXT NOT NULL, summary TEXT NOT NULL, data BLOB NOT NULL,
  UNIQUE (job_id, name)
);
CREATE TABLE step (
  job_id TEXT NOT NULL REFERENCES job ON DELETE CASCADE, step INTEGER NOT NULL, at REAL NOT NULL,
  loss, seconds, reason TEXT NOT NULL, -- SQLite makes NULL of a REAL NaN: it is stored as the text "nan"
  PRIMARY KEY (job_id, step)
) WITHOUT ROWID;
"""

# What each version added: a new file gets all of it, an older one what it lacks.
_ADDED = (_SCHEMA, tables.SCHEMA)
assert len(_ADDED) == VERSION

_SUMMARY = TypeAdapter(GraphSummary)


@dataclass(frozen=True)
class SavedJob:
    view: JobView
    sequence: int  # of its last command
    graphs: list[GraphSummary]
    watch: State


class Store:
    """Opened in the constructor (StartError where that fails); used from one event loop from then on."""

    def __init__(self, path: Path):
        try:
            path.touch(0o600)  # whose mode SQLite gives to its other files, too
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._db.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;")
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version < VERSION:
                self._db.executescript(f"BEGIN; {''.join(_ADDED[version:])} PRAGMA user_version={VERSION}; COMMIT;")
            elif version > VERSION:
                raise StartError(f"{path} was written by a newer stepscope: use that one, or another --workspace")
        except (sqlite3.Error, OSError) as error:
            raise StartError(f"{path} can't be used ({error}): move it away, or use another --workspace") from None
        self._thread = ThreadPoolExecutor(1, "store")
        self._jobs: dict[str, tuple[JobView, int]] = {}  # not written yet
        self._steps: dict[tuple[str, int], StepRecord] = {}  # not written yet
        self._watch: dict[str, State] = {}  # not written yet
        self._hits: dict[str, list[tuple[int, Checked]]] = {}  # not written yet
        self._watch_written: dict[str, State] = {}  # the thread's
        self._flushing: asyncio.TimerHandle | None = None
        self._closed = False

    # ------------------------------------------------------------ jobs and steps: collected

    def load(self) -> list[SavedJob]:
        """All jobs, in order of arrival. Blocks: for the start."""
        jobs = self._db.execute("SELECT view, sequence FROM job ORDER BY created, id").fetchall()
        graphs: dict[str, list[GraphSummary]] = {}
        for job_id, summary in self._db.execute("SELECT job_id, summary FROM graph ORDER BY rowid"):
            graphs.setdefault(job_id, []).append(_SUMMARY.validate_json(summary))
        watch = self._watch_written = tables.load(self._db)
        views = [(JobView.model_validate_json(view), sequence) for view, sequence in jobs]
        return [
            SavedJob(view, sequence, graphs.get(view.id, []), watch.get(view.id, State())) for view, sequence in views
        ]

    def save(self, view: JobView, sequence: int) -> None:
        """Keep a job as it is now; written with the next batch."""
        self._jobs[view.id] = (view, sequence)
        self._schedule()

    def add_step(self, job_id: str, record: StepRecord) -> None:
        """Add to the history; a second record of the same step adds to the first."""
        self._steps[job_id, record.step] = record
        self._schedule()

    async def save_watch(self, job_id: str, state: State) -> None:
        """Keep a job's watchpoints as they are now; written on return."""
        self._watch[job_id] = state
        self._flush()
        await self._run(lambda: None)  # behind the writing

    def add_hits(self, job_id: str, number: int, checked: Checked) -> None:
        """Keep what a check found; `number` rises from check to check."""
        self._hits.setdefault(job_id, []).append((number, checked))
        self._schedule()

    async def hits(self, job_id: str, step: int | None = None) -> Checked | None:
        """The last check, or that of a step; None where it is not kept."""
        self._flush()
        return await self._run(lambda: tables.hits(self._db, job_id, step))

    async def hit_steps(self, job_id: str) -> list[int]:
        """The steps of which hits are kept, oldest first."""
        self._flush()
        return await self._run(lambda: tables.hit_steps(self._db, job_id))

    async def steps(self, job_id: str, offset: int, limit: int) -> tuple[int, list[StepRecord]]:
        """The history in order of steps: how many there are, and a window of them."""
        self._flush()

        def read() -> tuple[int, list[StepRecord]]:
            (total,) = self._db.execute("SELECT count(*) FROM step WHERE job_id=?", (job_id,)).fetchone()
            rows = self._db.execute(
                "SELECT step, at, loss, seconds, reason FROM step WHERE job_id=? ORDER BY step LIMIT ? OFFSET ?",
                (job_id, limit, offset),
            )
            names = ("step", "at", "loss", "seconds", "reason")
            return total, [StepRecord.model_validate(dict(zip(names, row, strict=True))) for row in rows]

        return await self._run(read)

    async def remove(self, job_id: str) -> None:
        """Forget a job with all that belongs to it."""
        self._flush()

        def delete() -> None:
            self._db.execute("DELETE FROM job WHERE id=?", (job_id,))
            self._watch_written.pop(job_id, None)

        await self._run(delete)

    # ------------------------------------------------------------ graphs: awaited

    async def add_graph(self, job_id: str, summary: GraphSummary, data: bytes) -> None:
        """Keep a serialised graph; one of the same name is replaced. Nothing happens where the job was removed."""
        self._flush()
        packed = await asyncio.to_thread(zlib.compress, data, 1)
        row = (job_id, summary.name, _SUMMARY.dump_json(summary).decode(), packed)
        insert = "INSERT OR REPLACE INTO graph SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM job WHERE id=?1)"

        def write() -> None:
            try:
                self._db.execute(insert, row)
            except sqlite3.Error as error:
                log.error("the workspace could not be written, a restart will not know of a graph: %s", error)

        await self._run(write)

    async def graph(self, job_id: str, name: str) -> bytes:
        """The serialised graph; raises NotAvailable where it isn't kept."""

        def read() -> bytes:
            row = self._db.execute("SELECT data FROM graph WHERE job_id=? AND name=?", (job_id, name)).fetchone()
            if row is None:
                raise NotAvailable(f"graph {name!r} could not be kept, and is no longer in memory")
            return row[0]  # type: ignore[no-any-return]

        return await asyncio.to_thread(zlib.decompress, await self._run(read))

    # ------------------------------------------------------------ writing

    def _schedule(self) -> None:
        if self._flushing is None and not self._closed:
            self._flushing = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._flush)

    def _flush(self) -> None:
        """Hand over what was collected to the thread."""
        if self._flushing is not None:
            self._flushing.cancel()
            self._flushing = None
        if not (self._jobs or self._steps or self._watch or self._hits):
            return
        jobs = [(view.id, sequence, view.model_dump_json()) for view, sequence in self._jobs.values()]
        steps = [
            (job_id, record.step, record.at, _cell(record.loss), _cell(record.seconds), record.reason)
            for (job_id, _), record in self._steps.items()
        ]
        watch, self._watch = self._watch, {}
        hits, self._hits = self._hits, {}
        self._jobs.clear()
        self._steps.clear()
        self._thread.submit(self._write, jobs, steps, watch, hits)

    def _write(
        self,
        jobs: list[tuple[Any, ...]],
        steps: list[tuple[Any, ...]],
        watch: dict[str, State],
        hits: dict[str, list[tuple[int, Checked]]],
    ) -> None:
        try:
            self._db.execute("BEGIN")
            self._db.executemany(
                "INSERT INTO job SELECT ?1, 1 + ifnull(max(created), 0), ?2, ?3 FROM job WHERE true "
                "ON CONFLICT (id) DO UPDATE SET sequence=excluded.sequence, view=excluded.view",
                jobs,
            )
            self._db.executemany(
                "INSERT INTO step VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET reason=excluded.reason, "
                "loss=ifnull(excluded.loss, loss), seconds=ifnull(excluded.seconds, seconds)",
                steps,
            )
            for job_id, state in watch.items():
                tables.save(self._db, job_id, state, self._watch_written.get(job_id, State()))
            for job_id, batches in hits.items():
                for number, checked in batches:
                    tables.save_hits(self._db, job_id, number, checked)
            self._db.execute("COMMIT")
            self._watch_written |= watch
        except sqlite3.Error as error:  # a full disk must not end the debugging
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            log.error("the workspace could not be written, a restart will not know of the last changes: %s", error)

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def close(self) -> None:
        """Write what is left. Blocks: for the end."""
        self._flush()
        self._closed = True
        self._thread.shutdown()
        self._db.close()


def _cell(value: float | None) -> Any:
    return None if value is None else as_json(value)
