"""What a check found, as it is shown."""

from __future__ import annotations

import json
import math

import pytest

from stepscope.core.ports import Report, State
from stepscope.core.watch.records import Hit, HitBatch, ParameterCheck, Watchpoint
from stepscope.server.job import Job
from stepscope.server.watch.hits import Checked, Wanted
from stepscope.server.watch.watchpoints import State as Watched
from stepscope.testing.source import INFO, FakeSource

LARGE = Watchpoint(1, "tensor_too_large", {"max_gt": 3.0}, name="large")
OVERFLOW = Watchpoint(2, "tensor_overflow")


def hit(graph: str, node: str, watchpoint: int, position: int, error: tuple[str, ...] = ()) -> Hit:
    return Hit(5, graph, node, 0, watchpoint, error=frozenset(error), position=position)


BATCH = HitBatch(
    5,
    3,
    (
        hit("b", "net/conv1", 1, 1),
        hit("a", "net/conv1", 1, 2, ("nan", "inf")),
        hit("b", "net/conv10", 2, 3),
        hit("a", "net/relu", 2, 4),
    ),
)


@pytest.fixture
def job():
    made = Job.new(INFO)
    made.attach(FakeSource(), "127.0.0.1:1")
    made.report(Report(State.PAUSED, step=5, reason="watchpoint"))
    made.watch.state = Watched(revision=3, checked_since=3, watchpoints=(LARGE, OVERFLOW))
    made.hits(BATCH)
    return made


def shown(job: Job, offset: int = 0, limit: int = 500, **wanted):
    return job.checked.view(Wanted(**wanted), job.view, job.watch.state, [5], offset, limit)


def names(found) -> list[tuple[str, str]]:
    return [(each.graph, each.node) for each in found.hits]


def test_they_come_graph_by_graph_in_order(job):
    found = shown(job)
    assert names(found) == [("b", "net/conv1"), ("b", "net/conv10"), ("a", "net/conv1"), ("a", "net/relu")]
    assert [(each.graph, each.total) for each in found.graphs] == [("b", 2), ("a", 2)]
    assert (found.total, found.all, found.step, found.revision, found.outdated) == (4, 4, 5, 3, False)
    assert [each.position for each in found.hits] == [1, 3, 2, 4]


@pytest.mark.parametrize(
    ("wanted", "positions"),
    [
        ({"watchpoint": 2}, [3, 4]),
        ({"graph": "a"}, [2, 4]),
        ({"node": "net/conv1"}, [1, 2]),
        ({"pattern": "CONV1"}, [1, 3, 2]),
        ({"pattern": "*/relu"}, [4]),
        ({"kind": "error"}, [2]),
        ({"kind": "hit"}, [1, 3, 4]),
        ({"rank": 0}, [1, 3, 2, 4]),
        ({"rank": 1}, []),
        ({"graph": "b", "watchpoint": 1}, [1]),
    ],
)
def test_filters(job, wanted, positions):
    found = shown(job, **wanted)
    assert [each.position for each in found.hits] == positions
    assert (found.total, found.all) == (len(positions), 4)
    assert sum(each.total for each in found.graphs) == len(positions)


def test_pages(job):
    assert [each.position for each in shown(job, offset=1, limit=2).hits] == [3, 2]
    assert shown(job, offset=9).hits == []
    assert shown(job, limit=0).total == 4


def test_names_are_those_of_now_and_conditions_those_of_the_check(job):
    job.watch.update(1, "tensor_too_small", {"max_lt": 1}, name="small")
    job.watch.delete(2)
    found = {(each.watchpoint, each.watchpoint_name, each.condition) for each in shown(job).hits}
    assert found == {(1, "small", "tensor_too_large"), (2, "", "tensor_overflow")}


def test_outdated(job):
    job.watch.update(1, name="another")
    assert not shown(job).outdated
    job.watch.update(1, parameters={"max_gt": 4})
    assert shown(job).outdated
    job.hits(HitBatch(5, job.watch.set.revision, BATCH.hits))
    assert not shown(job).outdated
    job.report(Report(State.RUNNING, step=6))
    assert shown(job).outdated


def test_nothing_checked_is_not_outdated(job):
    fresh = Job.new(INFO)
    fresh.watch.create("tensor_overflow", {})
    assert not Checked().view(Wanted(), fresh.view, fresh.watch.state, []).outdated


def test_a_check_that_was_on_its_way_is_read_with_what_it_checked(job):
    job.watch.update(2, "tensor_all_zero")
    job.hits(HitBatch(5, 3, (hit("a", "net/relu", 2, 1),)))
    (found,) = shown(job).hits
    assert found.condition == "tensor_overflow"
    assert shown(job).outdated


def test_hits_of_nothing_that_is_known_are_left_out(job):
    job.hits(HitBatch(5, 3, (hit("a", "x", 99, 1), hit("a", "y", 1, 2))))
    assert names(shown(job)) == [("a", "y")]
    assert (job.view.hits, shown(job).all) == (1, 1)


def test_the_job_counts_them(job):
    assert (job.view.hits, job.view.hits_revision) == (4, 1)
    assert job.checked.counts == {1: 2, 2: 2}
    job.hits(HitBatch(5, 3))
    assert (job.view.hits, job.view.hits_revision) == (0, 2)


def test_values_that_json_does_not_have(job):
    checks = (ParameterCheck("max_gt", 3.0, True, math.inf), ParameterCheck("mean_gt", 1.0, False, None))
    job.hits(HitBatch(5, 3, (Hit(5, "a", "x", 1, 1, checks, frozenset(("nan", "inf")), 0),)))
    (row,) = json.loads(shown(job).model_dump_json())["hits"]
    assert row["params"] == [
        {"name": "max_gt", "value": 3.0, "hit": True, "actual": "inf"},
        {"name": "mean_gt", "value": 1.0, "hit": False, "actual": None},
    ]
    assert (row["error"], row["slot"], row["rank"]) == (["inf", "nan"], 1, 0)
