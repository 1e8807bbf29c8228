"""All that the data say of one tensor: which questions are asked, and who judges the answers."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Protocol

from stepscope.core.advice.about import About, about
from stepscope.core.advice.fact import Fact, TensorName, worst_first
from stepscope.core.advice.gradients import of_gradient
from stepscope.core.advice.inputs import InputValue, of_inputs
from stepscope.core.advice.places import Place, inputs, placed
from stepscope.core.advice.values import of_values
from stepscope.core.advice.weights import of_weight
from stepscope.core.graph import Graph
from stepscope.core.looks import TensorFacts
from stepscope.core.ports import Comparison, TensorKey, TensorStats

MOST_INPUTS = 32  # of one operation that are asked for


class Values(Protocol):
    """The values of a training; each method gives None where they are not there now."""

    async def stats(self, key: TensorKey) -> TensorStats | None: ...

    async def compare(self, key: TensorKey) -> Comparison | None: ...

    async def facts(self, key: TensorKey) -> TensorFacts | None: ...

    async def is_updated_elsewhere(self, parameter: str) -> bool:
        """Whether an op of another graph of the training writes into a parameter."""
        ...


async def guide(graph: Graph, key: TensorKey, values: Values, conditions: Collection[str] = ()) -> tuple[Fact, ...]:
    """The facts of a tensor, the worst first.

    conditions: those whose watchpoints it hit in the step of its value. What has no value now only makes for fewer
    facts. Raises UnknownNode.
    """
    place = placed(graph, key)
    of = await asyncio.to_thread(about, graph, place.node, conditions)  # the sets of nodes are made at the first time
    parts = await asyncio.gather(
        _of_the_tensor(graph, key, place, of, values),
        _of_a_weight(graph, key, place, of, values),
        _of_a_gradient(graph, key, place, of, values),
    )
    return worst_first(fact for part in parts for fact in part)


async def _of_the_tensor(graph: Graph, key: TensorKey, place: Place, of: About, values: Values) -> list[Fact]:
    read = list(inputs(graph, graph.node(place.node), key.when))
    asked = [(port, each) for port, each in read if each is not None][:MOST_INPUTS]
    of_inputs_read = asyncio.gather(*(values.stats(each.key) for _, each in asked))
    stats, seen, found = await asyncio.gather(values.stats(key), values.facts(key), of_inputs_read)
    if stats is None:
        return []
    facts = list(of_values(of, stats, seen))
    went_in = [
        InputValue(port.index, port.data_index, TensorName(graph.name, each.node, each.slot), each.kind, of_input)
        for (port, each), of_input in zip(asked, found, strict=True)
    ]
    return facts + list(of_inputs(of, stats, went_in, complete=len(asked) == len(read)))


async def _of_a_weight(graph: Graph, key: TensorKey, place: Place, of: About, values: Values) -> list[Fact]:
    """Also of the output of an optimizer that stands for a weight."""
    home = graph.resolve(place.node, place.slot)
    if home.kind != "parameter" or key.when != "current":
        return []
    if home.name != place.node:
        of = await asyncio.to_thread(about, graph, home.name, of.conditions)
    if not of.trainable:
        return []
    updated: bool | None = bool(graph.updates.writers(home.name)) or await values.is_updated_elsewhere(home.name)
    if not updated and not graph.has_optimizer:
        updated = None
    trained = next((one for one in graph.updates.trained if one.weight == home.name), None)
    change = values.compare(TensorKey(graph.name, home.name))
    if trained is None:
        return list(of_weight(of, updated, None, await change))
    name = TensorName(graph.name, trained.gradient, trained.slot)
    compared, stats = await asyncio.gather(change, values.stats(TensorKey(*name)))
    return list(of_weight(of, updated, (name, stats), compared))


async def _of_a_gradient(graph: Graph, key: TensorKey, place: Place, of: About, values: Values) -> list[Fact]:
    trained = await asyncio.to_thread(lambda: graph.updates.trained)
    name = TensorName(graph.name, place.node, place.slot)
    is_gradient = "gradient" in graph.summarize(place.node).categories
    if not is_gradient and not any((one.gradient, one.slot) == name[1:] for one in trained):
        return []
    fact = await of_gradient(graph, name, key.when, values.stats, bool(of.conditions))
    return [] if fact is None else [fact]
