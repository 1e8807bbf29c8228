"""`stepscope demo`: a real training with a planted fault, paused under the debugger, and what to type next."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepscope.cli.browser import open_page
from stepscope.cli.command import Command, Failure, say
from stepscope.cli.script import check_hook
from stepscope.cli.server import add_server_options, command, find_or_start, on_path, page, training_environment
from stepscope.cli.status import number
from stepscope.core.errors import StepscopeError
from stepscope.demo import BUGS, script
from stepscope.server.workspace import RunningServer

if TYPE_CHECKING:
    from stepscope.client import Debugger, Job

FRAMEWORKS = {"mindspore": "MindSpore", "torch": "PyTorch", "jax": "JAX"}
_PAUSE_SECONDS = 120.0  # for the import of a framework, and the compilation of the first graph
_END_SECONDS = 10.0
_NODES = 8


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--framework", choices=tuple(FRAMEWORKS), default="mindspore", help="that trains")
    parser.add_argument("--bug", choices=tuple(BUGS), default="nan", help="the fault that is planted")
    parser.add_argument("--no-wait", action="store_true", help="end the training once its state is printed")
    add_server_options(parser)


def run(options: argparse.Namespace) -> int:
    path = script(options.framework)
    if path is None:
        raise Failure(f"the demo for {FRAMEWORKS[options.framework]} is not there yet; --framework torch is")
    if find_spec(options.framework) is None:
        raise Failure(f"{FRAMEWORKS[options.framework]} is not installed in {sys.executable}:"
                      f" pip install 'stepscope[{options.framework}]'")  # fmt: skip
    check_hook([sys.executable])
    running, new = find_or_start(options)
    if new:
        say(f"started a server; it stays for review, end it with: {command('stop', options.workspace)}")
    signal.signal(signal.SIGTERM, _interrupt)
    training = _Demo(path, options.bug, running)
    try:
        training.show(options.workspace)
        if not options.no_wait:
            open_page(options, page(running))
            say("Ctrl-C ends the training")
            training.process.wait()
    except KeyboardInterrupt:
        return 130
    finally:
        training.end()
    return 0


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


class _Demo:
    """The training process and, once it has come to its first pause, its job."""

    def __init__(self, path: Path, bug: str, running: RunningServer):
        import stepscope

        self._bug = bug
        self._address = page(running)
        self._debugger: Debugger = stepscope.connect(running.url, running.token)
        self._job: Job | None = None
        self.process = subprocess.Popen(
            [sys.executable, str(path), "--bug", bug],
            env={**os.environ, **training_environment(running)},
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for us, who then end it without a traceback
        )

    def show(self, workspace: Path) -> None:
        """Goes to the first pause and one step on, and prints what is there."""
        job = self._job = self._first_pause()
        job.run(1)
        job.wait(timeout=_PAUSE_SECONDS)
        info = job.info
        if info["state"] != "paused":
            raise Failure(f"the training did not pause after its first step, it is {info['state']}")
        print("\n".join(self._report(job, info, workspace)), flush=True)

    def _first_pause(self) -> Job:
        deadline = time.monotonic() + _PAUSE_SECONDS
        while time.monotonic() < deadline:
            for job in self._debugger.jobs():
                info = job.info
                if info["pid"] == self.process.pid and info["connected"] and info["state"] == "paused":
                    return job
            if self.process.poll() is not None:
                raise Failure(f"the training ended before its first pause, with status {self.process.returncode}")
            time.sleep(0.05)
        raise Failure(f"the training did not come to its first pause within {_PAUSE_SECONDS:.0f} s")

    def _report(self, job: Job, info: dict[str, Any], workspace: Path) -> list[str]:
        order = job.execution(limit=_NODES)
        bug = BUGS[self._bug]
        framework = f"{FRAMEWORKS[info['framework']]} {info['framework_version']}"
        return [
            "",
            f"A LeNet is trained on handwritten digits in {framework}. Fault {self._bug!r}: {bug.what}.",
            "",
            f"  page   {self._address}",
            f"  job    {info['id']}: {info['title']}",
            f"  state  {info['state']} after step {info['step']}, loss {number(info['loss'])}",
            f"  nodes  {order.total} ran in this step, the first of them:",
            *(f"{place:>9}  {each.node}" for place, each in enumerate(order.nodes, 1)),
            "",
            "What to type next, in another terminal:",
            "",
            f"  {command('status', workspace)} --follow",
            "",
            "or, in Python:" if on_path("python") else f"or, in Python ({sys.executable}):",
            "",
            "  import stepscope",
            f'  job = stepscope.connect("{self._address}").job("{info["id"]}")',
            *(f"  {line}" for line in bug.lines(info["framework"])),
            "",
        ]

    def end(self) -> None:
        """Ends the training: through the debugger, which notes that this was meant, or else by signal."""
        if self._job is not None and self.process.poll() is None:
            with contextlib.suppress(StepscopeError):
                self._job.terminate()
        else:
            self.process.terminate()
        try:
            self.process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._debugger.close()


COMMAND = Command(
    name="demo",
    summary="Train a small network on real handwritten digits, with a planted fault, under the debugger.",
    example="stepscope demo --bug nan",
    add_options=add_options,
    run=run,
)
