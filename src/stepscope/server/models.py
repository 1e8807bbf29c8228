"""The types of the web API: what users see, and what the store keeps of a job.

JSON has no NaN and no infinities: in these types they are the strings "nan", "inf" and "-inf", both ways.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from stepscope.core.graph.records import Kind
from stepscope.core.graph.views import Category, GraphSummary
from stepscope.core.ports import CommandKind, Moment, State, Stepping

NonFinite = Literal["nan", "inf", "-inf"]


def as_json(value: float) -> float | NonFinite:
    if math.isfinite(value):
        return value
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


Real = Annotated[float, PlainSerializer(as_json, return_type=float | NonFinite, when_used="json")]


class Model(BaseModel):
    """Base: built from the plain types of the core by attribute."""

    model_config = ConfigDict(from_attributes=True)


class ServerInfo(Model):
    name: Literal["stepscope"] = "stepscope"
    version: str
    address: str
    debugger_address: str | None = Field(description="host:port for training processes; null: the debugger is off")
    workspace: str


class CursorView(Model):
    """The node at which a paused step stands."""

    graph: str
    node: str
    position: int = Field(description="from 1, in the order of execution")
    count: int = Field(description="nodes of this step; of one that is not over, as far as known")
    moment: Moment = Field(default="after", description="before: it has not run yet")


class Exit(Model):
    """How a job ended."""

    outcome: Literal["finished", "terminated", "lost"]
    detail: str = ""
    exit_status: int | None = Field(default=None, description="negative: the signal that ended the process")


class JobView(Model):
    """One training run. Frozen: each change makes a new one."""

    model_config = ConfigDict(frozen=True)

    id: str
    title: str = Field(description="the script's name")
    command_line: list[str]
    working_directory: str = ""
    framework: str
    framework_version: str
    device: str
    rank: int
    rank_count: int
    host: str
    pid: int
    address: str = Field(description="where its connection comes from")
    state: State
    reason: str = Field(
        default="", description='of a pause: "start", "step", "node", "pause", "watchpoint", "not_reached"'
    )
    step: int = Field(
        default=0, description="completed steps; 0 is before the first. With a cursor, the step in which that stands"
    )
    step_unit: str
    stepping: Stepping = Field(
        description="what next node moves: a cursor over a recorded step, the training itself, the training forward "
        "only; steps: there is no next node"
    )
    cursor: CursorView | None = None
    recorded_steps: list[int] = Field(default=[], description="steps whose tensors can be read, oldest first")
    loss: Real | None = None
    step_seconds: Real | None = None
    graphs: list[str] = Field(default=[], description="names of its graphs, in order of arrival")
    exit: Exit | None = None
    warning: str = ""
    notes: list[str] = Field(
        default=[],
        description='what is special about this step: "update_skipped" (a gradient scaler left it out), '
        '"compiled_eagerly" (what torch.compile made of functions is not used); '
        '"partly_watched" (a step since the last report went a new way, and was checked up to there)',
    )
    skipped_updates: int = Field(default=0, description="that a gradient scaler has left out so far")
    watchpoints: int = Field(default=0, description="revision of its watchpoints: rises with every change of them")
    hits: int = Field(default=0, description="of the last check of the watchpoints")
    hits_revision: int = Field(default=0, description="rises with every check that is told of")
    connected: bool
    started_at: float = Field(description="seconds since the epoch")
    ended_at: float | None = None
    revision: int = Field(default=0, description="rises with every change of the job")


class JobList(Model):
    jobs: list[JobView]


class CommandRequest(BaseModel):
    """What a job shall do.

    `steps` is for "run" only, `graph` and `node` for "run_to" only; the graph may be left out where one graph alone
    has the node. `before` is for "run_to" and "next_node" of a job with live stepping: pause before the node runs.
    """

    model_config = ConfigDict(extra="forbid")

    kind: CommandKind
    steps: int = Field(default=1, ge=1, le=2**31 - 1)
    graph: str = Field(default="", max_length=4096)
    node: str = Field(default="", max_length=4096)
    before: bool = False


class GraphList(Model):
    graphs: list[GraphSummary]


class StepRecord(Model):
    step: int
    at: float = Field(description="seconds since the epoch")
    loss: Real | None
    seconds: Real | None
    reason: str = Field(description="why the job paused there; empty where it ran on")


class StepList(Model):
    total: int
    steps: list[StepRecord]


@dataclass(frozen=True)  # these come by the ten thousand: a model would cost five times as much
class NodeRow:
    graph: str
    name: str
    op: str
    kind: Kind
    categories: tuple[Category, ...]


@dataclass(frozen=True)
class NodeList:
    total: int
    nodes: list[NodeRow]


class TypeView(Model):
    dtype: str = Field(description="empty where unknown")
    shape: list[int] | None = Field(description="-1: known at run time only; null: nothing is known")


class PortView(Model):
    """An input; nodes that only pass values on are passed through already."""

    index: int
    data_index: int | None = Field(description="counting only inputs that carry a value")
    element: int | None = Field(description="which part of an input that is a tuple")
    node: str = Field(description="where the value comes from")
    slot: int
    type: TypeView
    control: bool = Field(description="an order of execution, not a value")


class ConsumerView(Model):
    node: str
    input: int


class OutputView(Model):
    slot: int
    type: TypeView
    consumers: list[ConsumerView] = Field(description="the first ones")
    consumer_count: int


class FrameView(Model):
    """One level of the stack in which the script made a node."""

    file: str
    line: int
    function: str
    text: str = Field(description="the line of code, where known")
    user: bool = Field(description="false for installed packages and the standard library")


class LocalView(Model):
    """A local variable, without any code of the user's run to show it."""

    name: str
    type: str
    shape: list[int] | None = Field(description="of what has one")
    text: str = Field(description="the value, or the little of it that is short")


