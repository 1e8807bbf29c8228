"""How gradients grow or shrink from layer to layer on their way back through the network.

What is compared is the root of the mean square of the elements that are not zero: so it does not depend on how big a
layer is, nor on how many rows of an embedding a batch has touched.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from stepscope.core.advice.fact import Fact, TensorName, level
from stepscope.core.advice.values import nonfinite_count
from stepscope.core.advice.walk import Ask
from stepscope.core.graph import Graph
from stepscope.core.ports import TensorKey, TensorStats, When

STEEP, CLIFF = 3.0, 6.0  # powers of ten
FEWEST = 3  # layers: between two of different kinds, anything may happen
HOPS = 4  # from a gradient to that of the weight of its layer
MOST_ASKED = 128  # layers
_AT_ONCE = 8  # on either side


class Run(NamedTuple):
    """Layers from `first` to `last`, both included; `exponent`: log10 of the norm of the first against the last."""

    first: int
    last: int
    exponent: float


def norm(stats: TensorStats | None) -> float | None:
    """None where there is none to compare: nothing but zeros, or values that are not finite."""
    if stats is None or nonfinite_count(stats) or stats.zero_count >= stats.count:
        return None
    size = math.hypot(stats.mean, stats.std) * math.sqrt(stats.count / (stats.count - stats.zero_count))
    return size if 0 < size < math.inf else None


def steepest_run(norms: Mapping[int, float | None], at: int) -> Run | None:
    """The run of layers around `at` in which the norms only rise, or only fall, as far as they are known.

    Of the two that there may be, the one with the larger ratio.
    """
    here = norms.get(at)
    if here is None:
        return None
    runs = []
    for sign in (1, -1):
        ends = []
        for direction in (-1, 1):
            end, last = at, here
            while (following := norms.get(end + direction)) is not None:
                if (following - last) * direction * sign < 0:
                    break
                end, last = end + direction, following
            ends.append((end, last))
        (first, low), (last_layer, high) = ends
        runs.append(Run(first, last_layer, math.log10(low / high)))
    return max(runs, key=lambda run: abs(run.exponent))


async def of_gradient(graph: Graph, name: TensorName, when: When, ask: Ask, hit: bool) -> Fact | None:
    """Where a gradient stands among those of the weights; `hit`: a watchpoint says that something is wrong with it."""
    layers = [TensorName(graph.name, one.gradient, one.slot) for one in graph.updates.trained if not one.vector]
    at = _layer_of(graph, name, layers)
    if at is None:
        return None
    norms: dict[int, float | None] = {}
    run, reach = None, _AT_ONCE
    while len(norms) < MOST_ASKED:
        around = range(max(0, at - reach), min(len(layers), at + reach + 1))
        asked = [one for one in around if one not in norms]
        found = await asyncio.gather(*(ask(TensorKey(*layers[one], when=when)) for one in asked))
        norms |= {one: norm(stats) for one, stats in zip(asked, found, strict=True)}
        run = steepest_run(norms, at)
        if run is None or (_ends(run.first, around[0], 0) and _ends(run.last, around[-1], len(layers) - 1)):
            break
        reach *= 2
    if run is None or abs(run.exponent) < STEEP or run.last - run.first + 1 < FEWEST:
        return None
    on_the_way = tuple(layers[run.first : run.last + 1][::-1])
    numbers = {"ratio_exponent": run.exponent, "layers": len(on_the_way)}
    return Fact("gradient_trend", level(hit or abs(run.exponent) >= CLIFF), numbers, links=on_the_way)


def _ends(run: int, asked: int, border: int) -> bool:
    """Whether a run is known to end there: within what was asked for, or at the border of the network."""
    return run != asked or asked == border


def _layer_of(graph: Graph, name: TensorName, layers: Sequence[TensorName]) -> int | None:
    """The layer whose weight, or bias, has this gradient, or the first one that a gradient goes to from here."""
    matrices = 0
    for one in graph.updates.trained:
        matrices += not one.vector
        if (one.gradient, one.slot) == (name.node, name.slot):
            return max(matrices - 1, 0) if layers else None
    lineage = graph.lineage(name.node, name.slot, hops=HOPS, limit=200)
    near = {node.name: node.distance for node in lineage.nodes if node.distance > 0}
    reached = [(near[layer.node], -index) for index, layer in enumerate(layers) if layer.node in near]
    return -min(reached)[1] if reached else None
