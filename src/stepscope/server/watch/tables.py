"""Watchpoints and hits in the database. Functions for the store's thread; all values are JSON of the plain types.

Of the hits, the last check of each step is kept, the newest `MOST_HITS` of a job.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from dataclasses import replace

from pydantic import TypeAdapter

from stepscope.core.watch.records import Watchpoint
from stepscope.server.watch.hits import Checked
from stepscope.server.watch.watchpoints import State

MOST_HITS = 10_000

SCHEMA = """
CREATE TABLE watch (job_id TEXT PRIMARY KEY REFERENCES job ON DELETE CASCADE, state TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE watchpoint (
  job_id TEXT NOT NULL REFERENCES job ON DELETE CASCADE, id INTEGER NOT NULL, definition TEXT NOT NULL,
  PRIMARY KEY (job_id, id)
);
CREATE TABLE hits (
  job_id TEXT NOT NULL REFERENCES job ON DELETE CASCADE, step INTEGER NOT NULL, number INTEGER NOT NULL,
  count INTEGER NOT NULL, data BLOB NOT NULL, -- number: the job's hits_revision
  PRIMARY KEY (job_id, step)
);
"""

_STATE = TypeAdapter(State)
_WATCHPOINT = TypeAdapter(Watchpoint)
_CHECKED = TypeAdapter(Checked)


def load(db: sqlite3.Connection) -> dict[str, State]:
    """By job."""
    watchpoints: dict[str, list[Watchpoint]] = {}
    for job_id, definition in db.execute("SELECT job_id, definition FROM watchpoint ORDER BY job_id, id"):
        watchpoints.setdefault(job_id, []).append(_WATCHPOINT.validate_json(definition))
    return {
        job_id: replace(_STATE.validate_json(state), watchpoints=tuple(watchpoints.get(job_id, ())))
        for job_id, state in db.execute("SELECT job_id, state FROM watch")
    }


def save(db: sqlite3.Connection, job_id: str, state: State, written: State) -> None:
    """`written` is what is there already: only what differs from it is written."""
    plain = _STATE.dump_json(replace(state, watchpoints=())).decode()
    db.execute("INSERT OR REPLACE INTO watch VALUES (?, ?)", (job_id, plain))
    old = {each.id: each for each in written.watchpoints}
    new = {each.id: each for each in state.watchpoints}
    db.executemany("DELETE FROM watchpoint WHERE job_id=? AND id=?", [(job_id, id) for id in old if id not in new])
    db.executemany(
        "INSERT OR REPLACE INTO watchpoint VALUES (?, ?, ?)",
        [(job_id, id, _WATCHPOINT.dump_json(each).decode()) for id, each in new.items() if old.get(id) is not each],
    )


def save_hits(db: sqlite3.Connection, job_id: str, number: int, checked: Checked) -> None:
    batch = checked.batch
    # By way of `json`, which keeps NaN and infinities.
    text = json.dumps(_CHECKED.dump_python(checked), default=sorted)
    data = zlib.compress(text.encode(), 1)
    db.execute(
        "INSERT OR REPLACE INTO hits VALUES (?, ?, ?, ?, ?)", (job_id, batch.step, number, len(batch.hits), data)
    )
    db.execute(
        "DELETE FROM hits WHERE job_id=?1 AND number IN (SELECT number FROM ("
        "SELECT number, sum(max(count, 1)) OVER (ORDER BY number DESC) AS so_far FROM hits WHERE job_id=?1"
        ") WHERE so_far > ?2) AND number<>?3",
        (job_id, MOST_HITS, number),
    )


def hits(db: sqlite3.Connection, job_id: str, step: int | None) -> Checked | None:
    """The last check, or that of a step; None where it is not kept."""
    row = db.execute(
        "SELECT data FROM hits WHERE job_id=?1 AND (?2 IS NULL OR step=?2) ORDER BY number DESC LIMIT 1", (job_id, step)
    ).fetchone()
    return _CHECKED.validate_json(zlib.decompress(row[0])) if row else None


def hit_steps(db: sqlite3.Connection, job_id: str) -> list[int]:
    rows = db.execute("SELECT step FROM hits WHERE job_id=? AND count>0 ORDER BY step", (job_id,))
    return [step for (step,) in rows]
