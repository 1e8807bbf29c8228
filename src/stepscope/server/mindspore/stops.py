"""What it means that a client stands still again: behind a node, behind one of several graphs, or behind the step.

It names the node that ran last and how many steps it counts. A GPU build stops behind a node that was stepped to, or
that was hit, and where a step is over: behind a hit of the last node a second time, then. With several graphs in a
step, up to 1.2 it stops behind each of them and once more, where it stood, when they are over; later builds stop once.
"""

from __future__ import annotations

from dataclasses import dataclass

from stepscope.server.mindspore.client import Client

_BEHIND_EACH_GRAPH_UNTIL = (1, 2)

Node = tuple[str, str]  # graph, node


@dataclass(frozen=True)
class Told:
    """What the client says when it asks. `at`: its node, where that is known; `is_hit`: nothing but that was hit."""

    count: int
    at: Node | None
    is_hit: bool


@dataclass(frozen=True)
class Stop:
    """`step`: as many are complete. `within`: the node behind which it stands in the next one; None where none ran."""

    step: int
    within: Node | None
    is_news: bool = True  # something has run since it last stood


def stop(client: Client, told: Told, before: Told, by_node: bool) -> Stop:
    """After a run. `before`: what it said when it was told to run; `by_node`: to the next node."""
    was = client.last
    stands = told.at is not None and (told.count, told.at) == (before.count, before.at)
    is_last = told.at is not None and told.at[1] == client.names.last(told.at[0])
    over = Stop(max(told.count, was.step + 1), None)
    if not client.is_gpu or told.at is None:
        return over
    if client.graphs_of_a_step == 1:
        if is_last or not (by_node or told.is_hit):
            return Stop(was.step, None, is_news=False) if stands and was.cursor is None else over
        return Stop(max(was.step, told.count - 1), told.at)
    if client.version <= _BEHIND_EACH_GRAPH_UNTIL:
        if stands and not (is_last and before.is_hit):
            return Stop(told.count, None)
        return Stop(max(was.step, told.count - 1), told.at, is_news=not stands)
    if stands or not (by_node or told.is_hit):
        return over
    # Nobody tells which graph is the last one: that a step is over shows when the next one has begun.
    is_next = was.cursor is not None and told.count > before.count
    return Stop(was.step + is_next, told.at)
