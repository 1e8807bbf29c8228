"""Watchpoints and hits are there again for the next server, also in a workspace of the first release."""

from __future__ import annotations

import math
import sqlite3
from dataclasses import replace

import pytest

from stepscope.core.watch.records import Hit, HitBatch, ParameterCheck, Rule, Selection, Watchpoint
from stepscope.server.job import Job
from stepscope.server.models import StepRecord
from stepscope.server.store import Store
from stepscope.server.watch import tables
from stepscope.server.watch.hits import Checked, Label
from stepscope.server.watch.watchpoints import State, Watchpoints
from stepscope.testing.source import INFO

# As the first release wrote it.
VERSION_1 = """
CREATE TABLE job (id TEXT PRIMARY KEY, created INTEGER NOT NULL, sequence INTEGER NOT NULL, view TEXT NOT NULL);
CREATE TABLE graph (
  job_id TEXT NOT NULL REFERENCES job ON DELETE CASCADE, name TEXT NOT NULL, summary TEXT NOT NULL, data BLOB NOT NULL,
  UNIQUE (job_id, name)
);
CREATE TABLE step (
  job_id TEXT NOT NULL REFERENCES job ON DELETE CASCADE, step INTEGER NOT NULL, at REAL NOT NULL,
  loss, seconds, reason TEXT NOT NULL,
  PRIMARY KEY (job_id, step)
) WITHOUT ROWID;
PRAGMA user_version=1;
"""
VIEW_1 = (
    '{"id":"old","title":"train.py","command_line":["python","train.py"],"framework":"mindspore",'
    '"framework_version":"2.10.0","device":"CPU","rank":0,"rank_count":1,"host":"h","pid":1,"address":"127.0.0.1:1",'
    '"state":"finished","reason":"","step":3,"step_unit":"run","stepping":"recorded","cursor":null,'
    '"recorded_steps":[2,3],"loss":"nan","step_seconds":null,"graphs":[],'
    '"exit":{"outcome":"finished","detail":"","exit_status":0},"warning":"","connected":false,"started_at":1.0,'
    '"ended_at":2.0,"revision":9}'
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "stepscope.db"


def some_job(job_id: str = "a") -> Job:
    return Job.new(replace(INFO, job_id=job_id))


def stored(path, job_id: str = "a") -> State:
    """What the next server finds."""
    store = Store(path)
    (state,) = [each.watch for each in store.load() if each.view.id == job_id]
    store.close()
    return state


def checked(step: int, count: int = 1) -> Checked:
    hits = tuple(Hit(step, "g", f"node{number}", 0, 1, position=number) for number in range(count))
    return Checked(HitBatch(step, 1, hits), {1: Label("tensor_overflow", "")})


async def test_a_workspace_of_the_first_release_keeps_its_jobs(path):
    with sqlite3.connect(path) as db:
        db.executescript(VERSION_1)
        db.execute("INSERT INTO job VALUES ('old', 1, 7, ?)", (VIEW_1,))
        db.execute("INSERT INTO step VALUES ('old', 3, 1.5, 'nan', 0.25, 'step')")
    db.close()
    store = Store(path)
    (job,) = store.load()
    assert (job.view.id, job.view.step, job.sequence, job.watch) == ("old", 3, 7, State())
    assert (job.view.watchpoints, job.view.hits, job.view.working_directory) == (0, 0, "")
    total, (step,) = await store.steps("old", 0, 9)
    assert (total, step.step, math.isnan(step.loss)) == (1, 3, True)
    watch = Watchpoints(job.watch)
    watch.create("tensor_overflow", {})
    await store.save_watch("old", watch.state)
    store.close()
    assert stored(path, "old") == watch.state
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (2,)
    db.close()


async def test_watchpoints_come_back_as_they_were(path):
    watch = Watchpoints()
    watch.create(
        "tensor_range", {"max_min_gt": 1e300}, Selection("none", ("ReLU",), (Rule("a/b", True, True, "g"),)), "n"
    )
    watch.create("weight_not_changed", {"rtol": "1e-9"}, enabled=False)
    watch.add_new([Watchpoint(0, "tensor_overflow", recommended=True)])
    watch.answer_offer(True)
    watch.take_earlier(State())
    store = Store(path)
    store.save(some_job().view, 1)
    await store.save_watch("a", watch.state)
    store.close()
    assert stored(path) == watch.state


async def test_changes_over_several_servers(path):
    watch = Watchpoints()
    for _ in range(3):
        watch.create("tensor_overflow", {})
    store = Store(path)
    store.save(some_job().view, 1)
    await store.save_watch("a", watch.state)
    watch.delete(1)
    watch.update(2, name="two")
    await store.save_watch("a", watch.state)
    store.close()
    assert stored(path) == watch.state
    store = Store(path)
    (job,) = store.load()
    watch = Watchpoints(job.watch)
    watch.delete(3)
    watch.tick(2, [Rule("x", False)])
    assert watch.create("tensor_all_zero", {}).id == 4
    await store.save_watch("a", watch.state)
    store.close()
    assert stored(path) == watch.state


async def test_only_what_changed_is_written(path):
    watch = Watchpoints()
    watch.create("tensor_overflow", {})
    watch.create("tensor_overflow", {})
    store = Store(path)
    store.save(some_job().view, 1)
    await store.save_watch("a", watch.state)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE watchpoint SET definition='untouched' WHERE id=1")
    watch.update(2, name="two")
    await store.save_watch("a", watch.state)
    with sqlite3.connect(path) as db:
        (first,), (second,) = db.execute("SELECT definition FROM watchpoint ORDER BY id")
    db.close()
    store.close()
    assert first == "untouched"
    assert '"two"' in second


async def test_hits_keep_numbers_that_json_does_not_have(path):
    checks = tuple(
        ParameterCheck(name, value, True, actual)
        for name, value, actual in (("a", 1.0, math.inf), ("b", -2.5, -math.inf), ("c", 0.0, None))
    )
    batch = HitBatch(7, 3, (Hit(7, "g", "n", 1, 4, checks, frozenset(("nan", "previous_inf")), 12),), "a warning")
    found = Checked(batch, {4: Label("tensor_range", "名")})
    store = Store(path)
    store.save(some_job().view, 1)
    store.add_hits("a", 1, found)
    store.add_hits(
        "a", 2, Checked(HitBatch(8, 3, (Hit(8, "g", "n", 0, 4, (ParameterCheck("x", 1, False, math.nan),)),)))
    )
    assert await store.hits("a", 7) == found
    (hit,) = (await store.hits("a")).batch.hits
    assert math.isnan(hit.params[0].actual)
    store.close()
    store = Store(path)
    assert await store.hits("a", 7) == found
    store.close()


async def test_of_each_step_the_last_check_is_kept(path):
    store = Store(path)
    store.save(some_job().view, 1)
    assert (await store.hits("a"), await store.hit_steps("a")) == (None, [])
    for number, (step, count) in enumerate([(3, 1), (5, 4), (5, 2), (9, 0)], 1):
        store.add_hits("a", number, checked(step, count))
    assert await store.hits("a", 5) == checked(5, 2)
    assert await store.hits("a") == checked(9, 0)
    assert await store.hits("a", 4) is None
    assert await store.hit_steps("a") == [3, 5]
    store.close()


async def test_the_history_is_bounded(path, monkeypatch):
    monkeypatch.setattr(tables, "MOST_HITS", 10)
    store = Store(path)
    store.save(some_job("other").view, 1)
    store.add_hits("other", 1, checked(1, 6))
    store.save(some_job().view, 1)
    for number in range(1, 6):
        store.add_hits("a", number, checked(number, 4))
    assert await store.hit_steps("a") == [4, 5]
    store.add_hits("a", 6, checked(6, 11))  # more than there is room for: the last one stays
    assert await store.hit_steps("a") == [6]
    assert await store.hit_steps("other") == [1]
    store.close()


async def test_a_removed_job_takes_its_watchpoints_and_hits_along(path):
    watch = Watchpoints()
    watch.create("tensor_overflow", {})
    store = Store(path)
    store.save(some_job().view, 1)
    await store.save_watch("a", watch.state)
    store.add_hits("a", 1, checked(1))
    await store.remove("a")
    assert await store.hits("a") is None
    store.save(some_job().view, 1)  # another one of the same name
    store.add_step("a", StepRecord(step=1, at=1.0, loss=None, seconds=None, reason=""))
    await store.save_watch("a", watch.state)
    store.close()
    assert stored(path) == watch.state
