"""What the graph says of a tensor whose data are looked at."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from stepscope.core.advice.operations import plain
from stepscope.core.graph import Graph, Kind


@dataclass(frozen=True)
class About:
    """`op` is the plain name of the operation ("log" for "Log" and "aten.log.default"), `op_type` as it is called.

    `layer`, `layer_gradient`, `matrix`, `trainable`: the sets of `core.graph.layers`. `conditions`: that hit it.
    """

    kind: Kind
    op: str
    op_type: str
    activation: bool = False
    layer: bool = False
    layer_gradient: bool = False
    matrix: bool = False
    trainable: bool = False
    conditions: frozenset[str] = frozenset()

    @property
    def works(self) -> bool:
        """Whether it is among what has no idle values in a healthy training."""
        return self.layer or self.layer_gradient or self.matrix


def about(graph: Graph, name: str, conditions: Collection[str] = ()) -> About:
    """Takes a while for the first node of a big graph. Raises UnknownNode."""
    summary, node = graph.summarize(name), graph.position(name)

    def is_in(of: str) -> bool:
        return bool(graph.watchable.category(of)[node])

    return About(
        kind=summary.kind,
        op=plain(summary.op),
        op_type=summary.op,
        activation="activation" in summary.categories,
        layer=is_in("layer"),
        layer_gradient=is_in("layer_gradient"),
        matrix=is_in("matrix"),
        trainable=is_in("trainable"),
        conditions=frozenset(conditions),
    )
