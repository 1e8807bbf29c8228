"""Hooks and session in this process, with the test in the place of the agent."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from stepscope import live_messages as live
from stepscope.core.ports import Command, Report
from stepscope.pipe import Pipe, PipeClosed
from stepscope.probe import sidecar
from stepscope.probe.settings import Settings
from stepscope.probe.torch.hooks import Hooks
from stepscope.probe.torch.session import Session
from stepscope.probe.torch.steps import Steps

_OPTIMIZERS = [one for one in vars(torch.optim).values() if isinstance(one, type)]
_STEPS = {one: vars(one).get("step") for one in _OPTIMIZERS}


class Agent:
    """Answers each pause with the next of its commands; "resume" when there are no more. `pauses` are the reports."""

    def __init__(self, commands: list[Command], on_pause=None) -> None:
        ours, theirs = socket.socketpair()
        self.pipe = Pipe(ours)
        self._theirs = Pipe(theirs)
        self._commands = iter(commands)
        self._on_pause = on_pause or (lambda agent, report: None)
        self.pauses: list[Any] = []
        self.messages: list[dict[str, Any]] = []
        self.closed = False
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        try:
            while (message := self._theirs.receive(30)) is not None:
                self.messages.append(message)
                if message["is"] == "hello":
                    self._theirs.send("connected", server="the test")
                if message["is"] == "report" and message["state"] == "paused":
                    report = live.read(Report, message)
                    self.pauses.append(report)
                    self._on_pause(self, report)
                    command = next(self._commands, Command("resume"))
                    self.send("command", **live.fields(command))
        except PipeClosed:
            pass
        finally:
            self._theirs.close()  # the training must not wait for a test that failed

    def send(self, kind: str, /, **fields: Any) -> None:
        self._theirs.send(kind, **fields)

    def ask(self, what: Any, **arguments: Any) -> dict[str, Any]:
        """Within `on_pause`: a query, and its answer."""
        self.send("query", **live.query_fields(1, what, **arguments))
        message = self._theirs.receive(10)
        assert message is not None
        return message

    def close(self) -> None:
        self.closed = True
        self._theirs.close()


def _forget_optimizers() -> None:
    """As in a process that has not made any yet: PyTorch changes the class of the first of each."""
    for optimizer_class, step in _STEPS.items():
        if step is not None:
            optimizer_class.step = step
        elif "step" in vars(optimizer_class):
            del optimizer_class.step


@contextmanager
def attached(monkeypatch, *commands: Command, unit: str = "run", on_pause=None, **settings: Any) -> Iterator[tuple]:
    agent = Agent(list(commands), on_pause)
    monkeypatch.setattr(sidecar, "launch", lambda: agent.pipe)
    _forget_optimizers()
    session = Session(Settings(step_unit=unit, **settings))
    hooks = Hooks(session, Steps(unit))
    hooks.attach()
    try:
        yield session, agent
    finally:
        hooks.detach("the test is over")
        agent.close()
