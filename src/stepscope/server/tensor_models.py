"""The types of the web API around the view of one tensor: its pictures, the tuning guide, where a fault comes from."""

from __future__ import annotations

from pydantic import Field

from stepscope.core.advice.fact import FactKind, Level
from stepscope.core.advice.judge import Why
from stepscope.core.advice.origin import Reason
from stepscope.server.models import Model, Real
from stepscope.server.watch.models import HitView


class HistogramView(Model):
    """How the finite values of a part are spread, in equal bins from `start` to `end`.

    A bin has its lower border, the last one both. Of integers each bin holds equally many; bools have two bins.
    """

    dtype: str
    step: int
    shape: list[int] = Field(description="of the part")
    count: int = Field(description="of all its elements")
    low: Real = Field(description='the smallest finite value; "nan" where there is none')
    high: Real = Field(description="the largest finite value")
    start: Real = Field(description="the lower border of the first bin")
    end: Real = Field(description="the upper border of the last bin: `high`, or of integers behind the last of them")
    counts: list[int] = Field(description="of each bin; empty where no value is finite")
    nan_count: int
    negative_inf_count: int
    positive_inf_count: int


class HeatmapHeader(Model):
    """The header X-Stepscope-Heatmap of a heat map's bytes."""

    dtype: str = Field(description='as the framework names it: "bfloat16"; of a difference the type it was taken in')
    step: int
    shape: list[int] = Field(description="rows and columns of the part that is drawn")
    rows: int = Field(description="of cells")
    columns: int
    low: Real = Field(description='of the finite cells; "nan" where there is none')
    high: Real


class PlaceView(Model):
    """Where in a part something is."""

    position: list[int] | None = Field(description="in the part; null: nowhere")
    flat: int | None = Field(description="the same, counted in C order of the part")
    count: int = Field(description="how many such there are in the part")
    value: str = Field(description='of the element, to the last digit; "nan", "inf", "-inf"')


class BeyondView(Model):
    """How many elements of a part have changed by more than a threshold."""

    count: int
    of: int


class TensorLink(Model):
    graph: str
    node: str
    slot: int


class FactView(Model):
    """Something that the data say of a tensor: what it is by `kind`, with the numbers that go with it."""

    kind: FactKind
    level: Level
    numbers: dict[str, Real]
    position: list[int] | None = Field(description="in the whole tensor")
    text: str = Field(description="the type of an op or of the data; may be empty")
    links: list[TensorLink] = Field(description="the tensors that it is about")


class GuideView(Model):
    """What is known of one tensor, for the tuning guide."""

    step: int
    hits: list[HitView] = Field(description="of the job's last check, on this tensor; of an input, on what it reads")
    facts: list[FactView] = Field(description="the worst first")


class SourceLine(Model):
    """The innermost line of the script that made a node."""

    file: str
    line: int
    text: str = Field(description="the line of code, where known")


class OriginStep(Model):
    """One tensor on the way from where a fault began."""

    graph: str
    node: str
    slot: int
    op: str
    why: Why
    watchpoints: list[int] = Field(description="that hit it")
    step: int = Field(description="of its value: the way may lead into the step before")
    source: SourceLine | None


class OriginView(Model):
    """The way that a fault came: the first of the path is where it began, the last is the tensor asked for."""

    found: bool
    reason: Reason = Field(
        description="no_fault: nothing is wrong with the tensor; no_values: they are not known; compares: what was "
        "hit is a change over time, no matter of where a value comes from, and the path is the tensor alone"
    )
    path: list[OriginStep]
