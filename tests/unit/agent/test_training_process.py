"""The training process as its agent sees it: what it says, and how it ended. Real processes, all short-lived."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stepscope.agent import training as module
from stepscope.agent.training import Training
from stepscope.core.ports import Farewell
from stepscope.pipe import Pipe, encode

SOURCE = Path(__file__).parents[3] / "src"
SCRIPT = """
import os, socket, sys
from stepscope.pipe import Pipe
pipe = Pipe(socket.socket(fileno=int(sys.argv[1])))
"""

Start = Callable[[str], tuple[Training, subprocess.Popen]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a process that runs `code` with `pipe` at hand. We are its parent, and don't ask how it ended."""
    running: list[subprocess.Popen] = []
    sockets: list[socket.socket] = []

    def run(code: str) -> tuple[Training, subprocess.Popen]:
        ours, theirs = socket.socketpair()
        sockets.append(ours)
        with theirs:
            command = [sys.executable, "-c", SCRIPT + code, str(theirs.fileno())]
            environ = {**os.environ, "PYTHONPATH": str(SOURCE)}
            process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=environ, stdin=subprocess.PIPE)
        running.append(process)
        return Training(ours, process.pid), process

    yield run
    for process in running:
        process.kill()
        process.communicate()
    for sock in sockets:
        sock.close()


async def heard(training: Training) -> list[dict[str, Any]]:
    return [message async for message in training.messages()]


# ------------------------------------------------------------ what it says


@pytest.fixture
def pair() -> Iterator[tuple[Training, Pipe, socket.socket]]:
    """Ourselves as the training process: its pipe, and the bare socket of it."""
    ours, theirs = socket.socketpair()
    yield Training(ours, os.getpid()), Pipe(theirs), theirs
    ours.close()
    theirs.close()


async def test_messages_come_in_order_until_the_pipe_ends(pair):
    training, probe, theirs = pair
    probe.send("hello", number=1)
    theirs.sendall(encode({"is": "report"}) + encode({"is": "bye"})[:5])
    messages = training.messages()
    assert [await anext(messages), await anext(messages)] == [{"is": "hello", "number": 1}, {"is": "report"}]
    theirs.sendall(encode({"is": "bye"})[5:])
    theirs.shutdown(socket.SHUT_WR)
    assert [message async for message in messages] == [{"is": "bye"}]


@pytest.mark.parametrize("garbage", [struct.pack(">I", 1 << 31), b"\0\0\0\x02{}", b"\0\0\0\x03xyz", b"\0\0\0\x09half"])
async def test_garbage_ends_the_conversation(garbage, pair):
    training, probe, theirs = pair
    probe.send("hello")
    theirs.sendall(garbage)
    theirs.shutdown(socket.SHUT_WR)
    assert await heard(training) == [{"is": "hello"}]


async def test_what_is_sent_arrives(pair):
    training, probe, _ = pair
    await training.send("command", kind="run", steps=3)
    assert probe.receive(5) == {"is": "command", "kind": "run", "steps": 3}


async def test_sending_to_one_that_is_gone_is_no_error(pair):
    training, _, theirs = pair
    theirs.close()
    await training.send("command", kind="run")
    assert await heard(training) == []


# ------------------------------------------------------------ how it ended

BYE = "pipe.send('bye', step=3, error=''); "


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (BYE, Farewell("finished", "", 0)),
        (BYE + "sys.exit(3)", Farewell("lost", "the training process ended with exit status 3", 3)),
        ("pipe.send('bye', error='ValueError: x'); sys.exit(1)", Farewell("lost", "ValueError: x", 1)),
        ("os._exit(7)", Farewell("lost", "the training process ended with exit status 7", 7)),
        ("os._exit(0)", Farewell("lost", "the training process ended with exit status 0", 0)),
        ("os.kill(os.getpid(), 9)", Farewell("lost", "the training process was killed by signal 9", -9)),
        (BYE + "os.kill(os.getpid(), 15)", Farewell("lost", "the training process was killed by signal 15", -15)),
    ],
)
async def test_the_farewell_of_a_process(code, expected, start):
    training, _ = start(code)
    said = await heard(training)
    assert await training.farewell(said[-1] if said else None, terminated=False) == expected


