"""The types of the web API around watchpoints and their hits."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from stepscope.core.graph.views import Category
from stepscope.core.watch.records import Base, ErrorKind, Rule
from stepscope.server.models import Model, Real
from stepscope.server.settings import MAX_NAME

Offer = Literal["open", "accepted", "declined"]
Name = Annotated[str, Field(max_length=MAX_NAME)]
Names = list[Name]
# The rest is checked by the condition's own rules, which give the better message. "1e-9" is a number, too; true is not.
Number = Annotated[float, Field(strict=True)] | str


class WarningView(Model):
    """What makes a watchpoint of no use, or of less than was meant."""

    code: Literal["always_hits", "never_hits", "too_late", "no_nodes", "missing_nodes"]
    message: str
    field: str = Field(default="", description="the parameter that makes it so")
    number: int | None = Field(default=None, description="how many nodes are missing")


class WatchpointView(Model):
    """One watchpoint of a job."""

    id: int = Field(description="from 1; never used again within the job")
    name: str = Field(description="given by the user; may be empty")
    condition: str
    parameters: dict[str, Real] = Field(description="the given ones")
    enabled: bool
    recommended: bool = Field(description="came with the recommended set")
    watched: int = Field(description="nodes that it covers, in all graphs")
    hits: int = Field(description="of the last check, also where it could not be evaluated")
    warnings: list[WarningView]


class EarlierJob(Model):
    """The last run of the same script that had watchpoints."""

    job_id: str
    title: str
    ended_at: float = Field(description="seconds since the epoch")
    count: int = Field(description="of its watchpoints")


class WatchpointList(Model):
    revision: int = Field(description="rises with every change")
    recommended: Offer = Field(description="whether the user has answered the offer of the recommended watchpoints")
    earlier: EarlierJob | None = Field(description="whose watchpoints are offered; null once they were taken")
    watchpoints: list[WatchpointView]


class Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


def _one_line(name: str | None) -> str | None:
    return name if name is None else " ".join(name.split())


class CreateRequest(Request):
    """A new watchpoint.

    Without any of `nodes`, `scopes`, `ticks` and `base` it covers what its condition is for (all weights, …). `base` is
    what the selection starts from, else it is nothing; `nodes` and `scopes` are ticked in `graph`, or in every graph
    that has them.
    """

    condition: str
    parameters: dict[str, Number] = {}
    name: str = Field(default="", max_length=200)
    enabled: bool = True
    nodes: Names | None = None
    scopes: Names | None = None
    graph: Name = Field(default="", description="empty: every graph that has the nodes and scopes")
    ticks: list[Rule] | None = None
    base: Base | None = None

    _name = field_validator("name")(_one_line)


class UpdateRequest(Request):
    """What shall be changed; `parameters` replace all that were given before."""

    condition: str | None = None
    parameters: dict[str, Number] | None = None
    name: str | None = Field(default=None, max_length=200)
    enabled: bool | None = None

    _name = field_validator("name")(_one_line)


class NodeFilter(Request):
    """Nodes to which all conditions apply, as in the list of nodes."""

    graph: Name = Field(default="", description="empty: all graphs")
    pattern: Name | None = None
    category: Category | None = None
    scope: Name | None = None
    line: Name | None = None


class TickRequest(Request):
    """Either `ticks`, one by one, or a `filter` with `on` for all that it finds.

    A tick on a scope is one for all below it. Of several ticks over a node the last one counts.
    """

    ticks: list[Rule] | None = None
    filter: NodeFilter | None = None
    on: bool = True


class StatesRequest(Request):
    graph: Name
    scopes: Names = []
    nodes: Names = []


class StatesView(Model):
    """How far things are watched: 0 not, 1 wholly, 2 in part, -1 there is nothing that can be watched."""

    scopes: list[int]
    nodes: list[int]


class RecommendedRequest(Request):
    use: bool = Field(description="false declines the offer")


class HitParameter(Model):
    """One parameter of a check: what was set, and what was found (null: not computed)."""

    name: str
    value: Real
    hit: bool
    actual: Real | None


class HitView(Model):
    """A watchpoint that was hit by a tensor, or could not be evaluated on it."""

    step: int
    graph: str
    node: str
    slot: int
    rank: int
    watchpoint: int
    watchpoint_name: str
    condition: str = Field(description="as it was when this was checked")
    params: list[HitParameter]
    error: list[ErrorKind] = Field(description="why it could not be evaluated; empty: it was")
    position: int = Field(description="of the node in the order of execution, from 1; 0 before anything ran")


class HitGroup(Model):
    graph: str
    total: int


class HitList(Model):
    """Graph by graph, in the order of their first hit; within each in the order of execution."""

    total: int = Field(description="of those that were asked for")
    all: int
    step: int = Field(description="that was checked")
    revision: int = Field(description="of the watchpoints that were checked")
    outdated: bool = Field(description="the watchpoints have changed since, or the job is at another step")
    warning: str = Field(description="what could not be checked at all")
    graphs: list[HitGroup] = Field(description="of those that were asked for")
    steps: list[int] = Field(description="whose hits are kept, oldest first")
    hits: list[HitView]


class Texts(Model):
    """The same in both languages."""

    en: str
    zh: str


class ConditionParameter(Model):
    """A number that a condition takes."""

    name: str
    label: Texts
    unit: Literal["", "%"]
    role: Literal["check", "support"] = Field(
        description="check: a threshold, any of them hits; support: how to measure"
    )
    hidden: bool = Field(description="for programs only: no dialog shows it")
    default: Real | None = Field(description="what a dialog offers")
    low: Real | None = Field(description="the lowest value; null: any")
    high: Real | None = Field(description="the highest value; null: any")
    low_inclusive: bool = Field(description="whether the lowest itself is allowed")
    needs: list[str] = Field(description="parameters that have to be given with it")


class ConditionView(Model):
    id: str
    abbreviation: str
    category: Literal["tensor", "weight", "activation", "gradient"]
    name: Texts
    description: Texts
    advice: list[Texts] = Field(description="what to look at after a hit")
    parameters: list[ConditionParameter]
    initial_only: bool = Field(description="checked before the first step only; all others never then")
    needs_previous: bool = Field(description="compares with the step before")
    needs_inputs: bool = Field(description="looks at the inputs of the node, too")
    base: Base = Field(description="what it covers unless told otherwise")


class ConditionList(Model):
    conditions: list[ConditionView]
