"""The edges between nodes that are not folded, with ways in from either end and from a whole scope."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stepscope.core.graph.columns import Ints
from stepscope.core.graph.fold import Flow

EdgeNumbers = NDArray[np.intp]


class Edges:
    """Edges are numbered in order of target and input; see `Flow` for the columns.

    `tensor[e]` is one number for each output slot that an edge comes out of.
    """

    def __init__(self, flow: Flow, position: Ints) -> None:
        self.source, self.slot, self.target = flow.source, flow.slot, flow.target
        self.port, self.element, self.control = flow.port, flow.element, flow.control
        self.tensors = (int(self.slot.max(initial=0)) + 1) * (len(position) + 1)  # `tensor` lies below this
        self.tensor = self.source.astype(np.int64) * (int(self.slot.max(initial=0)) + 1) + self.slot
        self._position = position
        ends = np.arange(len(position) + 1)
        into, out_of = position[self.target], position[self.source]
        self._in: EdgeNumbers = np.argsort(into, kind="stable")
        self._in_start = np.searchsorted(into[self._in], ends)
        self._out: EdgeNumbers = np.argsort(out_of, kind="stable")
        self._out_start = np.searchsorted(out_of[self._out], ends)

    def into(self, node: int) -> EdgeNumbers:
        """In order of the inputs."""
        position = int(self._position[node])
        return self.into_span(position, position + 1)

    def out_of(self, node: int) -> EdgeNumbers:
        """In order of the consumers."""
        position = int(self._position[node])
        return self.out_of_span(position, position + 1)

    def into_span(self, first: int, last: int) -> EdgeNumbers:
        """The edges into the nodes at the positions from `first` up to `last`."""
        return self._in[self._in_start[first] : self._in_start[last]]

    def out_of_span(self, first: int, last: int) -> EdgeNumbers:
        """The edges out of the nodes at the positions from `first` up to `last`."""
        return self._out[self._out_start[first] : self._out_start[last]]
