"""The state machine of a job, without anything around it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from stepscope.core.errors import Conflict, NotAvailable
from stepscope.core.ports import Cursor, Farewell, Report, SourceInfo, State
from stepscope.server.errors import Refused
from stepscope.server.job import Job, title
from stepscope.testing.source import INFO, FakeSource

PAUSED = Report(State.PAUSED, reason="start")
WORK = ("run", "resume", "next_node", "previous_node", "run_to")


def job(*reports: Report) -> Job:
    made = Job.new(INFO)
    made.attach(FakeSource(), "127.0.0.1:1")
    for report in reports:
        made.report(report)
    return made


def test_a_new_job_runs_until_it_reports():
    made = job()
    assert (made.view.state, made.view.connected, made.view.title) == (State.RUNNING, True, "train.py")
    made.report(PAUSED)
    assert (made.view.state, made.view.reason) == (State.PAUSED, "start")


@pytest.mark.parametrize("kind", WORK)
def test_work_needs_a_pause_and_leaves_the_job_running(kind):
    made = job(PAUSED)
    command = made.command(kind, steps=3, graph="g", node="n")
    assert (command.kind, command.steps, command.graph, command.node) == (kind, 3, "g", "n")
    assert made.view.state is State.RUNNING
    with pytest.raises(Conflict, match=f"{kind} is possible while the job is paused only: it is running"):
        made.command(kind)


def test_an_old_report_does_not_end_the_work():
    made = job(PAUSED)
    first = made.command("run")
    made.report(replace(PAUSED, command_sequence=first.sequence - 1))
    assert made.view.state is State.RUNNING
    made.report(Report(State.RUNNING, step=0, command_sequence=first.sequence))
    made.report(Report(State.PAUSED, step=1, reason="step", command_sequence=first.sequence))
    assert (made.view.state, made.view.step, made.view.reason) == (State.PAUSED, 1, "step")
    second = made.command("run")
    made.report(Report(State.PAUSED, step=1, reason="step", command_sequence=first.sequence))
    assert made.view.state is State.RUNNING
    made.report(Report(State.PAUSED, step=2, reason="step", command_sequence=second.sequence))
    assert made.view.state is State.PAUSED


def test_a_run_that_ends_before_the_pause_arrives_is_a_pause():
    made = job(PAUSED)
    run = made.command("run")
    pause = made.command("pause")
    assert pause.sequence > run.sequence
    made.report(Report(State.PAUSED, step=1, reason="step", command_sequence=run.sequence))
    assert made.view.state is State.PAUSED


def test_pause_of_a_paused_job_is_nothing():
    made = job(PAUSED)
    before = made.view
    assert made.command("pause") is None
    assert made.view == before


def test_a_recheck_needs_a_pause_and_leaves_it_as_it_is():
    made = job(Report(State.PAUSED, step=3, reason="node", cursor=Cursor("g", "n", 1, 2)))
    before = made.view
    command = made.command("recheck")
    assert (command.kind, command.sequence) == ("recheck", 1)
    assert made.view == before
    run = made.command("run")
    made.report(Report(State.PAUSED, step=3, reason="watchpoint", command_sequence=command.sequence))
    assert made.view.state is State.RUNNING  # the report of the recheck is no end of the run
    with pytest.raises(Conflict, match="recheck is possible while the job is paused only: it is running"):
        made.command("recheck")
    made.report(Report(State.PAUSED, step=4, reason="watchpoint", command_sequence=run.sequence))
    assert (made.view.state, made.view.reason) == (State.PAUSED, "watchpoint")


@pytest.mark.parametrize("state", [State.RUNNING, State.PAUSED])
def test_terminate_is_possible_any_time_and_again(state):
    made = job(Report(state))
    made.command("terminate")
    assert (made.view.state, made.view.reason) == (State.RUNNING, "terminate")
    for kind in (*WORK, "pause"):
        with pytest.raises(Conflict, match="the job was told to end"):
            made.command(kind)
    assert made.command("terminate").kind == "terminate"
    made.farewell(Farewell("terminated", exit_status=-15))
    assert made.view.state is State.FINISHED
    assert (made.view.exit.outcome, made.view.exit.exit_status) == ("terminated", -15)
    with pytest.raises(Conflict, match=r"the job is finished \(terminated, exit status -15\)"):
        made.command("terminate")


@pytest.mark.parametrize(
    ("farewell", "state"),
    [
        (Farewell("finished", exit_status=0), State.FINISHED),
        (Farewell("terminated"), State.FINISHED),
        (Farewell("lost", "killed by signal 9", -9), State.LOST),
    ],
)
def test_a_farewell_ends_it(farewell, state):
    made = job(PAUSED)
    made.farewell(farewell)
    view = made.view
    assert (view.state, view.connected, view.cursor) == (state, False, None)
    assert (view.exit.outcome, view.exit.detail, view.exit.exit_status) == (
        farewell.outcome,
        farewell.detail,
        farewell.exit_status,
    )
    made.detach("broken")
    assert made.view == view
    assert made.report(PAUSED) is None
    assert made.view == view
    with pytest.raises(NotAvailable, match="the tensors are gone"):
        made.live()


def test_a_broken_connection_loses_it_and_a_new_one_brings_it_back():
    made = job(PAUSED)
    made.command("run")
    made.detach("broken")
    assert (made.view.state, made.view.exit.outcome, made.view.exit.detail) == (State.LOST, "lost", "broken")
    with pytest.raises(Conflict, match=r"run is not possible: the job is lost \(lost: broken\)"):
        made.command("run")
    made.attach(FakeSource(), "127.0.0.1:2")
    assert (made.view.state, made.view.exit, made.view.ended_at) == (State.RUNNING, None, None)
    # The run got lost on the way: the first report of the new connection is the truth.
    made.report(PAUSED)
    assert made.view.state is State.PAUSED
    assert made.command("run").sequence == 2


def test_numbers_of_commands_rise_over_a_server_that_forgot_some():
    made = job(replace(PAUSED, command_sequence=41))
    assert made.command("run").sequence == 42


def test_a_finished_job_is_final():
    made = job(PAUSED)
    made.farewell(Farewell("finished"))
    with pytest.raises(Refused, match="has ended: finished"):
        made.attach(FakeSource(), "127.0.0.1:2")


def test_another_process_can_not_take_it_over():
    made = job(PAUSED)
    with pytest.raises(Refused, match="in use by process 4242 on fakehost"):
        made.attach(FakeSource(replace(INFO, pid=1)), "127.0.0.1:2")
    newer = FakeSource()
    made.attach(newer, "127.0.0.1:3")
    assert made.source is newer


def test_steps_are_recorded_once_with_the_reason_of_the_pause():
    made = job(PAUSED)
    made.command("resume")
    assert made.report(Report(State.RUNNING, step=0)) is None
    record = made.report(Report(State.RUNNING, step=3, loss=0.5, step_seconds=0.1))
    assert (record.step, record.loss, record.seconds, record.reason) == (3, 0.5, 0.1, "")
    assert made.report(Report(State.RUNNING, step=3)) is None
    record = made.report(Report(State.PAUSED, step=3, reason="pause"))
    assert (record.step, record.reason) == (3, "pause")
    cursor = Cursor("g", "n", 1, 2)
    assert made.report(Report(State.PAUSED, step=3, reason="node", cursor=cursor)) is None
    assert made.view.cursor.node == "n"


async def test_waiting_ends_with_the_state():
    made = job(PAUSED)
    await asyncio.wait_for(made.wait_while(State.RUNNING, 600), 60)  # it is in another one
    run = made.command("run")
    waiting = asyncio.create_task(made.wait_while(State.RUNNING, 30))
    await asyncio.sleep(0)
    made.report(Report(State.RUNNING, step=1, command_sequence=run.sequence))
    await asyncio.sleep(0)
    assert not waiting.done()
    made.report(Report(State.PAUSED, step=1, command_sequence=run.sequence))
    await asyncio.wait_for(waiting, 60)


async def test_waiting_ends_with_the_time_and_with_the_server():
    made = job()
    await asyncio.wait_for(made.wait_while(State.RUNNING, 0.01), 60)
    waiting = asyncio.create_task(made.wait_while(State.RUNNING, 30))
    await asyncio.sleep(0)
    made.close()
    await asyncio.wait_for(waiting, 60)


@pytest.mark.parametrize(
    ("command_line", "expected"),
    [
        (("python", "-u", "/a/b/train.py", "x.py"), "train.py"),
        (("python", "-m", "package.train"), "package.train"),
        (("/usr/bin/trainer", "--fast"), "trainer"),
        ((), "training"),
    ],
)
def test_title(command_line, expected):
    assert title(command_line) == expected


@pytest.mark.parametrize(
    ("folder", "command_line", "expected"),
    [
        ("/home/me", ("python", "train.py", "--lr", "1"), "/home/me/train.py"),
        ("/home/me/src", ("python", "../train.py"), "/home/me/train.py"),
        ("/elsewhere", ("python", "-u", "/home/me/train.py"), "/home/me/train.py"),
        ("/home/me", ("python", "-m", "pkg.train"), "/home/me/pkg.train"),
        ("", (), "."),
    ],
)
def test_script(folder, command_line, expected):
    assert Job.new(replace(INFO, working_directory=folder, command_line=command_line)).script == expected


def test_revision_rises_with_every_change():
    made = job(PAUSED)
    seen = [made.view.revision]
    made.command("run")
    seen.append(made.view.revision)
    made.detach("x")
    seen.append(made.view.revision)
    made.attach(FakeSource(SourceInfo("fake-1", "mindspore", host="h2", pid=2)), "a")
    seen.append(made.view.revision)
    assert seen == sorted(set(seen))
