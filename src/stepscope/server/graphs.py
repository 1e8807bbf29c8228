"""The indexed graphs of all jobs: built in a thread, kept as long as there is room, read again from the store.

An index costs up to seconds and a few kB a node, so that only the graphs used last stay in memory.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from stepscope.core.errors import BadRequest, UnknownNode
from stepscope.core.graph.graph import Graph
from stepscope.core.graph.views import GraphSummary
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.protocol.graphs import records
from stepscope.server.store import Store

MAX_NODES = 1_000_000  # of all the graphs in memory together; one alone may be larger

Key = tuple[str, str]  # job, graph


class Graphs:
    """Used from the event loop only; the building itself is in a thread."""

    def __init__(self, store: Store):
        self._store = store
        self._built: OrderedDict[Key, Graph] = OrderedDict()  # the last used at the end
        self._loading: dict[Key, asyncio.Task[Graph]] = {}

    async def add(self, job_id: str, name: str, data: bytes) -> GraphSummary:
        """Index and keep a serialised graph. Raises BadRequest where it can't be read."""
        try:
            graph, summary = await asyncio.to_thread(_build_and_summarize, name, data)
        except Exception as error:  # whatever is wrong with it must not harm the connection
            raise BadRequest(f"graph {name!r} can't be read: {error or type(error).__name__}") from error
        await self._store.add_graph(job_id, summary, data)
        self._keep((job_id, name), graph)
        return summary

    async def get(self, job_id: str, name: str) -> Graph:
        """The index of a graph that the job has; those who ask at the same time share the work."""
        key = (job_id, name)
        if key in self._built:
            self._built.move_to_end(key)
            return self._built[key]
        if key not in self._loading:
            self._loading[key] = asyncio.create_task(self._load(key))
        return await asyncio.shield(self._loading[key])

    async def locate(self, job_id: str, names: list[str], node: str, graph: str = "") -> Graph:
        """The one of a job's graphs that has `node`; with `graph`, that one.

        Raises UnknownNode with the nearest names, and BadRequest where more than one has it: which of them is meant
        is not for us to guess.
        """
        graphs = [await self.get(job_id, name) for name in ([self.known(names, graph)] if graph else names)]
        found = [each for each in graphs if node in each]
        if len(found) > 1:
            raise BadRequest(f"{node!r} is in more than one graph, name one: {', '.join(each.name for each in found)}")
        if found:
            return found[0]
        where = f"graph {graph!r}" if graph else "the job's graphs" if names else "this job: it has no graph yet"
        raise UnknownNode(f"no node {node!r} in {where}", await asyncio.to_thread(_nearest, graphs, node))

    @staticmethod
    def known(names: list[str], graph: str) -> str:
        if graph not in names:
            raise UnknownNode(f"the job has no graph {graph!r}", names[:5])
        return graph

    def forget(self, job_id: str) -> None:
        for key in [key for key in self._built if key[0] == job_id]:
            del self._built[key]

    async def _load(self, key: Key) -> Graph:
        try:
            graph = await asyncio.to_thread(build, key[1], await self._store.graph(*key))
            self._keep(key, graph)
            return graph
        finally:
            del self._loading[key]

    def _keep(self, key: Key, graph: Graph) -> None:
        self._built[key] = graph
        self._built.move_to_end(key)
        while len(self._built) > 1 and sum(map(len, self._built.values())) > MAX_NODES:
            self._built.popitem(last=False)


def build(name: str, data: bytes) -> Graph:
    """Index a serialised GraphProto. Takes time: for a thread."""
    return Graph(name, records(pb.GraphProto.FromString(data)))


def _build_and_summarize(name: str, data: bytes) -> tuple[Graph, GraphSummary]:
    graph = build(name, data)
    return graph, graph.summary()


def _nearest(graphs: list[Graph], node: str) -> list[str]:
    names: list[str] = []
    for graph in graphs:
        try:
            graph.node(node)
        except UnknownNode as error:
            names += error.nearest
    return names[:5]
