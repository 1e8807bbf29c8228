"""The other end of the probe's pipe, in a thread: answers as the agent does, and gives one command at each pause."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Any

from stepscope.pipe import Message, Pipe, PipeClosed

Step = str | tuple[str, int] | Callable[["FakeSidecar"], None]


class FakeSidecar:
    """`plan`: what to do at each pause: "resume", ("run", 3), or a function; after its end, "resume".

    `verdicts`: whether to stop after each step that is asked about; after its end, never. `before_verdict`: what to do
    before each. `greeting` answers the hello; `asides` are sent while the probe waits for its graphs to be read.
    """

    def __init__(self) -> None:
        self.plan: list[Step] = []
        self.greeting: list[Message] = [{"is": "connected", "server": "http://here"}]
        self.asides: list[Callable[[FakeSidecar], None]] = []
        self.verdicts: list[bool] = []
        self.before_verdict: list[Callable[[], None]] = []
        self.step_bytes = 1000
        self.sequence = 0
        self.said: list[Message] = []
        self._fault: BaseException | None = None
        ours, theirs = socket.socketpair()
        self._ours = ours.dup()  # the probe leaves its own open when the script ends
        self._probes_end, self._end = Pipe(ours), Pipe(theirs)
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def launch(self) -> Pipe:
        self._thread.start()
        return self._probes_end

    def command(self, kind: str, steps: int = 1) -> None:
        """May also be called from within the user's step."""
        self.sequence += 1
        self.send("command", kind=kind, steps=steps, sequence=self.sequence)

    def send(self, kind: str, /, **fields: Any) -> None:
        self._end.send(kind, **fields)

    def die(self) -> None:
        with contextlib.suppress(OSError):
            self._end._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Nothing more is said; `said` is complete when it returns."""
        with contextlib.suppress(OSError):
            self._ours.shutdown(socket.SHUT_RDWR)
        if self._thread.is_alive():
            self._thread.join()
        self._ours.close()
        if self._fault:
            raise self._fault

    # ------------------------------------------------------------ what it has heard

    def heard(self, kind: str) -> list[Message]:
        self.close()
        return [message for message in self.said if message["is"] == kind]

    def pauses(self) -> list[tuple[int, str, list[int]]]:
        """Step, reason, and the recorded steps."""
        reports = [report for report in self.heard("report") if report["state"] == "paused"]
        return [(report["step"], report["reason"], report["recorded"]) for report in reports]

    def _serve(self) -> None:
        try:
            while True:
                message = self._end.receive()
                assert message is not None
                self.said.append(message)
                self._react(message)
        except PipeClosed:
            pass
        except BaseException as error:  # of a test's own function: nobody must wait for us then
            self._fault = error
        finally:
            self.die()

    def _react(self, message: Message) -> None:
        if message["is"] == "hello":
            for answer in self.greeting:
                self.send(answer["is"], **{key: value for key, value in answer.items() if key != "is"})
        elif message["is"] == "graphs":
            if self.asides:
                self.asides.pop(0)(self)
            self.send("graphs_read", bytes=self.step_bytes)
        elif message["is"] == "step":
            if self.before_verdict:
                self.before_verdict.pop(0)()
            self.send("verdict", stop=bool(self.verdicts and self.verdicts.pop(0)))
        elif message["is"] == "report" and message["state"] == "paused":
            step = self.plan.pop(0) if self.plan else "resume"
            if callable(step):
                step(self)
            else:
                self.command(*([step] if isinstance(step, str) else step))
