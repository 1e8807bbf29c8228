"""The agent when the server goes away, and when the training ends: well, badly, or because it was asked to."""

from __future__ import annotations

import asyncio
import os
import signal

from attach_server import PATIENCE, Attachment, AttachServer
from fake_probe import command

from stepscope.agent import main as module
from stepscope.core.ports import Farewell, State
from stepscope.protocol import convert

# ------------------------------------------------------------ a server that goes away


async def test_a_training_that_stands_is_let_go_when_the_server_stays_away(start):
    async with AttachServer() as server:
        probe = start(server.port)
        probe.hello(lost_wait=0.05)
        stream = await server.attached()
        await stream.welcome()
        await probe.next("connected")
        probe.report(1, [])
        await stream.next("report")
    gone = await probe.next("gone")
    assert gone["reason"] == "the debugger's server went away and did not come back"


async def test_a_training_that_runs_is_not(start):
    async with AttachServer() as server:
        probe = start(server.port)
        probe.hello(lost_wait=0.02)
        stream = await server.attached()
        await stream.welcome()
        await probe.next("connected")
        probe.report(1, [], state="running")
        await stream.next("report")
    assert await probe.hears_nothing_for(0.2)
    probe.report(2, [])  # now it stands, and nobody is there
    await probe.next("gone")


async def test_a_server_that_comes_back_in_time_is_none_that_is_gone(server, attached):
    probe, stream = attached
    probe.report(1, [])
    await stream.next("report")
    stream.end()
    again = await server.attached()
    await again.welcome()
    assert convert.report_from_proto(await again.next("report")).step == 1
    again.send(command("resume"))
    await probe.next("command")


# ------------------------------------------------------------ the end


async def farewell(stream: Attachment) -> tuple[int, Farewell]:
    """The step of the last report, and the farewell."""
    report = convert.report_from_proto(await stream.next("report"))
    assert (report.state, report.recorded_steps, report.cursor) == (State.RUNNING, (), None)
    found = convert.farewell_from_proto(await stream.next("farewell"))
    stream.end()
    return report.step, found


async def test_a_training_that_ends_well(attached):
    probe, stream = attached
    probe.send("bye", step=6, error="")
    probe.end()
    probe.close()
    assert await farewell(stream) == (6, Farewell("finished", "", 0))
    await asyncio.wait_for(probe.agent, PATIENCE)
    assert not probe.dump.path.exists()


async def test_a_training_that_ended_before_the_server_was_reached_is_told_of(start):
    async with AttachServer() as server:
        port = server.port
    probe = start(port)
    probe.hello()
    probe.send("bye", step=0, error="NameError: the name 'undefined_name' is not defined")
    probe.end()
    probe.close()
    await asyncio.sleep(0.1)
    assert not probe.agent.done()
    async with AttachServer(port) as server:
        stream = await server.attached()
        await stream.welcome()
        assert await farewell(stream) == (0, Farewell("lost", "NameError: the name 'undefined_name' is not defined", 0))
        await asyncio.wait_for(probe.agent, PATIENCE)


async def test_one_that_never_reached_a_server_is_waited_for_no_longer(start):
    async with AttachServer() as server:
        port = server.port
    probe = start(port)
    probe.hello(connect_wait=0.2)
    probe.send("bye", step=0, error="")
    probe.end()
    probe.close()
    await asyncio.wait_for(probe.agent, PATIENCE)
    assert not probe.dump.path.exists()


async def test_a_training_that_is_killed(attached):
    probe, stream = attached
    (probe.dump.path / "step").write_bytes((41).to_bytes(8, "little"))
    probe.process.kill()
    probe.close()
    assert await farewell(stream) == (41, Farewell("lost", "the training process was killed by signal 9", -9))
    await asyncio.wait_for(probe.agent, PATIENCE)
    assert not probe.dump.path.exists()


async def test_a_training_that_goes_on_undebugged_keeps_its_folder(attached, monkeypatch):
    monkeypatch.setattr(module, "_FAREWELL_WAIT", 0.05)
    probe, stream = attached
    probe.send("released", reason="the graph could not be read; going on undebugged")
    probe.close()
    assert await farewell(stream) == (0, Farewell("lost", "the graph could not be read; going on undebugged"))
    await asyncio.wait_for(probe.agent, PATIENCE)
    assert probe.dump.path.exists()


async def test_terminate_is_made_sure_of(attached, monkeypatch):
    """First the training is asked, then it gets SIGTERM, then SIGKILL."""
    monkeypatch.setattr(module, "_TERMINATE_WAIT", 0.05)
    probe, stream = attached
    stream.send(command("terminate"))
    await probe.next("command")
    assert await asyncio.to_thread(probe.process.wait, PATIENCE) == -signal.SIGTERM
    probe.close()
    assert (await farewell(stream))[1].outcome == "terminated"


async def test_even_of_a_process_that_does_not_listen(server, start, monkeypatch):
    monkeypatch.setattr(module, "_TERMINATE_WAIT", 0.05)
    probe = start(server.port, "signal.signal(15, signal.SIG_IGN); print(flush=True); sys.stdin.read()")
    await asyncio.to_thread(probe.process.stdout.readline)
    probe.hello()
    stream = await server.attached()
    await stream.welcome()
    stream.send(command("terminate"))
    assert await asyncio.to_thread(probe.process.wait, PATIENCE) == -signal.SIGKILL


async def test_one_that_ends_when_it_is_asked_gets_no_signal(attached):
    probe, stream = attached
    stream.send(command("terminate"))
    await probe.next("command")
    probe.send("bye", step=2, error="")
    probe.end()
    probe.close()
    assert await farewell(stream) == (2, Farewell("terminated", "", 0))
    await asyncio.wait_for(probe.agent, PATIENCE)
    assert not probe.dump.path.exists()
    assert os.waitpid(probe.process.pid, 0)[1] == 0
