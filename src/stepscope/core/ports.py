"""The borders between the parts: what a source of training data offers, and the plain types that cross.

A `Source` is one training process (or one rank of one): a live agent, an old MindSpore client, a recording. The server
knows nothing else of it. Every implementation passes the same contract tests (`tests/contract`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, Protocol, TypeVar

import numpy as np

from stepscope.core.looks import Question
from stepscope.core.watch.records import HitBatch, WatchpointSet

When = Literal["current", "previous"]
Moment = Literal["before", "after"]
# What "next node" moves: a cursor over a step that has run, the training itself (and back over the nodes that ran), the
# training, forward only; "steps": there are whole steps only.
Stepping = Literal["recorded", "live", "forward", "steps"]

A = TypeVar("A")


class State(str, Enum):
    """What a job is doing, as users see it."""

    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    LOST = "lost"

    @property
    def ended(self) -> bool:
        return self in (State.FINISHED, State.LOST)


@dataclass(frozen=True)
class SourceInfo:
    """Who a source is. `job_id` stays the same over reconnects."""

    job_id: str
    framework: str
    framework_version: str = ""
    device: str = ""
    rank: int = 0
    rank_count: int = 1
    host: str = ""
    pid: int = 0
    command_line: tuple[str, ...] = ()
    working_directory: str = ""
    step_unit: str = "run"
    stepping: Stepping = "recorded"
    started_at: float = 0.0  # seconds since the epoch


@dataclass(frozen=True)
class Cursor:
    """The node at which a paused step stands: just after it ran or, in a live source only, just before."""

    graph: str
    node: str
    position: int  # 1-based, in the order of execution
    count: int  # nodes of the step; of one that is not over as many as the last one had, or more if more have run
    moment: Moment = "after"


@dataclass(frozen=True)
class Report:
    """What a source says of itself whenever something changed."""

    state: State  # RUNNING or PAUSED
    step: int = 0  # completed steps; 0 = before the first step. With a cursor, the step in which that stands
    reason: str = ""  # of a pause: "start", "step", "node", "pause", "not_reached", "watchpoint"
    cursor: Cursor | None = None
    recorded_steps: tuple[int, ...] = ()  # steps whose tensors can be read, oldest first
    loss: float | None = None
    step_seconds: float | None = None
    command_sequence: int = 0  # of the last command that the source has taken
    warning: str = ""
    notes: tuple[str, ...] = ()  # what is special: "update_skipped", "compiled_eagerly", "partly_watched"
    skipped_updates: int = 0  # that a gradient scaler has left out so far


@dataclass(frozen=True)
class Farewell:
    """How a source ended. `exit_status` is negative for a signal, as in `subprocess`."""

    outcome: Literal["finished", "terminated", "lost"]
    detail: str = ""
    exit_status: int | None = None


CommandKind = Literal["run", "resume", "pause", "terminate", "next_node", "previous_node", "run_to", "recheck"]


_WHOLE_STEPS = "this training stops after whole steps only"

# Commands that a training can't follow, by how it is stepped; and why.
IMPOSSIBLE: Mapping[Stepping, Mapping[CommandKind, str]] = {
    "recorded": {},
    "live": {},
    "forward": {"previous_node": "this training goes forward only"},
    "steps": dict.fromkeys(("next_node", "previous_node", "run_to"), _WHOLE_STEPS),
}


@dataclass(frozen=True)
class Command:
    """What a user asks of a source. `steps` is for "run"; `graph` and `node` for "run_to".

    `before` is for "run_to" and "next_node" of a live source: to stand before the node runs, not after it.
    """

    kind: CommandKind
    steps: int = 1
    graph: str = ""
    node: str = ""
    sequence: int = 0
    before: bool = False


@dataclass(frozen=True)
class TensorKey:
    """One tensor of a job: an output slot of a node or, with `input`, the value which that input of the node had."""

    graph: str
    node: str
    slot: int = 0
    when: When = "current"
    input: int | None = None


@dataclass(frozen=True)
class Tensor:
    """An array with what numpy can't say of it: `dtype` is the framework's.

    Of a type that numpy lacks ("bfloat16") the array holds the values as float32, or their bits as unsigned integers.
    """

    array: np.ndarray[Any, Any]
    dtype: str
    shape: tuple[int, ...]  # of the whole tensor, also where `array` is a part
    step: int


@dataclass  # not frozen, which would take most of the time that the figures of a small tensor need
class TensorStats:
    """Figures of a whole tensor in one pass.

    min, max, mean, abs_mean and std (of the population, divided by n) are over the finite values, in double precision;
    they are NaN where there is none. The counts are over all values; negative and positive include the infinities.
    """

    dtype: str
    shape: tuple[int, ...]
    step: int
    count: int
    min: float
    max: float
    mean: float
    abs_mean: float
    std: float
    zero_count: int
    negative_count: int
    positive_count: int
    nan_count: int
    negative_inf_count: int
    positive_inf_count: int


@dataclass(frozen=True)
class Comparison:
    """Current against previous; `difference` = current - previous in a type so wide that nothing overflows."""

    current: TensorStats
    previous: TensorStats
    difference: TensorStats
    changed_count: int  # elements that are not equal (NaN equals NaN here)
    update_ratio: float  # mean |current - previous| / (mean |previous| + 1e-9)


@dataclass(frozen=True)
class ExecutedNode:
    """A node of the step in order of execution; `occurrence` counts, from 0, the times it ran in this step."""

    graph: str
    node: str
    occurrence: int = 0


@dataclass(frozen=True)
class ExecutionOrder:
    total: int
    nodes: Sequence[ExecutedNode] = field(default_factory=tuple)


@dataclass(frozen=True)
class Local:
    """A local variable of a stack frame, as it can be shown without running code of the user's."""

    name: str
    type: str  # "Tensor", "int"
    shape: tuple[int, ...] | None = None  # of what has one
    text: str = ""  # the value, or the little of it that is short