@pytest.mark.parametrize(("code", "status"), [(BYE + "sys.exit(143)", 143), ("os.kill(os.getpid(), 9)", -9)])
async def test_the_farewell_of_one_that_was_terminated(code, status, start):
    training, _ = start(code)
    said = await heard(training)
    assert await training.farewell(said[-1] if said else None, terminated=True) == Farewell("terminated", "", status)


@pytest.mark.parametrize(
    ("goodbye", "expected"),
    [
        ({"is": "bye", "error": ""}, Farewell("finished", "", None)),
        ({"is": "bye", "error": "ValueError: x"}, Farewell("lost", "ValueError: x", 1)),
        (None, Farewell("lost", "the training process died without a word (killed, or ended by os._exit)", None)),
    ],
)
async def test_the_farewell_of_one_whose_parent_was_faster(goodbye, expected, start):
    """Once the parent has asked for the exit status, nobody else can."""
    training, process = start("sys.exit(3)")
    process.communicate()
    assert await training.farewell(goodbye, terminated=False) == expected


async def test_a_number_that_a_new_process_has_got_tells_nothing(pair, monkeypatch):
    async def ended(timeout: float) -> bool:
        return True

    training, _, _ = pair  # its number is ours, and we live
    monkeypatch.setattr(training, "ended", ended)
    assert (await training.farewell({"is": "bye", "error": ""}, terminated=False)).exit_status is None


async def test_a_process_that_does_not_end_after_its_goodbye_is_not_waited_for(start, monkeypatch):
    monkeypatch.setattr(module, "_LAST_WORDS", 0.05)
    training, _ = start(BYE + "pipe.close(); sys.stdin.read()")
    said = await heard(training)
    assert await training.farewell(said[-1], terminated=False) == Farewell("finished", "", None)


# ------------------------------------------------------------ the wait for its end


@pytest.fixture(params=["with", "without"])
def pidfd(request, monkeypatch) -> str:
    """Both ways to see a process end; the second is for old kernels."""
    if request.param == "without":
        monkeypatch.setattr(module, "_open_pidfd", lambda pid: None)
    return request.param


async def test_the_end_is_waited_for_and_no_longer(pidfd, start):
    training, process = start("sys.stdin.read()")
    assert not await training.ended(0.05)
    waiting = asyncio.ensure_future(training.ended(30))
    await asyncio.sleep(0)
    await asyncio.to_thread(process.communicate)
    assert await waiting
    assert await training.ended(0.5)  # and from then on it is known


async def test_all_who_wait_are_told(start):
    training, process = start("sys.stdin.read()")
    waiting = [asyncio.ensure_future(training.ended(30)) for _ in range(3)]
    await asyncio.sleep(0.01)
    waiting[0].cancel()  # one gives up: the others still wait
    await asyncio.sleep(0.01)
    waiting.append(asyncio.ensure_future(training.ended(30)))
    process.stdin.close()
    assert await asyncio.wait_for(asyncio.gather(*waiting[1:]), 20) == [True] * 3


async def test_a_process_that_is_gone_before_we_look(pidfd, start):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        _, process = start("")
        process.communicate()
        training = Training(ours, process.pid)
        assert await training.ended(0.5)
        training.kill(signal.SIGTERM)  # harms nobody


async def test_a_signal_reaches_the_process(start):
    training, process = start("pipe.send('ready'); sys.stdin.read()")
    await anext(training.messages())
    training.kill(signal.SIGTERM)
    assert await training.ended(20)
    assert process.wait() == -signal.SIGTERM


async def test_a_process_of_another_user_counts_as_alive(monkeypatch):
    def forbidden(pid: int, number: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", forbidden)
    assert module._alive(1)