class StackFrameView(FrameView):
    """One level of the stack of a training that is paused within a step."""

    locals: list[LocalView] = Field(description="of the user's own frames only")


class FrameList(Model):
    frames: list[StackFrameView] = Field(description="innermost first")


class NodeView(Model):
    graph: str
    name: str
    op: str
    kind: Kind
    scope: str
    inputs: list[PortView]
    outputs: list[OutputView]
    attributes: dict[str, Any] = Field(description="arrays as {dtype, shape, values: the first in one row}")
    attributes_step: int | None = Field(
        description="the step that the attributes are of; null where they are those of the graph: constants, or where "
        "those of the present step can't be known now"
    )
    source: list[FrameView] = Field(description="innermost first")
    categories: list[Category]
    folded: bool = Field(description="only passes values on: has none of its own")
    trainable: bool | None
    value: Any = Field(description="of a constant")


class Statistics(Model):
    """Figures of a whole tensor: min to std are over the finite values, "nan" where there is none."""

    dtype: str
    shape: list[int]
    step: int
    count: int
    min: Real
    max: Real
    mean: Real
    abs_mean: Real
    std: Real
    zero_count: int
    negative_count: int
    positive_count: int
    nan_count: int
    negative_inf_count: int
    positive_inf_count: int


class ComparisonView(Model):
    """The current value of a tensor against the one of the step before."""

    current: Statistics
    previous: Statistics
    difference: Statistics
    changed_count: int
    update_ratio: Real


class TensorHeader(Model):
    """The header X-Stepscope-Tensor of a tensor's bytes."""

    dtype: str = Field(description='as the framework names it: "bfloat16"')
    storage_dtype: str = Field(description='numpy\'s name of what is in the body: "float32"')
    shape: list[int] = Field(description="of what is in the body")
    full_shape: list[int] = Field(description="of the whole tensor")
    step: int


class Problem(Model):
    """An error, as RFC 9457 wants it."""

    type: str = Field(description='"/problems/" and the kind')
    title: str
    status: int
    detail: str
    kind: str
    nearest: list[str] = Field(default=[], description="names that come near, where a name is not known")
    field: str | None = Field(default=None, description="the part of the request that is wrong: a parameter's name, …")
    code: str | None = Field(default=None, description="what is wrong with it, for programs")


class JobEvent(Model):
    seq: int
    type: Literal["job"] = "job"
    job: JobView


class GraphEvent(Model):
    seq: int
    type: Literal["graph"] = "graph"
    job_id: str
    graph: GraphSummary


class JobRemovedEvent(Model):
    seq: int
    type: Literal["job_removed"] = "job_removed"
    job_id: str


class ServerEvent(Model):
    """The first event of a connection that can't go on where it was: fetch everything anew, then follow."""

    seq: int
    type: Literal["server"] = "server"
    server: ServerInfo


Event = Annotated[JobEvent | GraphEvent | JobRemovedEvent | ServerEvent, Field(discriminator="type")]