@dataclass(frozen=True)
class StackFrame:
    """One level of the Python stack of a paused training."""

    file: str
    line: int
    function: str = ""
    text: str = ""  # the line of code
    user: bool = True  # False for installed packages and the standard library
    locals: tuple[Local, ...] = ()  # of the user's frames only


@dataclass(frozen=True)
class NodeAttributes:
    """The attributes of a node whose numbers may change from step to step, and the step that these are of."""

    step: int
    attributes: Mapping[str, Any]


class Source(Protocol):
    """One training process, as the server sees it. All methods but `info` may raise `core.errors`.

    Queries are answered from the data next to the training; only what was asked for travels.
    """

    @property
    def info(self) -> SourceInfo: ...

    async def command(self, command: Command) -> None:
        """Hand a command over; what comes of it is seen in later reports that carry its sequence number."""
        ...

    async def watch(self, watchpoints: WatchpointSet) -> None:
        """Take these watchpoints in place of all before. What they hit is told by `EventSink.hits`.

        Each step that runs from then on is checked, before the report of it. A hit pauses the training after its step,
        and so does a tensor that could not be evaluated, unless that is for want of a previous value.
        """
        ...

    async def tensor(self, key: TensorKey, index: str | None = None) -> Tensor:
        """A tensor, or the part of it that `index` (Python's slice syntax, "0, :, 3:5") selects."""
        ...

    async def stats(self, key: TensorKey) -> TensorStats: ...

    async def compare(self, key: TensorKey) -> Comparison:
        """The current value against the one of the previous step; `key.when` is not looked at."""
        ...

    async def look(self, key: TensorKey, question: Question[A]) -> A:
        """The answer to a question about a tensor; which value it is of stands in the question, not in `key.when`."""
        ...

    async def execution(self, offset: int = 0, limit: int = 1000) -> ExecutionOrder:
        """The nodes of the last recorded step in the order in which they ran; of one that is not over, so far."""
        ...

    async def frames(self) -> tuple[StackFrame, ...]:
        """The Python stack of the thread that trains, innermost first; NotAvailable where there is none to see."""
        ...

    async def attributes(self, graph: str, node: str) -> NodeAttributes:
        """Those that a node had when it ran last, in one of the recorded steps; else those of the graph, with the step
        that it is of.

        NotAvailable where attributes are constants of the graph.
        """
        ...


class EventSink(Protocol):
    """What a source tells of itself, in order. `graph` is a serialised GraphProto of the protocol."""

    async def graph(self, source: Source, name: str, data: bytes) -> None: ...

    async def report(self, source: Source, report: Report) -> None: ...

    async def hits(self, source: Source, batch: HitBatch) -> None:
        """What the check of a step found, before the report of the pause that comes of it.

        A step in which nothing was hit is told of only when the training pauses after it, or on "recheck".
        """
        ...

    async def farewell(self, source: Source, farewell: Farewell) -> None: ...


__all__ = [
    "IMPOSSIBLE",
    "Command",
    "CommandKind",
    "Comparison",
    "Cursor",
    "EventSink",
    "ExecutedNode",
    "ExecutionOrder",
    "Farewell",
    "Local",
    "Moment",
    "NodeAttributes",
    "Report",
    "Source",
    "SourceInfo",
    "StackFrame",
    "State",
    "Stepping",
    "Tensor",
    "TensorKey",
    "TensorStats",
    "When",
]
