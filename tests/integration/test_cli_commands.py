"""The command line as processes: start, status, stop, and run with scripts that need no framework."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import socket
import sys
from pathlib import Path

import pytest
from command_line import SECONDS, CommandLine
from trainings import until

import stepscope
from stepscope.cli.script import has_hook
from stepscope.server.workspace import read_running
from stepscope.testing.agent import FakeAgent

needs_hook = pytest.mark.skipif(not has_hook(sys.executable), reason="stepscope is on the path, but not installed")


def read_until(terminal: int, text: bytes) -> bytes:
    """What comes out of a terminal up to the end of the output with `text` in it."""
    seen = b""
    while text not in seen:
        assert select.select([terminal], [], [], SECONDS)[0], seen
        seen += os.read(terminal, 4096)
    return seen


@pytest.fixture
def cli(tmp_path):
    command_line = CommandLine(tmp_path / "workspace")
    yield command_line
    command_line.stop()


@pytest.fixture
def started(cli):
    process, _ = cli.start()
    yield cli
    if process.poll() is None:
        process.terminate()
    process.communicate(timeout=SECONDS)


def script(folder: Path, code: str) -> str:
    path = folder / "train.py"
    path.write_text(code)
    return str(path)


# ---------------------------------------------------------------- start, stop


def test_start_says_where_it_is_and_how_to_connect(cli):
    process, lines = cli.start()
    assert lines == [
        f"stepscope is ready: {cli.url}/",
        f"Connect a training: ENABLE_MS_DEBUGGER=1 MS_DEBUGGER_HOST=127.0.0.1 MS_DEBUGGER_PORT={cli.debugger_port}"
        " python train.py",
    ]
    with stepscope.connect(cli.url) as debugger, FakeAgent(f"127.0.0.1:{cli.debugger_port}"):
        assert debugger.wait_for_job(SECONDS).state == "paused"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=SECONDS) == ("", "")
    assert process.returncode == 0


def test_a_token_is_in_the_address_and_in_the_hint(cli):
    process, lines = cli.start("--token", "open-sesame")
    assert lines[0] == f"stepscope is ready: {cli.url}/?token=open-sesame"
    assert " STEPSCOPE_TOKEN=open-sesame " in lines[1]
    with pytest.raises(stepscope.ConnectionFailed):
        stepscope.connect(cli.url)
    assert f"{cli.url}/?token=open-sesame" in cli("status").stdout
    assert cli("stop").returncode == 0
    assert process.wait(SECONDS) == 0


def test_another_host_gets_a_token(cli):
    process, lines = cli.start("--host", "0.0.0.0")
    assert re.fullmatch(rf"stepscope is ready: {cli.url}/\?token=[\w-]{{20,}}", lines[0])
    process.terminate()
    assert process.wait(SECONDS) == 0


def test_without_the_debugger(cli):
    process, lines = cli.start("--enable-debugger", "False")
    assert "switched off" in lines[1]
    assert "trainings connect to: switched off" in cli("status").stdout
    refused = cli("run", "python", script(cli.workspace, ""))
    assert refused.returncode == 1
    assert "--enable-debugger False" in refused.stderr
    process.terminate()
    assert process.wait(SECONDS) == 0


def test_one_server_a_workspace(started):
    other = CommandLine(started.workspace)
    second = other("start", *other.ports)
    assert second.returncode == 1
    assert f"in use by another server: process {read_running(started.workspace).pid} at {started.url}" in second.stderr
    assert second.stderr.count("\n") == 1


def test_stop(started):
    stopped = started("stop")
    assert (stopped.returncode, stopped.stderr) == (0, "")
    assert stopped.stdout.startswith(f"stopped the server at {started.url} ")
    again = started("stop")
    assert again.returncode == 1
    assert again.stderr.startswith("stepscope stop: no server is running in ")


# ---------------------------------------------------------------- status


def test_status(started):
    assert started("status").stdout.splitlines()[1:] == ["no training has connected yet"]
    with FakeAgent(f"127.0.0.1:{started.debugger_port}"):
        headline, columns, job = started("status").stdout.splitlines()
        answer = json.loads(started("status", "--json").stdout)
    assert headline.endswith(f"{started.url}/  trainings connect to: 127.0.0.1:{started.debugger_port}")
    assert columns.split() == ["STATE", "SCRIPT", "RANK", "STEP", "LOSS", "TIME/STEP", "FRAMEWORK", "JOB"]
    assert job.startswith("paused (start) ")
    assert [(each["state"], each["step"]) for each in answer["jobs"]] == [("paused", 0)]
    assert answer["server"]["url"] == started.url
    assert "token" not in answer["server"]


def test_status_follows(started):
    process = started.pipes("status", "--follow", "--json")
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["jobs"] == []
    with FakeAgent(f"127.0.0.1:{started.debugger_port}"), stepscope.connect(started.url) as debugger:
        debugger.wait_for_job(SECONDS).run(2)
        while True:
            jobs = json.loads(process.stdout.readline())["jobs"]
            if jobs and (jobs[0]["state"], jobs[0]["step"]) == ("paused", 2):
                break
    assert started("stop").returncode == 0
    _, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, err) == (1, "stepscope status: the server has ended\n")


def test_status_stays_in_place_on_a_terminal(started):
    ours, theirs = pty.openpty()
    process = started.popen("status", "--follow", stdout=theirs, stderr=theirs, stdin=theirs)
    os.close(theirs)
    read_until(ours, b"no training")
    with FakeAgent(f"127.0.0.1:{started.debugger_port}"):
        assert b"\x1b[2F\x1b[2K" in read_until(ours, b"paused"), "the two lines from before are written over"
    process.send_signal(signal.SIGINT)
    assert process.wait(SECONDS) == 130
    os.close(ours)


# ---------------------------------------------------------------- run


@needs_hook
def test_run_starts_a_server_and_ends_with_the_status_of_the_script(cli):
    code = (
        "import json, os, sys\n"
        "ours = [name for name in os.environ if 'STEPSCOPE' in name or 'MS_DEB' in name]\n"
        "print(json.dumps({name: os.environ[name] for name in ours}))\n"
        "print(sys.argv[1:])\n"
        "sys.exit(3)\n"
    )
    cli.workspace.mkdir()
    done = cli("run", *cli.ports, "--step-unit", "optimizer", script(cli.workspace, code), "--port", "7")
    assert done.returncode == 3
    variables, arguments = done.stdout.splitlines()
    assert arguments == "['--port', '7']"
    assert json.loads(variables) == {
        "STEPSCOPE_WORKSPACE": str(cli.workspace),
        "STEPSCOPE_ENABLE": "1",
        "STEPSCOPE_HOST": "127.0.0.1",
        "STEPSCOPE_PORT": cli.debugger_port,
        "STEPSCOPE_STEP_UNIT": "optimizer",
        "ENABLE_MS_DEBUGGER": "1",
        "MS_DEBUGGER_HOST": "127.0.0.1",
        "MS_DEBUGGER_PORT": cli.debugger_port,
    }
    assert done.stderr.splitlines() == [
        f"stepscope: started a server at {cli.url}/",
        "stepscope: the script ended with status 3; the server stays for review, end it with: stepscope stop",
    ]
    again = cli("run", "--", sys.executable, "-c", "print('hello')")
    assert (again.returncode, again.stdout) == (0, "hello\n")
    assert again.stderr.splitlines()[0] == f"stepscope: the server is at {cli.url}/"
    assert (cli.workspace / "server.log").read_text().startswith("stepscope is ready")


@needs_hook
def test_run_hands_the_token_to_the_script_but_not_to_the_process_list(cli):
    show = "import os; print(os.environ['STEPSCOPE_TOKEN'])"
    done = cli("run", *cli.ports, "--token", "open-sesame", "--", sys.executable, "-c", show)
    assert (done.returncode, done.stdout) == (0, "open-sesame\n")
    server = Path(f"/proc/{read_running(cli.workspace).pid}/cmdline").read_bytes()
    assert b"open-sesame" not in server
    assert (cli.workspace / "server.log").stat().st_mode & 0o077 == 0


@needs_hook
def test_run_without_a_server_that_can_start(cli):
    with socket.create_server(("127.0.0.1", int(cli.port))):
        done = cli("run", *cli.ports, "--", sys.executable, "-c", "print('must not run')")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"stepscope run: no server could be started: --port {cli.port} on 127.0.0.1 can't be")
    assert done.stderr.count("\n") == 1


@needs_hook
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGKILL, 137)])
def test_run_tells_of_a_signal(started, tmp_path, number, status):
    """SIGTERM and SIGINT to us reach the script; SIGKILL is given to the script itself."""
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    process = started.pipes("run", script(tmp_path, code))
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    os.kill(pid if number == signal.SIGKILL else process.pid, number)
    assert process.wait(SECONDS) == status
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    process.communicate()


@needs_hook
def test_ctrl_c_at_a_terminal_reaches_the_script_once(started, tmp_path):
    code = (
        "import signal, sys, time\n"
        "got = []\n"
        "signal.signal(signal.SIGINT, lambda *_: got.append(1))\n"
        "print('ready', flush=True)\n"
        "while not got: time.sleep(0.01)\n"
        "time.sleep(0.3)\n"
        "sys.stdout.write(f'interrupts: {len(got)}\\n')\n"
    )
    ours, theirs = pty.openpty()
    process = started.popen(
        "run", script(tmp_path, code), stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        preexec_fn=_take_terminal,
    )  # fmt: skip
    os.close(theirs)
    read_until(ours, b"ready")
    os.write(ours, b"\x03")
    assert b"interrupts: 1\r\n" in read_until(ours, b"interrupts: ")
    assert process.wait(SECONDS) == 0
    os.close(ours)


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_run_with_a_python_that_lacks_the_hook(started, tmp_path):
    bare = tmp_path / "bin" / "python3"
    bare.parent.mkdir()
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    done = started("run", "--", str(bare), script(tmp_path, "print('must not run')"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"stepscope run: {bare} lacks stepscope's start-up hook; install it with: {bare} -m pip install stepscope\n"
    )


@needs_hook
def test_doctor_finds_this_installation_fit(cli):
    done = cli("doctor", *cli.ports)
    assert done.returncode == 0, done.stdout
    assert "FAIL" not in done.stdout
    assert "the start-up hook is installed" in done.stdout


def test_the_hook_keeps_the_server_out_of_debugging(cli):
    """A server that is started from an environment made for trainings does not wait for a framework."""
    cli.environment["ENABLE_MS_DEBUGGER"] = "1"
    process, lines = cli.start()
    assert lines[0].startswith("stepscope is ready")
    until(lambda: read_running(cli.workspace))
    process.terminate()
    assert process.wait(SECONDS) == 0
