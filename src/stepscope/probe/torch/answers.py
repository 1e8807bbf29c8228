"""What is asked of a training that stands still, answered from the values that are held and from live parameters.

Also the `Step` that watchpoints are checked on. A parameter is shown as it is in memory at this moment; what a node
read or made, as it was when the node ran.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

import torch

from stepscope.core.errors import BadRequest, NotAvailable, UnknownNode
from stepscope.core.graph import Graph
from stepscope.core.looks import Question
from stepscope.core.ports import (
    Comparison,
    ExecutedNode,
    ExecutionOrder,
    NodeAttributes,
    StackFrame,
    Tensor,
    TensorKey,
    TensorStats,
)
from stepscope.core.tensors import apply_index, compare, look, stats
from stepscope.probe.torch import arrays, frames
from stepscope.probe.torch.events import attributes_of
from stepscope.probe.torch.telling import Known
from stepscope.probe.torch.values import Memory, StepValues

A = TypeVar("A")


class Answers:
    """`known` gives the graph that was told last, `live` the parameters, buffers and states by the names of their
    nodes; `thread` is the one that trains."""

    def __init__(
        self,
        memory: Memory,
        known: Callable[[], Known],
        live: Callable[[], Mapping[str, torch.Tensor]],
        thread: int,
    ) -> None:
        self._memory, self._known, self._live, self._thread = memory, known, live, thread

    # ------------------------------------------------------------ queries

    def tensor(self, key: TensorKey, index: str | None = None) -> Tensor:
        """The array shares memory with the training where it can: it is good until that goes on."""
        tensor, step = self._find(key)
        array, dtype = arrays.as_array(tensor)
        return Tensor(apply_index(array, index), dtype, tuple(array.shape), step)

    def stats(self, key: TensorKey) -> TensorStats:
        tensor, step = self._find(key)
        array, dtype = arrays.as_bits(tensor)
        return stats(array, dtype, step)

    def compare(self, key: TensorKey) -> Comparison:
        current, step = self._find(replace(key, when="current"))
        previous, before = self._find(replace(key, when="previous"))
        array, dtype = arrays.as_bits(current)
        return compare(array, arrays.as_bits(previous)[0], dtype, step, before)

    def look(self, key: TensorKey, question: Question[A]) -> A:
        return look(question, lambda when: self.tensor(replace(key, when=when)))

    def execution(self, offset: int = 0, limit: int = 1000) -> ExecutionOrder:
        current = self._memory.current
        if current is None:
            raise NotAvailable("no step has been recorded", code="no_step")
        graph, nodes = self._known().name, current.nodes
        chosen = nodes[offset : offset + limit]
        return ExecutionOrder(len(nodes), tuple(ExecutedNode(graph, node) for node in chosen))

    def frames(self) -> tuple[StackFrame, ...]:
        return frames.frames(self._thread)

    def attributes(self, graph: str, node: str) -> NodeAttributes:
        known = self._known_as(graph)
        for step in (self._memory.current, self._memory.previous):
            literals = step.literals(node) if step is not None else None
            if step is not None and literals is not None:
                return NodeAttributes(step.number, attributes_of(literals))
        told = known.graph.node(node).attributes
        return NodeAttributes(known.steps[node], told)

    # ------------------------------------------------------------ a step to be checked

    @property
    def graphs(self) -> Mapping[str, Graph]:
        graph = self._known().graph
        return {graph.name: graph}

    # ------------------------------------------------------------ finding values

    def _find(self, key: TensorKey) -> tuple[torch.Tensor, int]:
        """The tensor, and the step that its value is of."""
        kind = self._known_as(key.graph).graph.summarize(key.node).kind
        step = self._step(key)
        if key.input is not None:
            if step is None:
                raise NotAvailable("nothing has run before the first step", code="no_step")
            return step.input(key.node, key.input), step.number
        if kind == "op":
            if step is None:
                raise NotAvailable(
                    "nothing has run before the first step; run a step to see this tensor", code="no_step"
                )
            return step.output(key.node, key.slot), step.number
        if key.slot:
            raise BadRequest(f"{key.node} has one output, there is no slot {key.slot}", code="no_slot")
        return self._variable(key, kind, step)

    def _known_as(self, graph: str) -> Known:
        known = self._known()
        if graph != known.name:
            raise UnknownNode(f"no graph {graph!r}", [known.name])
        return known

    def _step(self, key: TensorKey) -> StepValues | None:
        if key.when == "current":
            return self._memory.current
        if self._memory.previous is None:
            raise NotAvailable("there is no step before this one whose values were kept", code="no_previous")
        return self._memory.previous

    def _variable(self, key: TensorKey, kind: str, step: StepValues | None) -> tuple[torch.Tensor, int]:
        live = self._live().get(key.node) if kind == "parameter" and key.when == "current" else None
        if live is not None:
            return live, step.number if step else 0
        if step is None:
            raise NotAvailable(f"{key.node} has no value before the first step", code="no_step")
        return step.variable(key.node), step.number
