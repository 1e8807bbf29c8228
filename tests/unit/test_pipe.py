"""The pipe between training and sidecar: whole messages, whatever the pieces; and an end of it that is gone."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope import pipe
from stepscope.pipe import MAX_MESSAGE, Pipe, PipeClosed, encode, take

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
MESSAGES = st.lists(
    st.builds(lambda kind, fields: {**fields, "is": kind}, st.text(), st.dictionaries(st.text(), JSON, max_size=4)),
    max_size=5,
)


def test_what_is_left_open_ends_with_the_process_and_nobody_warns():
    code = """
import socket, sys
from stepscope.pipe import Pipe
pipe = Pipe(socket.socket(fileno=int(sys.argv[1])))
pipe.send("bye")
pipe.leave_open()
del pipe
input()
"""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = [sys.executable, "-W", "error", "-c", code, str(theirs.fileno())]
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        theirs.close()
        pipe = Pipe(ours)
        assert pipe.receive(30) == {"is": "bye"}
        assert pipe.receive(0.2) is None
        assert process.communicate(b"\n", 30)[1] == b""
        with pytest.raises(PipeClosed):
            pipe.receive(30)


@pytest.fixture
def ends() -> Iterator[tuple[Pipe, socket.socket]]:
    """A pipe, and the bare socket at its other end."""
    ours, theirs = socket.socketpair()
    one = Pipe(ours)
    yield one, theirs
    one.close()
    theirs.close()


@settings(max_examples=60, deadline=None)
@given(MESSAGES, st.lists(st.integers(1, 40), min_size=1))
def test_messages_come_out_whole_however_they_are_cut(messages, sizes):
    stream = b"".join(map(encode, messages))
    buffer, taken = bytearray(), []
    while stream:
        size = sizes[len(taken) % len(sizes)]
        buffer += stream[:size]
        stream = stream[size:]
        while (message := take(buffer)) is not None:
            taken.append(message)
    assert taken == messages
    assert not buffer


def test_what_one_end_sends_the_other_receives_in_order():
    pair = socket.socketpair()
    one, other = map(Pipe, pair)
    one.send("report", step=3, loss=float("inf"), path="/tmp/\udcff", text="步")
    one.send("bye")
    other.send("command")
    assert other.receive(5) == {"is": "report", "step": 3, "loss": float("inf"), "path": "/tmp/\udcff", "text": "步"}
    assert other.receive(5) == {"is": "bye"}
    assert one.receive() == {"is": "command"}
    one.close()
    other.close()


def test_a_large_message_is_received_while_it_is_sent(ends):
    here, theirs = ends
    sent = {"is": "graphs", "roles": {f"parameter{number}": True for number in range(200_000)}}
    sender = threading.Thread(target=theirs.sendall, args=(encode(sent),))
    sender.start()
    assert here.receive(30) == sent
    sender.join()


def test_without_a_message_the_time_runs_out(ends):
    here, theirs = ends
    assert here.receive(0) is None
    assert here.receive(0.01) is None
    theirs.sendall(encode({"is": "x"})[:-1])
    assert here.receive(0.01) is None  # half a message is none
    theirs.sendall(encode({"is": "x"})[-1:])
    assert here.receive(0) == {"is": "x"}


def test_pending_tells_of_data_of_kept_messages_and_of_the_end(ends):
    here, theirs = ends
    assert not here.pending()
    theirs.sendall(encode({"is": "one"}) + encode({"is": "two"}))
    assert here.pending()
    assert here.receive(0) == {"is": "one"}
    assert here.pending()  # the second has been read from the socket with the first
    assert here.receive(0) == {"is": "two"}
    assert not here.pending()
    theirs.close()
    assert here.pending()
    with pytest.raises(PipeClosed):
        here.receive(0)


def test_messages_that_came_before_the_end_are_still_received(ends):
    here, theirs = ends
    theirs.sendall(encode({"is": "last"}))
    theirs.close()
    assert here.receive(0) == {"is": "last"}
    with pytest.raises(PipeClosed, match="the other end is gone"):
        here.receive(None)


def test_an_end_in_the_middle_of_a_message(ends):
    here, theirs = ends
    theirs.sendall(encode({"is": "last"})[:-2])
    theirs.close()
    with pytest.raises(PipeClosed):
        here.receive(None)


@pytest.mark.parametrize(
    "body", [b"no json", b"\xff\xfe", b"[1]", b"{}", b'"is"', b"null", b"", json.dumps({"kind": "x"}).encode()]
)
def test_what_is_no_message_ends_the_conversation(body, ends):
    here, theirs = ends
    theirs.sendall(struct.pack(">I", len(body)) + body)
    with pytest.raises(PipeClosed, match="not a message"):
        here.receive(0)


def test_a_length_beyond_all_reason(ends):
    here, theirs = ends
    theirs.sendall(struct.pack(">I", MAX_MESSAGE + 1))
    with pytest.raises(PipeClosed, match=f"{MAX_MESSAGE + 1} bytes"):
        here.receive(0)


def test_the_largest_length_is_waited_for():
    assert take(bytearray(struct.pack(">I", MAX_MESSAGE) + b"{")) is None


def test_sending_to_an_end_that_is_gone(ends):
    here, theirs = ends
    theirs.close()
    with pytest.raises(PipeClosed):
        here.send("report")


def test_sending_to_an_end_that_does_not_read(ends, monkeypatch):
    here, _ = ends
    monkeypatch.setattr(pipe, "SEND_TIMEOUT", 0.05)
    with pytest.raises(PipeClosed, match="timed out"):
        here.send("report", text="x" * (8 << 20))


def test_a_send_leaves_no_time_limit_on_what_is_received(ends, monkeypatch):
    here, theirs = ends
    monkeypatch.setattr(pipe, "SEND_TIMEOUT", 0.05)
    here.send("report")
    later = threading.Timer(0.2, theirs.sendall, (encode({"is": "command"}),))
    later.start()
    assert here.receive(None) == {"is": "command"}
    later.join()


def test_a_closed_socket_is_a_closed_pipe(ends):
    here, _ = ends
    here.close()
    with pytest.raises(PipeClosed):
        here.send("report")


def test_an_end_that_is_gone_does_not_kill_a_program_with_the_default_sigpipe():
    child = os.fork()
    if not child:
        status = 1
        try:
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            ours, theirs = socket.socketpair()
            theirs.close()
            Pipe(ours).send("report")
        except PipeClosed:
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
