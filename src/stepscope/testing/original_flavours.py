"""What tells MindSpore's own debugger clients apart, by release and device, and what one may get wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Flavour:
    """What tells releases and devices apart."""

    version: str
    backend: str

    @property
    def number(self) -> tuple[int, ...]:
        return tuple(map(int, (self.version or "1.1").split(".")[:2]))

    @property
    def is_gpu(self) -> bool:
        return self.backend == "GPU"

    @property
    def matches_scopes(self) -> bool:
        return self.number < (1, 8)

    @property
    def counts(self) -> Literal["at start", "at end", "behind"]:
        """When it counts a step: when it begins, when it is over, or when it has been told to go on from there."""
        if self.number >= (1, 5):
            return "behind"
        return "at start" if self.is_gpu else "at end"

    @property
    def stops_behind_each_graph(self) -> bool:
        """Of a step with several."""
        return self.number < (1, 3)

    @property
    def gives_figures(self) -> bool:
        return self.number >= (1, 5)

    @property
    def beats(self) -> bool:
        return self.number >= (1, 3)

    def __str__(self) -> str:
        return f"{self.version} {self.backend}"


FLAVOURS = tuple(
    Flavour(version, backend)
    for version, backend in (
        ("1.2.0", "GPU"), ("1.2.0", "Ascend"), ("1.3.0", "GPU"), ("1.9.0", "Ascend"), ("2.0.0", "GPU"),
    )
)  # fmt: skip


@dataclass
class Misbehaviour:
    """What a client may get wrong; nothing unless said."""

    last_piece_twice: bool = False  # of a graph
    cuts_graphs: bool = False  # ends each with half of its bytes, says so, and tries again
    wrong_order: bool = False  # sends and asks before it has said who it is, and before its graph
    wrong_dims: bool = False  # of every tensor
    cuts_tensors: bool = False  # leaves out the last piece of each
    huge_hits: bool = False  # one of more bytes than a message may have, before all others
    hits_in_two_batches: bool = False
    unknown_hits: bool = False  # of a watchpoint and a node that there are not
    silent_after: int | None = None  # asks no more after so many calls, but holds the connection
    extra_graphs: int = 0  # sent with the first one, and never run
    compiles_anew_after: int | None = None  # so many steps, and has then forgotten all watchpoints
    breaks_off_after: int | None = None  # so many steps, before it tells of hits, and goes on over a new connection
    seconds_away: float = 0.0  # before it goes on
    breaks_off_to_compile: bool = False  # tells of its new graphs over a new connection
