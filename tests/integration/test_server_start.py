"""How a server starts, refuses to start, and stops."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

import stepscope
from stepscope.server.errors import StartError
from stepscope.server.workspace import read_running
from stepscope.testing.agent import FakeAgent
from stepscope.testing.server import ServerThread

PROGRAM = """
import sys, pathlib
from stepscope.server.app import serve
from stepscope.server.errors import StartError
from stepscope.server.settings import Settings
try:
    serve(Settings(port=0, debugger_port=0, workspace=pathlib.Path(sys.argv[1])), lambda a: print(a.url, flush=True))
except StartError as error:
    sys.exit(f"error: {error}")
print("bye", flush=True)
"""


@pytest.fixture
def taken():
    """A port that is in use."""
    with socket.create_server(("127.0.0.1", 0)) as busy:
        yield busy.getsockname()[1]


def test_it_tells_where_it_is(tmp_path):
    with ServerThread(tmp_path) as server:
        found = read_running(tmp_path)
        assert (found.pid, found.url, found.version) == (os.getpid(), server.url, stepscope.__version__)
        assert (found.debugger_host, found.debugger_port) == ("127.0.0.1", server.address.debugger_port)
        info = httpx.get(f"{found.url}/api/server").json()
        assert info == {
            "name": "stepscope",
            "version": stepscope.__version__,
            "address": server.url,
            "debugger_address": server.debugger_address,
            "workspace": str(tmp_path),
        }
    assert read_running(tmp_path) is None


@pytest.mark.parametrize(("option", "name"), [("port", "--port"), ("debugger_port", "--debugger-port")])
def test_a_port_that_is_taken(tmp_path, taken, option, name):
    with pytest.raises(StartError, match=rf"^{name} {taken} on 127.0.0.1 can't be used: address already in use$"):
        ServerThread(tmp_path, **{option: taken})
    ServerThread(tmp_path).close()  # nothing was left behind


def test_a_second_server_on_the_same_ports_is_refused(tmp_path):
    with ServerThread(tmp_path / "one") as first:
        for ports in ({"port": int(first.url.rpartition(":")[2])}, {"debugger_port": first.address.debugger_port}):
            with pytest.raises(StartError, match="can't be used: address already in use"):
                ServerThread(tmp_path / "two", **ports)


def test_a_second_server_in_the_same_workspace_is_refused(tmp_path):
    with (
        ServerThread(tmp_path) as first,
        pytest.raises(StartError, match=f"in use by another server: process {os.getpid()} at {re.escape(first.url)}"),
    ):
        ServerThread(tmp_path)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "256.1.1.1", "192.0.2.1"])
def test_a_host_that_is_not_here(tmp_path, host):
    with pytest.raises(StartError, match=re.escape(host)) as error:
        ServerThread(tmp_path, host=host)
    assert "\n" not in str(error.value)


def test_equal_ports_are_refused(tmp_path):
    with pytest.raises(StartError, match="have to differ"):
        ServerThread(tmp_path, port=50123, debugger_port=50123)


def test_without_the_debugger_nothing_listens_for_trainings(tmp_path):
    with ServerThread(tmp_path, enable_debugger=False) as server:
        assert server.address.debugger_address is None
        assert httpx.get(f"{server.url}/api/server").json()["debugger_address"] is None
        assert read_running(tmp_path).debugger_port is None


def test_on_the_network_a_token_is_made(tmp_path):
    with ServerThread(tmp_path, host="0.0.0.0") as server:
        assert server.url.startswith("http://127.0.0.1:")
        assert f"?token={server.address.token}" in server.address.url
        assert httpx.get(f"{server.url}/api/jobs").status_code == 401
        assert read_running(tmp_path).token == server.address.token
        with stepscope.connect(server.address.url) as debugger:
            assert debugger.jobs() == []
        with FakeAgent(server.debugger_address) as agent:
            assert "a token is needed" in agent.refusal


def test_the_loopback_of_the_other_family(tmp_path):
    if not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    with ServerThread(tmp_path, host="::1") as server:
        assert server.url.startswith("http://[::1]:")
        with FakeAgent(server.debugger_address), stepscope.connect(server.url) as debugger:
            assert debugger.wait_for_job(60).state == "paused"


def test_the_names_of_the_loopback(tmp_path):
    with ServerThread(tmp_path, host="localhost") as server:
        assert server.url.startswith("http://localhost:")
        assert server.debugger_address.startswith("127.0.0.1:")
        with FakeAgent(server.debugger_address), stepscope.connect(server.url) as debugger:
            assert debugger.wait_for_job(60).state == "paused"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_at_once(tmp_path, number):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        url = process.stdout.readline().strip()
        found = read_running(tmp_path)
        assert url == f"{found.url}/"
        with FakeAgent(f"127.0.0.1:{found.debugger_port}") as agent, stepscope.connect(url) as debugger:
            agent.source.step_seconds = 60
            job = debugger.wait_for_job(60)
            job.run()
            with socket.create_connection(("127.0.0.1", found.debugger_port)) as stranger:
                stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
                stranger.recv(100)
            with socket.create_connection(("127.0.0.1", int(found.url.rpartition(":")[2]))) as polling:
                polling.sendall(b"GET /api/jobs/fake-1?wait=30&state=running HTTP/1.1\r\nHost: localhost\r\n\r\n")
                process.send_signal(number)  # while a long poll is open, and a training attached
                assert process.wait(60) == 0
        assert process.communicate() == ("bye\n", "")
        assert read_running(tmp_path) is None
    finally:
        process.kill()
        process.wait()


def test_what_keeps_it_from_starting_is_one_line(tmp_path):
    (tmp_path / "stepscope.db").write_text("no database" * 100)
    ran = subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert re.fullmatch(
        r"error: .*stepscope\.db can't be used \(.*\): move it away, or use another --workspace\n", ran.stderr
    )


def test_importing_the_package_costs_nothing():
    program = (
        "import sys; before = set(sys.modules); import stepscope; new = set(sys.modules) - before\n"
        "heavy = {'numpy', 'grpc', 'httpx', 'pydantic', 'fastapi', 'asyncio', 'logging', 'typing', 'dataclasses'}\n"
        "assert not heavy & new, heavy & new\n"
        "assert set(dir(stepscope)) == set(stepscope.__all__)\n"
        "assert stepscope.connect.__module__ == 'stepscope.client.debugger'\n"
        "assert stepscope.stats([1.0]).count == 1\n"
    )
    source = Path(stepscope.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert ran.returncode == 0, ran.stderr


def test_there_is_nothing_else_in_the_package():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = stepscope.nothing
