"""What a watchpoint is, and what comes of it: the plain types that all parts share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Base = Literal[
    "none", "tensor", "weight", "gradient", "activation",
    "trainable", "matrix", "trained_matrix", "layer", "layer_gradient", "unmasked",
]  # fmt: skip
ErrorKind = Literal[
    "nan", "inf", "no_previous", "previous_nan", "previous_inf", "previous_shape", "no_value", "unreadable"
]


@dataclass(frozen=True)
class Rule:
    """A tick: `on` says whether the node, or all below the scope, is watched."""

    path: str
    on: bool
    scope: bool = False  # `path` is a scope, not a node
    graph: str = ""  # "" is every graph that has the path


@dataclass(frozen=True)
class Selection:
    """Which nodes a watchpoint covers.

    `base` is what it starts from: a category, "tensor" (all that has a value), "none", or one of the narrower sets of
    `core.graph.layers`, which the recommended watchpoints have. `ops`
    narrows that to some types of operation. Rules stand in the order in which they were made. Of those that cover a
    node (its own, and those of the scopes around it) the last decides over it; without one, the base.
    """

    base: Base = "tensor"
    ops: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True)
class Watchpoint:
    """`parameters` are the given values only, by name; see `conditions` for what each condition takes."""

    id: int
    condition: str
    parameters: Mapping[str, float] = field(default_factory=dict)
    selection: Selection = Selection()
    name: str = ""
    enabled: bool = True
    recommended: bool = False


@dataclass(frozen=True)
class WatchpointSet:
    """All watchpoints of a job; `revision` rises with every change."""

    revision: int = 0
    watchpoints: tuple[Watchpoint, ...] = ()


class ParameterCheck(NamedTuple):
    """One parameter of a check: what was set and what was found (None: not computed)."""

    name: str
    value: float
    hit: bool = False
    actual: float | None = None


@dataclass(frozen=True)
class Check:
    """What a condition says of one tensor. `reported`: hit, or it could not be evaluated, for the reasons `error`."""

    hit: bool
    error: frozenset[ErrorKind] = frozenset()
    params: tuple[ParameterCheck, ...] = ()

    @property
    def reported(self) -> bool:
        return self.hit or bool(self.error)


@dataclass(frozen=True)
class Hit:
    """A watchpoint that was hit by a tensor in a step, or could not be evaluated on it (`error`).

    `position` is that of the node in the order of execution, from 1; 0 for what is there before anything runs.
    """

    step: int
    graph: str
    node: str
    slot: int
    watchpoint: int
    params: tuple[ParameterCheck, ...] = ()
    error: frozenset[ErrorKind] = frozenset()
    position: int = 0


@dataclass(frozen=True)
class HitBatch:
    """All hits of one check of a step, in the order of execution. `revision` is that of the watchpoints checked."""

    step: int
    revision: int
    hits: tuple[Hit, ...] = ()
    warning: str = ""  # what could not be checked at all

    @property
    def stops(self) -> bool:
        """Whether the training pauses: a hit, or what could not be evaluated, but for want of a previous value."""
        return any(not hit.error or hit.error - {"no_previous"} for hit in self.hits)
