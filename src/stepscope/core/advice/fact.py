"""One thing that the data say of a tensor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

FactKind = Literal[
    "nonfinite_first",
    "all_inputs_finite",
    "input_nonfinite",
    "input_zeros",
    "input_negative",
    "input_large",
    "near_limit",
    "weight_no_update",
    "weight_zero_gradient",
    "weight_unchanged",
    "gradient_trend",
    "zero_share",
    "constant",
    "saturated",
    "zero_rows",
    "update_ratio",
]
Level = Literal["bad", "note"]

MOST = 12  # that are told of one tensor
_ORDER: tuple[FactKind, ...] = get_args(FactKind)


class TensorName(NamedTuple):
    """An output of a node."""

    graph: str
    node: str
    slot: int = 0


@dataclass(frozen=True)
class Fact:
    """`numbers` are those of its kind (docs/tensors.md), `position` an element of the whole tensor, `text` the type of
    an op or of the data, `links` the tensors that it is about. `level`: "bad" is never said of a healthy training."""

    kind: FactKind
    level: Level
    numbers: Mapping[str, float] = field(default_factory=dict)
    position: tuple[int, ...] | None = None
    text: str = ""
    links: tuple[TensorName, ...] = ()


def level(bad: bool) -> Level:
    return "bad" if bad else "note"


def worst_first(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """The bad ones first, and of several what comes nearest to the cause; those that are too many are left out."""
    return tuple(sorted(facts, key=lambda fact: (fact.level != "bad", _ORDER.index(fact.kind)))[:MOST])
