"""The server that commands act on: its options, how it is found, and how one is started beside us."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from stepscope.cli.command import USAGE, Failure, boolean, port
from stepscope.server.workspace import RunningServer, default_workspace, read_running

LOG = "server.log"
_START_SECONDS = 30.0


def add_workspace_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workspace", type=Path, metavar="DIR", default=default_workspace(), help="where the server keeps its state"
    )


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """The options of `start`, which are also those of the commands that start a server where none is."""
    parser.add_argument("--port", type=port, default=8080, help="of the web page and its API")
    parser.add_argument("--enable-debugger", type=boolean, default=True, metavar="True|False",
                        help="False serves recordings only")  # fmt: skip
    parser.add_argument("--debugger-port", type=port, default=50051, help="that training processes connect to")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on; others than loopback need a token")
    add_workspace_option(parser)
    parser.add_argument("--token", default=os.environ.get("STEPSCOPE_TOKEN") or argparse.SUPPRESS,
                        help="that the page, clients and trainings must show; made up where one is needed")  # fmt: skip
    parser.add_argument("--enable-original-clients", type=boolean, default=False, metavar="True|False",
                        help="let MindSpore 1.1 to 2.2 connect without a token, which their debugger client can't send"
                             " (without a token they always can)")  # fmt: skip
    parser.add_argument("--open", action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS,
                        help="the page in a browser (default: if there is one, and this is a terminal)")  # fmt: skip


def check_server_options(options: argparse.Namespace) -> None:
    if options.enable_debugger and options.port == options.debugger_port:
        raise Failure(f"--port and --debugger-port are both {options.port}: they must differ", USAGE)


def find(workspace: Path) -> RunningServer | None:
    """The server of a workspace, if one is there and answers."""
    from stepscope.client.http import Http
    from stepscope.core.errors import StepscopeError

    running = read_running(workspace)
    if running is None:
        return None
    http = Http(running.url, running.token)
    try:
        http.check()
    except StepscopeError as error:
        hint = f"end it with `{command('stop', workspace)}`"
        raise Failure(f"the server of {workspace} (process {running.pid}) does not answer: {error}; {hint}") from None
    finally:
        http.close()
    return running


def need(workspace: Path) -> RunningServer:
    running = find(workspace)
    if running is None:
        raise Failure(f"no server is running in {workspace}; start one with `{command('start', workspace)}`")
    return running


def find_or_start(options: argparse.Namespace) -> tuple[RunningServer, bool]:
    """A server for trainings, and whether it was started here. It outlives this process."""
    running = find(options.workspace)
    if running is not None and running.debugger_port is None:
        hint = f"end it with `{command('stop', options.workspace)}`"
        raise Failure(f"the server at {running.url} was started with --enable-debugger False; {hint}")
    return (running, False) if running else (_start(options), True)


def _start(options: argparse.Namespace) -> RunningServer:
    if not options.enable_debugger:
        raise Failure("a training can't be debugged with --enable-debugger False", USAGE)
    check_server_options(options)
    words = [sys.executable, "-m", "stepscope.cli", "start", "--no-open", "--workspace", str(options.workspace)]
    for option in ("port", "debugger_port", "host", "enable_original_clients"):
        words += [f"--{option.replace('_', '-')}", str(getattr(options, option))]
    environment = dict(os.environ)
    if hasattr(options, "token"):  # not on the command line, which others can read
        environment["STEPSCOPE_TOKEN"] = options.token
    for name in ("ENABLE_MS_DEBUGGER", "STEPSCOPE_ENABLE"):
        environment.pop(name, None)
    log = options.workspace / LOG
    try:
        options.workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as output:
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment, start_new_session=True
            )
    except OSError as error:
        raise Failure(f"the workspace {options.workspace} can't be used: {error.strerror}") from None
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        running = read_running(options.workspace)
        if running is not None and running.pid == process.pid:
            return running
        if process.poll() is not None:
            lines = log.read_text(errors="replace").strip().splitlines()
            said = lines[-1] if lines else f"it ended with status {process.returncode}"
            raise Failure(f"no server could be started: {said.removeprefix('stepscope start: ')}")
        time.sleep(0.02)
    process.terminate()
    raise Failure(f"the server did not get ready within {_START_SECONDS:.0f} s; its log is {log}")


def page(running: RunningServer) -> str:
    """The address, ready to click."""
    return f"{running.url}/?token={running.token}" if running.token else f"{running.url}/"


def training_environment(running: RunningServer) -> dict[str, str]:
    """What a training process needs in its environment to come to this server."""
    assert running.debugger_port is not None
    place = {"HOST": running.debugger_host, "PORT": str(running.debugger_port)}
    token = {"STEPSCOPE_TOKEN": running.token} if running.token else {}
    return {
        "STEPSCOPE_ENABLE": "1",
        **{f"STEPSCOPE_{name}": value for name, value in place.items()},
        "ENABLE_MS_DEBUGGER": "1",
        **{f"MS_DEBUGGER_{name}": value for name, value in place.items()},
        **token,
    }


def command(name: str, workspace: Path) -> str:
    """`stepscope NAME` as the user has to type it for this workspace."""
    program = "stepscope" if on_path("stepscope") else f"{sys.executable} -m stepscope.cli"
    return f"{program} {name}" if workspace == default_workspace() else f"{program} {name} --workspace {workspace}"


def on_path(program: str) -> bool:
    """Whether the user who types `program` gets the one of this environment (`make` runs us in one of its own)."""
    found = shutil.which(program, path=os.environ.get("STEPSCOPE_CALLER_PATH"))
    return found is not None and Path(found).parent == Path(sys.executable).parent
