"""One debugged PyTorch process, seen from inside: what is installed for which step, when to stand still, what to tell.

The life of it: `begin` (at the first forward of a module, or whatever of the training comes first) starts the agent,
waits for the server and pauses at step 0; then the hooks tell where steps end. A step that is to be looked at is traced
and held; one that runs free has nothing installed. All of it happens in the thread that trains first, but for nodes of
a backward pass that the autograd engine runs in threads of its own.

Whatever is asked of tensors here is hidden from all dispatch modes (`compat.unseen`).
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Collection, Mapping
from typing import Any

import torch
from torch import nn

from stepscope import live_messages as live
from stepscope.core.errors import NotAvailable
from stepscope.core.ports import Command, Moment, Report, State
from stepscope.core.watch.records import HitBatch, WatchpointSet
from stepscope.core.watch.step_check import StepCheck
from stepscope.pipe import Message, Pipe, PipeClosed
from stepscope.probe import sidecar
from stepscope.probe.bootstrap import say
from stepscope.probe.data_folder import DataFolder
from stepscope.probe.process import PROGRESS_INTERVAL, SIDECAR_GONE, Terminated, server_of
from stepscope.probe.settings import Settings
from stepscope.probe.torch import compat
from stepscope.probe.torch.answers import Answers
from stepscope.probe.torch.control import Control
from stepscope.probe.torch.events import Event
from stepscope.probe.torch.free_watch import FreeWatch
from stepscope.probe.torch.introduction import introduction
from stepscope.probe.torch.losses import Losses
from stepscope.probe.torch.pausing import Waiting
from stepscope.probe.torch.standing import Standing
from stepscope.probe.torch.telling import Telling
from stepscope.probe.torch.tracer import Tracer
from stepscope.probe.torch.values import Memory, is_stop

FIRST_STEPS = 2  # that are traced in any case: the first one makes the optimizer's state, so that the second differs
_RUNNING = "the training runs: pause it to see its tensors"


class Session:
    """`over` is empty, or says why the debugger lets go of this process."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.tracer = Tracer(self._before, self._after)
        self.over = ""
        self.begun = False
        self.thread = 0  # the one that trains
        self.losses = Losses()
        self.ending: BaseException | None = None  # what was raised within the training, to end it
        self._folder: DataFolder | None = None
        self._pipe: Pipe | None = None
        self._waiting: Waiting | None = None
        self._server = ""  # where the user finds the debugger

        self._control = Control()
        self._memory = Memory(settings.hold_bytes or _default_budget(), settings.partial_memory)
        self._watching = StepCheck()
        self._free = FreeWatch(self._watching, self._memory)
        self._lock = threading.RLock()  # the training thread's, and those of the engine
        self._step = 0  # that are completed
        self._skipped = False  # the update of this step
        self._partly_watched = False  # a step that has not been told of yet
        self._skipped_updates = 0  # so far
        self._step_began = 0.0
        self._last_progress = 0.0
        self._warning = ""

    # ------------------------------------------------------------ called by the hooks

    def begin(self, module: nn.Module | None = None, is_called: bool = True) -> None:
        """Starts the agent, waits for the server and pauses at step 0. `module` is the first one; `is_called`: its call
        has just begun."""
        if self.begun:
            return
        self.begun = True
        self.thread = threading.get_ident()
        with compat.unseen():
            self._folder = DataFolder(self._settings.data_root)
            self._telling = Telling(_graph_name(self._settings), self._folder.path)
            self._standing = Standing(self._memory, self._telling)
            self._arrays = live.ArrayFiles(self._folder.path)
            self._answers = Answers(self._memory, lambda: self._telling.known, self.tracer.tensors, self.thread)
            self._pipe = sidecar.launch()
            self._waiting = Waiting(self._pipe)
            self._pipe.send("hello", **introduction(self._settings, self._folder.path, module))
            self._await_server()
        if self.over:
            return
        self.tracer.push(module if is_called else None)
        self.tracer.new_step()
        with compat.unseen():
            self._memory.begin(0, ())
            self._hold_parameters()
            self._telling.update(self.tracer, 0, ended=True)
            say(f"paused before the first step; go on from {self._server}")
            self._pause("start")
        if not self.over:
            self._begin_step()

    def step_ended(self, module: nn.Module | None = None) -> None:
        """A step has ended. `module`: a call of it has just begun, the first of the next step."""
        if self.over or not self.begun:
            return
        seconds = time.perf_counter() - self._step_began
        self.ending = None  # the script has caught that
        try:
            with compat.unseen():
                self._end_step(seconds)
        except Exception:
            raise
        except BaseException:  # Ctrl-C, which it may catch, too
            self._begin_step(module)
            raise
        if not self.over:
            self._begin_step(module)

    def step_was_none(self) -> None:
        """What ran since the last step was no part of one: the next begins only now."""
        if self.begun and not self.over:
            self._begin_step(again=True)

    def update_skipped(self) -> None:
        """A gradient scaler let an optimizer's step fall out."""
        self._skipped = True
        self._skipped_updates += 1

    def settle(self) -> None:
        """Puts on and takes off what could not be when it was to."""
        self.tracer.settle()
        self._free.settle()

    def optimizing(self) -> contextlib.AbstractContextManager[None]:
        """Around the step of an optimizer of PyTorch's own, where that calls no closure."""
        return self._free.optimizing() if self._free.on else self.tracer.optimizing()

    def end(self, uncaught: str) -> None:
        """At interpreter exit. The agent removes the folder, too, if we don't get to it."""
        if self._pipe is not None and not self.over:
            with contextlib.suppress(PipeClosed):
                self._pipe.send("bye", step=self._step, error=uncaught)
            self._pipe.leave_open()
        self._let_go()
        if self._folder is not None:
            self._folder.remove()

    def release(self, reason: str, keep_hooks: bool = False) -> None:
        """Lets the training go on undebugged. `keep_hooks`: as for `Tracer.close`."""
        say(reason)
        self.over = self.over or reason
        if self._pipe is not None:
            with contextlib.suppress(PipeClosed):
                self._pipe.send("released", reason=reason)
            self._pipe.close()
        self._let_go(keep_hooks)
        if self._folder is not None:
            self._folder.remove()

    def forget(self) -> None:
        """In a forked child."""
        self.over = "this is a forked child"
        if self._pipe is not None:
            self._pipe.close()
        if self._folder is not None:
            self._folder.close()
        if self._waiting is not None:
            self._waiting.remove()

    def _let_go(self, keep_hooks: bool = False) -> None:
        if self._waiting is not None:
            self._waiting.remove()
        self.tracer.close(keep_hooks)
        self._free.stop()
        with compat.unseen():
            self._memory.close()

    # ------------------------------------------------------------ steps

    def _begin_step(self, module: nn.Module | None = None, again: bool = False) -> None:
        """Installs what the step that begins needs, and takes away what it doesn't."""
        number = self._step + 1
        free = self._watching.active and not self._control.is_stepping and number > FIRST_STEPS and self._free.ready
        hold = self._control.is_stepping or (self._watching.active and not free)
        if free and again and self._free.on:
            self._free.begin_anew()
        elif free:
            self._run_watched()
        elif hold or number <= FIRST_STEPS:
            self._free.stop()
            if not again or not self.tracer.is_pushed:
                self.tracer.push(None if self.tracer.is_pushed else module)
            self.tracer.new_step()
            if self._waiting is not None:
                self._waiting.install()
        elif not again:
            self._free.stop()
            self._leave_alone()
        self._telling.new_step()
        with compat.unseen():
            if hold:
                self._memory.watched = self._watching.nodes(self._telling.graph)
                self._memory.begin(number, self.tracer.tensors().values())
            else:
                self._memory.close()
        self._standing.leave()
        self._skipped = False
        self._step_began = time.perf_counter()

    def _run_watched(self) -> None:
        """The step that begins runs free, but for what is watched in it."""
        parameters = self.tracer.parameters()
        self._leave_alone(keep_parameters=True)
        self._free.begin(lambda names: parameters or self._find_parameters(names))

    def _leave_alone(self, keep_parameters: bool = False) -> None:
        self.tracer.pop()
        self.tracer.clear(keep_parameters)
        if self._waiting is not None:
            self._waiting.remove()

    def _end_step(self, seconds: float) -> None:
        assert self._folder is not None
        if self.tracer.fault is not None:
            raise self.tracer.fault
        held = self._memory.current is not None
        if held:
            self._hold_parameters()
        if self.tracer.events:
            changed = self._telling.update(self.tracer, self._step + 1, ended=True)
            if changed and self._step < FIRST_STEPS:
                self._tell_graph()
            self._free.learn(self.tracer.program, self._telling.known, self.tracer.exits)
        self._step += 1
        self._standing.leave()
        self._folder.count(self._step)
        self._control.step_ended()
        self._take_commands(held)
        if self.over:
            return
        batch = self._end_free_step() if self._free.on else self._check() if held and self._watching.active else None
        if batch is not None and batch.stops:
            self._control.stand()
            self._control.reason = "watchpoint"
        if self._control.pauses:
            self._pause(self._control.reason, seconds, batch)
        else:
            if batch is not None and batch.hits:
                self._send("hits", **live.fields(batch))
            self._progress(seconds)

    def _end_free_step(self) -> HitBatch:
        batch = self._free.end(self._step, self._find_parameters)
        self._partly_watched = self._partly_watched or not self._free.ready
        if batch.stops or self._control.is_stepping or not self._free.ready:  # somebody will ask for its values
            self._free.hand_over(self._step, self._name_parameters())
            self._telling.take(self._free.known)
        return batch

    def _find_parameters(self, names: Collection[str]) -> Mapping[str, torch.Tensor]:
        """At least those of these names, as they are now."""
        return self.tracer.found(names) or self._name_parameters()

    def _name_parameters(self) -> dict[str, torch.Tensor]:
        """Of a step that was not traced, as they are now."""
        if not self.tracer.tensors():
            self.tracer.new_step()
        return self.tracer.parameters()

    def _hold_parameters(self) -> None:
        assert self._memory.current is not None
        self._memory.current.ended(self.tracer.parameters())

    # ------------------------------------------------------------ nodes: called by the tracer, within the operation

    def _before(self, event: Event) -> None:
        if self._memory.current is None or self.over:
            return
        with self._lock, compat.unseen_by_others():
            self._memory.before(event)
            if self._control.stops_at(event.name, "before") and is_stop(event):
                self._pause_at(event, "before")

    def _after(self, event: Event) -> None:
        if self._memory.current is None or self.over:
            return
        with self._lock, compat.unseen_by_others():
            self._memory.after(event)
            if self._control.stops_at(event.name, "after") and is_stop(event):
                self._pause_at(event, "after")

    def _pause_at(self, event: Event, moment: Moment) -> None:
        began = time.perf_counter()
        self._standing.stand_at(event.name, moment)
        self._telling.update(self.tracer, self._step + 1, ended=False)
        self._pause("node")
        self._standing.leave()
        self._step_began += time.perf_counter() - began

    # ------------------------------------------------------------ standing still

    def _pause(self, reason: str, seconds: float | None = None, batch: HitBatch | None = None) -> None:
        """Stands still until a command lets it go on."""
        assert self._waiting is not None
        self._control.stand()
        self._tell_graph()
        if batch is not None:
            self._send("hits", **live.fields(batch))
        self._report(State.PAUSED, reason, seconds, loss=self.losses.read())
        self._reason = reason
        try:
            while not self.over:
                if self._obey(self._waiting.message()):
                    break
        except PipeClosed:
            self.over = SIDECAR_GONE
        except BaseException as ending:
            self.ending = ending  # a thread of the engine may lose it on the way
            raise
        self._last_progress = time.monotonic()

    def _obey(self, message: Message) -> bool:
        """Of a training that stands still; whether it goes on."""
        kind = message["is"]
        if kind == "interrupted":
            self.ending = KeyboardInterrupt()
            return True
        if kind == "gone":
            self.over = f"{message['reason']}; going on undebugged"
            return True
        if kind == "watch":
            self._watching.watch(live.read(WatchpointSet, message))
        elif kind == "query":
            self._send("answer", **live.answer_fields(message, self._answers, self._arrays))
        elif kind == "command":
            return self._command(live.read(Command, message))
        return False

    def _command(self, command: Command) -> bool:
        control = self._control
        control.sequence = command.sequence
        if command.kind == "terminate":
            self._terminate()
        if command.kind == "recheck" or self._is_to_check_first(command):
            batch = self._check()
            if batch.stops or command.kind == "recheck":
                self._send("hits", **live.fields(batch))
                self._reason = "watchpoint" if batch.stops else self._reason
                self._report(State.PAUSED, self._reason)
                return False
        if command.kind == "previous_node":
            self._report(State.PAUSED, "node", warning="" if self._standing.back() else "no node has run yet")
            return False
        if command.kind in ("next_node", "run_to") and self._standing.moves_on(command):
            self._report(State.PAUSED, "node")
            return False
        if command.kind == "run_to" and self._never_runs(command.node):
            warning = f"{command.node} never runs by itself: it is no operation, or only passes a value on"
            self._report(State.PAUSED, "not_reached", warning=warning)
            return False
        if command.kind in ("run", "resume", "next_node", "run_to"):
            control.run(command, within_step=self._standing.within)
            return True
        return False  # a pause: it stands already

    def _is_to_check_first(self, command: Command) -> bool:
        return not self._standing.within and self._watching.is_due_before(command, self._step)

    def _terminate(self) -> None:
        say("terminated, as asked in the debugger")
        raise Terminated

    def _never_runs(self, name: str) -> bool:
        graph = self._telling.graph
        return name in graph and (graph.summarize(name).kind != "op" or graph.node(name).folded)

    # ------------------------------------------------------------ telling

    def _check(self) -> HitBatch:
        return self._watching.check(self._answers, self._step + self._standing.within)

    def _tell_graph(self) -> None:
        try:
            self._telling.tell(self._send)
        except OSError as error:
            self._warning = f"the graph could not be handed over: {error}"

    def _report(
        self,
        state: State,
        reason: str,
        seconds: float | None = None,
        loss: float | None = None,
        warning: str = "",
    ) -> None:
        cursor = self._standing.cursor() if state is State.PAUSED else None
        report = Report(
            state=state,
            step=self._step + self._standing.within,
            reason=reason,
            cursor=cursor,
            recorded_steps=self._memory.steps,
            loss=loss,
            step_seconds=seconds,
            command_sequence=self._control.sequence,
            warning=warning or self._warning,
            notes=self._notes(state),
            skipped_updates=self._skipped_updates,
        )
        self._send("report", **live.fields(report))
        self._warning, self._partly_watched = "", False

    def _progress(self, seconds: float) -> None:
        now = time.monotonic()
        if self._skipped or now - self._last_progress >= PROGRESS_INTERVAL:
            self._last_progress = now
            self._report(State.RUNNING, "", seconds)

    def _notes(self, state: State) -> tuple[str, ...]:
        eagerly = state is State.PAUSED and self.tracer.is_pushed and compat.compiles()
        told = {"update_skipped": self._skipped, "compiled_eagerly": eagerly, "partly_watched": self._partly_watched}
        return tuple(note for note, is_so in told.items() if is_so)

    # ------------------------------------------------------------ the pipe

    def _take_commands(self, held: bool) -> None:
        """Whatever has come in while the training ran."""
        assert self._pipe is not None
        try:
            while not self.over and self._pipe.pending():
                message = self._pipe.receive(0)
                if message is None:
                    return
                self._obey_running(message, held)
        except PipeClosed:
            self.over = SIDECAR_GONE

    def _obey_running(self, message: Message, held: bool) -> None:
        kind = message["is"]
        if kind == "gone":
            self.over = f"{message['reason']}; going on undebugged"
        elif kind == "watch":
            self._watching.watch(live.read(WatchpointSet, message))
        elif kind == "query":
            self._send("answer", **live.refusal_fields(message.get("id", 0), NotAvailable(_RUNNING, code="running")))
        elif kind == "command":
            command = live.read(Command, message)
            self._control.sequence = command.sequence
            if command.kind == "terminate":
                self._terminate()
            elif command.kind == "pause":
                self._control.ask_pause(held)
            elif command.kind in ("run", "resume"):
                self._control.run(command, within_step=False)

    def _send(self, kind: str, /, **fields: Any) -> None:
        assert self._pipe is not None
        try:
            self._pipe.send(kind, **fields)
        except PipeClosed:
            self.over = SIDECAR_GONE

    def _await_server(self) -> None:
        assert self._pipe is not None
        wait = self._settings.connect_wait + 15  # the agent itself keeps to `connect_wait`
        try:
            message = self._pipe.receive(wait)
            while message is not None and message["is"] not in ("connected", "unreachable", "refused", "gone"):
                self._obey_running(message, held=False)
                message = self._pipe.receive(wait)
        except PipeClosed:
            self.over = SIDECAR_GONE
            return
        self._server, self.over = server_of(message, self._settings)


def _graph_name(settings: Settings) -> str:
    return "forward" if settings.step_unit == "forward" else "step"


def _default_budget() -> int:
    """2 GiB, or a quarter of the memory that is free, whichever is less."""
    with contextlib.suppress(OSError, ValueError):
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        return min(2 << 30, free // 4)
    return 2 << 30
