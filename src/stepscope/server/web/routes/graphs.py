"""The graphs of a job: scopes to draw, nodes to look up, lineage. Answered from the index, also after the job's end."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from stepscope.core.graph.frontier import MOST
from stepscope.core.graph.graph import Graph
from stepscope.core.graph.views import Category, GraphView, Lineage, Reveal, ScopeView, SearchResult
from stepscope.server.models import GraphList, NodeList, NodeRow, NodeView
from stepscope.server.settings import MAX_NAME
from stepscope.server.web.answers import answer, computed
from stepscope.server.web.nodes import node_answer
from stepscope.server.web.state import TheJob, TheServices

router = APIRouter(prefix="/api/jobs/{job}", tags=["graphs"])

Name = Annotated[str, Query(max_length=MAX_NAME)]
Offset = Annotated[int, Query(ge=0)]


@router.get("/graphs", response_model=GraphList, operation_id="graphs")
async def graphs(job: TheJob) -> Response:
    """What graphs there are, in order of arrival."""
    return answer(GraphList(graphs=list(job.graphs.values())))


@router.get("/graphs/{graph:path}/scope", response_model=ScopeView, operation_id="scope")
async def scope(
    of: TheServices,
    job: TheJob,
    graph: str,
    path: Name = "",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=5000)] = 500,
    around: Annotated[
        str, Query(max_length=MAX_NAME, description="an op or a scope below: the page where it is found")
    ] = "",
) -> Response:
    """What is directly inside a scope, with the edges among it; the root's path is empty."""
    found = await of.jobs.graph_of(job, graph)
    return await computed(lambda: found.scope(path, offset, limit, around))


@router.get("/graphs/{graph:path}/view", response_model=GraphView, operation_id="view")
async def view(
    of: TheServices,
    job: TheJob,
    graph: str,
    open: Annotated[
        list[Name] | None, Query(max_length=MOST, description="ids of scopes and stacks, as they were opened")
    ] = None,
    at: Annotated[
        list[Name] | None, Query(max_length=MOST, description='pages: "300:scope" for its children from the 300th on')
    ] = None,
) -> Response:
    """The graph as far as it is opened: all that is drawn, and the edges between it."""
    found = await of.jobs.graph_of(job, graph)
    pages = [one.partition(":") for one in at or ()]
    offsets = {path: int(number) for number, _, path in pages if number.isdecimal() and len(number) < 10}
    return await computed(lambda: found.view(open or (), offsets))


@router.get("/graphs/{graph:path}/reveal", response_model=Reveal, operation_id="reveal")
async def reveal(of: TheServices, job: TheJob, graph: str, name: Name) -> Response:
    """What must be open to see a node or a scope."""
    found = await of.jobs.graph_of(job, graph)
    return await computed(lambda: found.reveal(name))


@router.get("/graphs/{graph:path}/search", response_model=SearchResult, operation_id="search")
async def search(
    of: TheServices,
    job: TheJob,
    graph: str,
    text: Name,
    category: Category | None = None,
    limit: Annotated[int, Query(ge=0, le=5000)] = 200,
) -> Response:
    """The nodes with `text` in their full names, without regard to case."""
    found = await of.jobs.graph_of(job, graph)
    return await computed(lambda: found.search(text, category, limit))


@router.get("/graphs/{graph:path}/lineage", response_model=Lineage, operation_id="lineage")
async def lineage(
    of: TheServices,
    job: TheJob,
    graph: str,
    node: Name,
    slot: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
    hops: Annotated[int, Query(ge=1, le=20)] = 1,
) -> Response:
    """Which tensors a tensor comes from, and which it goes to."""
    found = await of.jobs.graph_of(job, graph)
    return await computed(lambda: found.lineage(node, slot, hops))


@router.get("/graphs/{graph:path}/node", response_model=NodeView, operation_id="graph_node")
async def graph_node(of: TheServices, job: TheJob, graph: str, name: Name) -> Response:
    """One node of this graph."""
    found = await of.jobs.graph_of(job, graph)
    return await node_answer(job, found, name)


@router.get("/node", response_model=NodeView, operation_id="node")
async def node(of: TheServices, job: TheJob, name: Name, graph: Name = "") -> Response:
    """One node; the graph may be left out where one graph alone has it."""
    found = await of.jobs.locate(job, name, graph)
    return await node_answer(job, found, name)


@router.get("/nodes", response_model=NodeList, operation_id="nodes")
async def nodes(
    of: TheServices,
    job: TheJob,
    pattern: Annotated[
        str | None, Query(max_length=MAX_NAME, description="part of a name, or a glob (* ? [ ]); case doesn't matter")
    ] = None,
    category: Category | None = None,
    scope: Annotated[str | None, Query(max_length=MAX_NAME, description="only nodes inside this scope")] = None,
    line: Annotated[
        str | None, Query(max_length=MAX_NAME, description='only nodes made in this line of code: "net.py:12"')
    ] = None,
    graph: Annotated[str, Query(max_length=MAX_NAME, description="empty: all graphs")] = "",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=0, le=10_000)] = 500,
) -> Response:
    """The nodes to which all conditions apply, graph by graph, in the order of the graph."""
    wanted = [graph] if graph else list(job.graphs)
    found = [await of.jobs.graph_of(job, name) for name in wanted]

    def look_up() -> NodeList:
        names = [(each, name) for each in found for name in each.nodes(pattern, category, scope, line)]
        return NodeList(total=len(names), nodes=[_row(*pair) for pair in names[offset : offset + limit]])

    return await computed(look_up)


def _row(graph: Graph, name: str) -> NodeRow:
    node = graph.summarize(name)
    return NodeRow(graph.name, name, node.op, node.kind, node.categories)
