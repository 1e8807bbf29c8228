"""A `Source` that stands still within a step, without a process behind it: the small network, node by node.

It behaves as a PyTorch training does: a node that the cursor stands before has not run, the weights are not updated
before the optimizer's nodes have run, and what has run stays to be looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stepscope.core.errors import NotAvailable, UnknownNode
from stepscope.core.ports import (
    Command,
    Cursor,
    ExecutedNode,
    Local,
    Moment,
    NodeAttributes,
    SourceInfo,
    StackFrame,
    State,
    Tensor,
    TensorKey,
)
from stepscope.testing.network import FOLDED, NODES, Network
from stepscope.testing.source import INFO, FakeSource

LIVE_INFO = replace(INFO, job_id="live-1", framework="torch", framework_version="2.13.0", stepping="live")
COUNT = len(NODES) - len(FOLDED)


class FakeLiveSource(FakeSource):
    """As `FakeSource`, but for what `next_node`, `previous_node` and `run_to` do."""

    def __init__(
        self, info: SourceInfo = LIVE_INFO, steps: int = 1000, step_seconds: float = 0.0, nan_at: int | None = None
    ):
        super().__init__(info, steps, step_seconds, nan_at)
        self._walking: Iterator[str] | None = None
        self._about = ""  # the node that runs next; "" between steps

    # ------------------------------------------------------------ commands

    def _step(self) -> None:
        """Runs a whole step, or what is left of the one that it stands in."""
        if not self._about:
            super()._step()
        while self._about:
            self._run_node()

    def _walk(self, command: Command) -> None:
        moment: Moment = "before" if command.before else "after"
        order, cursor = self._order(), self.last.cursor
        at = cursor.position if cursor else len(order)
        if command.kind == "previous_node":
            self._show(max(at - 1, 1), "after") if order else self._pause("node")
        elif command.kind == "next_node" and at < len(order):
            self._show(at + 1, moment)
        elif command.kind == "next_node":
            stood_before = cursor is not None and cursor.moment == "before"
            self._advance(stood_before, moment)
        else:
            self._run_to(ExecutedNode(command.graph, command.node), at, moment)

    def _advance(self, stood_before: bool, moment: Moment) -> None:
        self._enter()
        if moment == "after" or stood_before:
            self._run_node()
        if moment == "after":
            self._show(len(self._order()), "after")
        else:
            self._enter()
            self._show(len(self._order()) + 1, "before")

    def _run_to(self, target: ExecutedNode, at: int, moment: Moment) -> None:
        order = self._order()
        if target in order[at:]:
            self._show(order.index(target) + 1, moment)
            return
        for _ in range(2):  # what is left of this step, and the next one
            self._enter()
            while self._about and self._about != target.node:
                self._run_node()
            if self._about:
                place = len(self._order()) + 1
                if moment == "after":
                    self._run_node()
                self._show(place, moment)
                return
        self._pause("not_reached")

    def _enter(self) -> None:
        """Begins a step unless it stands in one."""
        if not self._about:
            self._walking = self.network.walk_step()
            self._about = next(self._walking)
            self.last = replace(self.last, step=self.network.step, recorded_steps=self.network.recorded_steps)

    def _run_node(self) -> None:
        assert self._walking is not None
        self._about = next(self._walking, "")
        if not self._about:
            self.last = replace(self.last, loss=self.network.loss)

    def _show(self, position: int, moment: Moment) -> None:
        order = self._order()
        node = order[position - 1].node if position <= len(order) else self._about
        self._pause("node", Cursor(Network.graph_name, node, position, COUNT, moment))

    # ------------------------------------------------------------ queries

    async def frames(self) -> tuple[StackFrame, ...]:
        self._check_paused()
        cursor = self.last.cursor
        line = 10 + list(NODES).index(cursor.node) if cursor else 5
        script, step = INFO.command_line[1], Local("step", "int", None, str(self.network.step))
        inside = StackFrame(
            script, line, "forward", "out = layer(x)", True, (Local("self", "Network"), Local("x", "Tensor", (8, 4)))
        )
        library = StackFrame("/usr/lib/python3/site-packages/torch/nn/module.py", 1751, "_call_impl", "", False)
        loop = StackFrame(script, 40, "<module>", "loss = net(x, y)", True, (step, Local("loss", "Tensor", ())))
        return (inside, library, loop) if cursor else (loop,)

    async def attributes(self, graph: str, node: str) -> NodeAttributes:
        """Of a node that has not run in this step, those of the step before."""
        self._check_paused()
        if graph != Network.graph_name or node not in NODES:
            raise UnknownNode(f"no node {node!r} in {graph!r}", [])
        ran = any(one.node == node for one in self._order())
        step = self.network.step if ran else max(self.network.step - 1, 0)
        return NodeAttributes(step, {"inputs": len(NODES[node][1]), "rate": 0.5**step})

    def _value(self, key: TensorKey) -> Tensor:
        self._check_paused()
        return super()._value(key)

    def _check_paused(self) -> None:
        if self.last.state is not State.PAUSED:
            raise NotAvailable("the training runs: pause it to see its tensors")
