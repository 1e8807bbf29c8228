"""The part of a job that has to do with what is wrong with a tensor."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import TypeAdapter

from stepscope.client.http import Http
from stepscope.client.nodes import Node, tensor_key
from stepscope.client.watchpoints import Hit, Watchpoint
from stepscope.core.advice.fact import Fact
from stepscope.core.advice.origin import Origin
from stepscope.core.ports import When


@dataclass(frozen=True)
class Guide:
    """What is known of one tensor: the hits of the last check on it, and facts about its values, the worst first."""

    step: int
    hits: list[Hit]
    facts: list[Fact]


GUIDE = TypeAdapter(Guide)
ORIGIN = TypeAdapter(Origin)


class Advising:
    """Base of `Job`."""

    _http: Http
    _path: str

    def guide(
        self,
        name: str | Node,
        slot: int = 0,
        when: When = "current",
        input: int | None = None,
        graph: str | None = None,
    ) -> Guide:
        """What the watchpoints, the values, the inputs and the graph say of a tensor (docs/tensors.md).

        Values that are not there now make for fewer facts.
        """
        return GUIDE.validate_python(
            self._http.get(f"{self._path}/guide", **tensor_key(name, slot, input, graph), when=when)
        )

    def origin(
        self,
        name: str | Node,
        slot: int = 0,
        when: When = "current",
        watchpoint: Watchpoint | int | None = None,
        input: int | None = None,
        graph: str | None = None,
    ) -> Origin:
        """Where the fault of a tensor began: the way back to the first one that was bad in the same way.

        `watchpoint`: whose hit on the tensor is meant. Without one, NaN and infinities are followed, or any hit.
        """
        number = watchpoint.id if isinstance(watchpoint, Watchpoint) else watchpoint
        key = tensor_key(name, slot, input, graph)
        return ORIGIN.validate_python(self._http.get(f"{self._path}/origin", **key, when=when, watchpoint=number))
