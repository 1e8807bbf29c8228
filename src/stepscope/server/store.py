"""What a server keeps: jobs, graphs and the step history, in one SQLite file of the workspace.

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
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from stepscope.core.errors import NotAvailable
from stepscope.core.graph.views import GraphSummary
from stepscope.server.errors import StartError
from stepscope.server.models import JobView, StepRecord, as_json

T = TypeVar("T")

log = logging.getLogger(__name__)

VERSION = 1
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

_SUMMARY = TypeAdapter(GraphSummary)

SavedJob = tuple[JobView, int, list[GraphSummary]]  # the job, its last command's sequence number, its graphs


class Store:
    """Opened in the constructor (StartError where that fails); used from one event loop from then on."""

    def __init__(self, path: Path):
        try:
            path.touch(0o600)  # whose mode SQLite gives to its other files, too
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._db.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;")
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version == 0:
                self._db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version={VERSION}; COMMIT;")
            elif version != VERSION:
                raise StartError(f"{path} was written by a newer stepscope: use that one, or another --workspace")
        except (sqlite3.Error, OSError) as error:
            raise StartError(f"{path} can't be used ({error}): move it away, or use another --workspace") from None
        self._thread = ThreadPoolExecutor(1, "store")
        self._jobs: dict[str, tuple[JobView, int]] = {}  # not written yet
        self._steps: dict[tuple[str, int], StepRecord] = {}  # not written yet
        self._flushing: asyncio.TimerHandle | None = None
        self._closed = False

    # ------------------------------------------------------------ jobs and steps: collected

    def load(self) -> list[SavedJob]:
        """All jobs, in order of arrival. Blocks: for the start."""
        jobs = self._db.execute("SELECT view, sequence FROM job ORDER BY created, id").fetchall()
        graphs: dict[str, list[GraphSummary]] = {}
        for job_id, summary in self._db.execute("SELECT job_id, summary FROM graph ORDER BY rowid"):
            graphs.setdefault(job_id, []).append(_SUMMARY.validate_json(summary))
        views = [(JobView.model_validate_json(view), sequence) for view, sequence in jobs]
        return [(view, sequence, graphs.get(view.id, [])) for view, sequence in views]

    def save(self, view: JobView, sequence: int) -> None:
        """Keep a job as it is now; written with the next batch."""
        self._jobs[view.id] = (view, sequence)
        self._schedule()

    def add_step(self, job_id: str, record: StepRecord) -> None:
        """Add to the history; a second record of the same step adds to the first."""
        self._steps[job_id, record.step] = record
        self._schedule()

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
        await self._run(lambda: self._db.execute("DELETE FROM job WHERE id=?", (job_id,)))

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
        if not (self._jobs or self._steps):
            return
        jobs = [(view.id, sequence, view.model_dump_json()) for view, sequence in self._jobs.values()]
        steps = [
            (job_id, record.step, record.at, _cell(record.loss), _cell(record.seconds), record.reason)
            for (job_id, _), record in self._steps.items()
        ]
        self._jobs.clear()
        self._steps.clear()
        self._thread.submit(self._write, jobs, steps)

    def _write(self, jobs: list[tuple[Any, ...]], steps: list[tuple[Any, ...]]) -> None:
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
            self._db.execute("COMMIT")
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
