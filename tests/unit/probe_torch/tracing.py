"""Traced training steps, with what a hand-written watcher would note of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch

from stepscope.core.graph import Graph, NodeRecord
from stepscope.probe.torch.events import Event
from stepscope.probe.torch.tracer import Tracer


@dataclass
class Noted:
    """A node with copies of the tensors that it was given and that it gave, as they were at that moment."""

    event: Event
    inputs: list[torch.Tensor]
    outputs: list[torch.Tensor | None] = field(default_factory=list)


class Watcher:
    """Traces steps. `nodes` are those of the last one, by name; `steps` has the names of the nodes of each."""

    def __init__(self, keep: bool = False) -> None:
        self.nodes: dict[str, Noted] = {}
        self.start: dict[str, torch.Tensor] = {}
        self.steps: list[list[str]] = []
        self.tracer = Tracer(self._before, self._after) if keep else Tracer()
        self.tracer.follow_optimizers()

    @contextmanager
    def step(self) -> Iterator[None]:
        self.tracer.new_step()
        self.nodes = {}
        self.start = {name: tensor.detach().clone() for name, tensor in self.tracer.tensors().items()}
        self.tracer.push()
        try:
            yield
        finally:
            assert self.tracer.pop()
        if self.tracer.fault is not None:
            raise self.tracer.fault
        self.steps.append([event.name for event in self.tracer.events])

    @property
    def events(self) -> list[Event]:
        return self.tracer.events

    def records(self) -> dict[str, NodeRecord]:
        return {record.name: record for record in self.tracer.records()}

    def graph(self) -> Graph:
        return Graph("step", self.tracer.records())

    def _before(self, event: Event) -> None:
        self.nodes[event.name] = Noted(event, [_copy(tensor) for tensor in event.tensors])
        known = self.tracer.tensors()
        for source, tensor in zip(event.inputs, event.tensors, strict=False):
            if source.node in known and source.node not in self.start:  # named just now
                self.start[source.node] = _copy(tensor)

    def _after(self, event: Event) -> None:
        self.nodes[event.name].outputs = [None if one is None else _copy(one) for one in event.outputs]


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().clone()
