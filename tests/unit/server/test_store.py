"""What a server keeps is there again for the next one."""

from __future__ import annotations

import asyncio
import math
import sqlite3
import stat
import time

import pytest

from stepscope.core.errors import NotAvailable
from stepscope.core.graph.views import GraphSummary
from stepscope.core.ports import Report, State
from stepscope.server.errors import StartError
from stepscope.server.job import Job
from stepscope.server.models import StepRecord
from stepscope.server.store import Store
from stepscope.testing.source import INFO, FakeSource

SUMMARY = GraphSummary("g", nodes=2, folded=1, parameters=1, inputs=1, constants=0, scopes=1, has_optimizer=True)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "stepscope.db"


def some_job(job_id: str = "a", **report) -> Job:
    job = Job.new(INFO.__class__(**{**vars(INFO), "job_id": job_id}))
    job.attach(FakeSource(), "127.0.0.1:1")
    job.report(Report(State.PAUSED, **report))
    return job


async def test_jobs_come_back_in_order(path):
    store = Store(path)
    for name in ("b", "a", "c"):
        store.save(some_job(name, step=3, loss=math.nan).view, 7)
    later = some_job("b", step=9)
    store.save(later.view, 8)
    store.close()
    store = Store(path)
    found = store.load()
    assert [(each.view.id, each.view.step, each.sequence) for each in found] == [("b", 9, 8), ("a", 3, 7), ("c", 3, 7)]
    assert math.isnan(found[1].view.loss)
    assert found[0].view == later.view
    store.close()


async def test_a_batch_is_written_by_itself(path):
    store = Store(path)
    store.save(some_job().view, 1)
    store.add_step("a", StepRecord(step=1, at=1.0, loss=0.5, seconds=None, reason=""))
    other = sqlite3.connect(path)
    deadline = time.monotonic() + 10
    while not other.execute("SELECT * FROM step").fetchall() and time.monotonic() < deadline:
        await asyncio.sleep(0.02)
    assert other.execute("SELECT job_id, step, loss FROM step").fetchall() == [("a", 1, 0.5)]
    other.close()
    store.close()


async def test_steps_keep_numbers_that_sql_does_not_have(path):
    store = Store(path)
    store.save(some_job().view, 1)
    losses = [0.5, math.nan, math.inf, -math.inf, None]
    for step, loss in enumerate(losses, 1):
        store.add_step("a", StepRecord(step=step, at=float(step), loss=loss, seconds=0.25, reason=""))
    total, records = await store.steps("a", 0, 10)
    assert total == 5
    assert [repr(record.loss) for record in records] == [repr(loss) for loss in losses]
    total, records = await store.steps("a", 3, 1)
    assert (total, [record.step for record in records]) == (5, [4])
    store.close()


async def test_a_second_record_of_a_step_adds_to_it(path):
    store = Store(path)
    store.save(some_job().view, 1)
    store.add_step("a", StepRecord(step=1, at=1.0, loss=0.5, seconds=0.1, reason=""))
    await store.steps("a", 0, 1)
    store.add_step("a", StepRecord(step=1, at=9.0, loss=None, seconds=None, reason="pause"))
    _, (record,) = await store.steps("a", 0, 1)
    assert (record.at, record.loss, record.seconds, record.reason) == (1.0, 0.5, 0.1, "pause")
    store.close()


async def test_graphs_are_kept_small_and_whole(path):
    store = Store(path)
    store.save(some_job().view, 1)
    data = b"graph" * 100_000
    await store.add_graph("a", SUMMARY, data)
    assert await store.graph("a", "g") == data
    with pytest.raises(NotAvailable, match="graph 'other' could not be kept"):
        await store.graph("a", "other")
    await store.add_graph("a", SUMMARY, b"newer")
    assert await store.graph("a", "g") == b"newer"
    store.close()
    store = Store(path)
    assert [(each.view.id, each.graphs) for each in store.load()] == [("a", [SUMMARY])]
    store.close()
    assert path.stat().st_size < len(data)


async def test_removing_a_job_removes_all_of_it(path):
    store = Store(path)
    store.save(some_job().view, 1)
    await store.add_graph("a", SUMMARY, b"x")
    store.add_step("a", StepRecord(step=1, at=1.0, loss=None, seconds=None, reason=""))
    await store.remove("a")
    await store.add_graph("a", SUMMARY, b"x")  # one that came too late
    assert (await store.steps("a", 0, 1))[0] == 0
    assert store.load() == []
    with pytest.raises(NotAvailable):
        await store.graph("a", "g")
    store.close()


async def test_a_disk_that_fails_ends_nothing(path, caplog):
    store = Store(path)
    store.add_step("no such job", StepRecord(step=1, at=1.0, loss=None, seconds=None, reason=""))
    store.save(some_job("b").view, 1)
    assert (await store.steps("b", 0, 1))[0] == 0
    assert "could not be written" in caplog.text
    store.save(some_job("b").view, 1)
    store.close()
    store = Store(path)
    assert [each.view.id for each in store.load()] == ["b"]
    store.close()


async def test_only_its_owner_can_read_it(path):
    store = Store(path)
    store.save(some_job().view, 1)
    await store.steps("a", 0, 1)
    files = list(path.parent.iterdir())
    assert len(files) > 1  # the write-ahead log is one of them
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    store.close()


def test_what_is_no_database_is_a_clear_error(path):
    path.write_bytes(b"not a database" * 1000)
    with pytest.raises(StartError, match="move it away"):
        Store(path)


def test_the_file_of_a_newer_release_is_left_alone(path):
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version=99")
    with pytest.raises(StartError, match="newer stepscope"):
        Store(path)
