"""One debugged MindSpore process, seen from inside: when to record a step, when to stand still, what to tell.

The life of it: `begin` (before the first compile) starts the agent; the first `before_run` waits for the server, tells
the graphs and pauses at step 0; then every run of a graph is a step, or part of one. A step is recorded only if the
training is to stand still after it (and the one before that, to compare with): running free costs one poll of the pipe.
With watchpoints every step is recorded, and the training goes on when the agent has checked them.

All of it happens in the thread that trains. Whatever is waited for here comes from the agent, which answers for the
server: connected, unreachable, gone.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from types import ModuleType
from typing import Any

from stepscope.pipe import Message, Pipe, PipeClosed
from stepscope.probe import sidecar
from stepscope.probe.bootstrap import say
from stepscope.probe.mindspore.dump import Dump
from stepscope.probe.mindspore.graphs import GraphFiles, RunKind
from stepscope.probe.mindspore.parameters import ParameterSnapshot
from stepscope.probe.process import PROGRESS_INTERVAL, SIDECAR_GONE, Terminated, first_number, hello, server_of
from stepscope.probe.settings import Settings


class Session:
    """`over` is empty, or says why the debugger lets go of this process."""

    def __init__(self, api: ModuleType, settings: Settings) -> None:
        self._settings = settings
        self._api = api
        self._dump = Dump(api, settings)  # names the configuration to MindSpore, before anything is compiled
        self._graphs = GraphFiles(self._dump)
        self._parameters = ParameterSnapshot(self._dump)
        self._pipe: Pipe | None = None
        self._ready = False
        self._server = ""  # where the user finds the debugger
        self.over = ""
        self.begun = False

        self._step = 0
        self._left: int | None = 0  # steps to run before the next pause; None: run free
        self._sequence = 0  # of the last command taken
        self._reason = "step"  # of the next pause
        self._watching = False  # whether there are watchpoints
        self._kind = RunKind.STEP
        self._run: tuple[str, int] | None = None  # the run of the last step: its phase and cell
        self._step_began = 0.0
        self._last_progress = 0.0
        self._warning = ""

    # ------------------------------------------------------------ called by the hooks

    def begin(self) -> None:
        """Starts the agent, which connects while MindSpore compiles."""
        if self.begun:
            return
        self.begun = True
        self._dump.prepare()
        self._pipe = sidecar.launch()
        self._pipe.send("hello", **hello(self._settings, self._dump.folder.path, **self._about()))

    def compiled(self, phase: str, cell: Any) -> None:
        """After each compile: what it wrote belongs to this phase of this cell (None: of this jit function)."""
        if self._graphs.changed():
            self._graphs.take_new(phase, cell)

    def before_run(self, phase: str, cell: Any, has_inputs: bool) -> None:
        self.begin()
        if not self._ready:
            self._await_server()
        if self.over:
            return
        self.compiled(phase, cell)
        self._tell_graphs(cell)
        self._kind = self._graphs.kind_of_run(phase, cell, self._settings.step_unit)
        if not self._ready:
            self._ready = True
            self._first_pause(cell, has_inputs)
        self._take_commands()
        if self._kind is RunKind.EVALUATION:
            self._dump.disarm()
        else:
            self._arm_if_wanted()
            self._keep_parameters(phase, cell)
        self._step_began = time.perf_counter()

    def after_run(self, result: Any) -> None:
        if self.over or self._kind is RunKind.EVALUATION:
            return
        if self._kind is RunKind.PART_OF_STEP:
            return
        seconds = time.perf_counter() - self._step_began
        recorded = self._dump.finish(self._step + 1)
        self._step += 1
        self._dump.folder.count(self._step)
        if self._left is not None:
            self._left -= 1
        self._take_commands(recorded)
        if self._watching and recorded and self._is_to_stop():
            self._left, self._reason = 0, "watchpoint"
        if self._left is not None and self._left <= 0:
            self._pause(self._reason, seconds=seconds, loss=_loss(result) if recorded else None)
        else:
            self._progress(seconds)
        self._arm_if_wanted()

    @property
    def kernel_error(self) -> Exception | None:
        """What went wrong in the user's own kernels and came out while the session waited for them."""
        return self._dump.kernel_error

    def run_failed(self) -> None:
        """The user's step raised: nothing is recorded any more, and the exception is the user's."""
        with contextlib.suppress(Exception):
            self._dump.disarm()

    def end(self, uncaught: str) -> None:
        """At interpreter exit. The agent removes the folder, too, if we don't get to it."""
        if self._pipe is not None and not self.over:
            with contextlib.suppress(PipeClosed):
                self._pipe.send("bye", step=self._step, error=uncaught)
            self._pipe.leave_open()
        self._dump.folder.remove()

    def release(self, reason: str) -> None:
        """Lets the training go on undebugged."""
        say(reason)
        if self._pipe is not None:
            with contextlib.suppress(PipeClosed):
                self._pipe.send("released", reason=reason)
            self._pipe.close()
        self._dump.release()

    def forget(self) -> None:
        """In a forked child."""
        if self._pipe is not None:
            self._pipe.close()
        self._dump.folder.close()

    # ------------------------------------------------------------ server and graphs

    def _about(self) -> dict[str, Any]:
        environment = os.environ
        return {
            "framework": "mindspore",
            "framework_version": sys.modules["mindspore"].__version__,
            "device": self._device(),
            "rank": first_number(environment.get("RANK_ID"), environment.get("MS_NODE_ID")),
            "rank_count": first_number(environment.get("RANK_SIZE"), environment.get("MS_WORKER_NUM"), 1),
            "stepping": "recorded",
        }

    def _device(self) -> str:
        return str(sys.modules["mindspore"].get_context("device_target"))

    def _await_server(self) -> None:
        message = self._receive(self._settings.connect_wait + 15)  # the agent itself keeps to `connect_wait`
        if not self.over:
            self._server, self.over = server_of(message, self._settings)

    def _tell_graphs(self, cell: Any) -> None:
        files, self._graphs.untold = self._graphs.untold, []
        if not files:
            return
        roles = self._parameters.roles(cell)
        self._send("graphs", files=[[number, str(path)] for number, path in sorted(files)], parameters=roles)
        while (answer := self._receive(120)) is not None:
            if answer["is"] == "graphs_read":
                self._dump.expect(int(answer["bytes"]))
                return
            self._obey(answer, recorded=False)

    def _first_pause(self, cell: Any, has_inputs: bool) -> None:
        device = self._device()
        if not self._graphs.known:
            self.over = (
                "MindSpore wrote no graph that can be debugged; on Ascend use jit_level O0 or O1 "
                "(whole-graph mode O2 has no step data); going on undebugged"
            )
            return
        if device == "Ascend" and not has_inputs:
            self._warning = (
                "this training sinks its data into the device, so that many steps run in one call: "
                "set dataset_sink_mode=False to stop at every step"
            )
        elif not self._graphs.any_gradient and self._pynative():
            self._warning = (
                "this script runs in PyNative mode: only what is compiled (here no backward pass) can be seen; "
                "use set_context(mode=GRAPH_MODE) or @mindspore.jit on the training step to see all of it"
            )
        self._dump.settle()
        self._parameters.take(0, cell)
        say(f"paused before the first step; go on from {self._server}")
        self._pause("start")

    def _pynative(self) -> bool:
        mindspore = sys.modules["mindspore"]
        return bool(mindspore.get_context("mode") == mindspore.PYNATIVE_MODE)

    # ------------------------------------------------------------ steps

    def _arm_if_wanted(self) -> None:
        near_pause = self._left is not None and self._left <= 2
        if self.over or not (self._watching or near_pause):
            return
        step = self._step + 1
        if not self._dump.armed_for(step):
            self._warning = self._dump.arm(step)

    def _keep_parameters(self, phase: str, cell: Any) -> None:
        """Copies the parameters before a step that is recorded, unless the step before has them: same runs, recorded.

        A loop that runs several graphs in turn has the parameters of each only where it ran.
        """
        run, before = (phase, id(cell)), self._run
        self._run = run
        if not self._dump.armed_for(self._step + 1) or self._step == 0:
            return
        if self._step not in self._dump.recorded or run != before:
            self._parameters.take(self._step, cell)

    def _pause(self, reason: str, seconds: float | None = None, loss: float | None = None) -> None:
        """Stands still until a command comes; the tensors are on disk, the agent answers for them."""
        self._left = 0
        self._report("paused", reason, seconds, loss)
        self._dump.tidy()
        while self._left == 0 and not self.over:
            message = self._receive(None)
            if message is not None:
                self._obey(message, recorded=False)
        self._last_progress = time.monotonic()

    def _is_to_stop(self) -> bool:
        """What the agent says of the step that has just been recorded; it takes as long as it takes."""
        self._send("step", step=self._step, recorded=sorted(self._dump.recorded))
        while not self.over:
            message = self._receive(None)
            if message is not None and message["is"] == "verdict":
                return bool(message["stop"])
            if message is not None:
                self._obey(message, recorded=True)
        return False

    def _take_commands(self, recorded: bool = False) -> None:
        """Whatever has come in while the training ran."""
        assert self._pipe is not None
        while not self.over and self._pipe.pending():
            message = self._receive(0)
            if message is None:
                return
            self._obey(message, recorded)

    def _obey(self, message: Message, recorded: bool) -> None:
        if message["is"] == "gone":
            self.over = f"{message['reason']}; going on undebugged"
            return
        if message["is"] == "watch":
            self._watching = bool(message["on"])
        if message["is"] != "command":
            return
        kind = message["kind"]
        self._sequence = int(message.get("sequence", 0))
        if kind == "terminate":
            with contextlib.suppress(Exception):
                self._dump.disarm()
            say("terminated, as asked in the debugger")
            raise Terminated
        if kind == "run":
            self._left, self._reason = max(1, int(message["steps"])), "step"
        elif kind == "resume":
            self._left = None
        elif kind == "pause" and self._left != 0:
            # After a step that was not recorded there is nothing to look at: one more, recorded.
            self._left, self._reason = (0 if recorded else 1), "pause"

    def _progress(self, seconds: float) -> None:
        now = time.monotonic()
        if now - self._last_progress >= PROGRESS_INTERVAL:
            self._last_progress = now
            self._report("running", "", seconds, None)

    def _report(self, state: str, reason: str, seconds: float | None, loss: float | None) -> None:
        self._send(
            "report",
            state=state,
            step=self._step,
            reason=reason,
            step_seconds=seconds,
            loss=loss,
            recorded=sorted(self._dump.recorded),
            sequence=self._sequence,
            warning=self._warning,
        )
        self._warning = ""

    # ------------------------------------------------------------ the pipe

    def _send(self, kind: str, /, **fields: Any) -> None:
        assert self._pipe is not None
        try:
            self._pipe.send(kind, **fields)
        except PipeClosed:
            self.over = SIDECAR_GONE

    def _receive(self, timeout: float | None) -> Message | None:
        assert self._pipe is not None
        try:
            return self._pipe.receive(timeout)
        except PipeClosed:
            self.over = SIDECAR_GONE
            return None


def _loss(result: Any) -> float | None:
    """The first value that the step returned, if it is a scalar float: the loss, in any usual training step."""
    while isinstance(result, (tuple, list)) and result:
        result = result[0]
    if hasattr(result, "asnumpy") and getattr(result, "size", 0) == 1 and "Float" in str(result.dtype):
        return float(result.float().asnumpy().reshape(-1)[0])
    return None
