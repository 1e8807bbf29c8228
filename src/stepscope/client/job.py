"""One training run, as a program sees and steers it."""

from __future__ import annotations

import json
import time
from typing import Any, Literal
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from stepscope.client.advising import Advising
from stepscope.client.http import Http
from stepscope.client.nodes import (
    COMPARISON,
    EXECUTION,
    LINEAGE,
    SCOPE,
    SEARCH,
    STATS,
    Node,
    NodeName,
    node_from,
    node_graph,
    node_name,
    tensor_key,
)
from stepscope.client.pictures import Pictures
from stepscope.client.watching import Watching
from stepscope.core.errors import BadRequest, ConnectionFailed, Timeout
from stepscope.core.graph.views import Category, Lineage, ScopeView, SearchResult
from stepscope.core.ports import Comparison, Cursor, ExecutionOrder, TensorStats, When

_MAX_WAIT = 20.0  # seconds of one long poll
_PAGE = 10_000


class Job(Watching, Advising, Pictures):
    """Properties are fetched anew each time. Methods raise UnknownNode, BadRequest, Conflict, NotAvailable, Timeout.

    Where a method takes a node, that is its full name, or what `nodes` and `node` return; `graph` is only needed for a
    plain name which more than one graph has.
    """

    def __init__(self, http: Http, job_id: str):
        self._http = http
        self._path = f"/api/jobs/{quote(job_id, safe='')}"
        self.id = job_id

    def __repr__(self) -> str:
        return f"<stepscope.Job {self.id} at {self._http.url}>"

    # ------------------------------------------------------------ what it is, and where it stands

    @property
    def info(self) -> dict[str, Any]:
        """All that the server says of the job (`Job` in the web API)."""
        info: dict[str, Any] = self._http.get(self._path)
        return info

    @property
    def state(self) -> str:
        """ "paused", "running", "finished" or "lost"."""
        return str(self.info["state"])

    @property
    def reason(self) -> str:
        """Why it is paused: "start", "step", "node", "pause", "watchpoint", "not_reached"."""
        return str(self.info["reason"])

    @property
    def step(self) -> int:
        """Completed steps; 0 is before the first."""
        return int(self.info["step"])

    @property
    def cursor(self) -> Cursor | None:
        """The node at which a paused step stands."""
        cursor = self.info["cursor"]
        return Cursor(**cursor) if cursor else None

    @property
    def title(self) -> str:
        return str(self.info["title"])

    @property
    def framework(self) -> str:
        return str(self.info["framework"])

    @property
    def version(self) -> str:
        """Of the framework."""
        return str(self.info["framework_version"])

    @property
    def device(self) -> str:
        return str(self.info["device"])

    @property
    def rank(self) -> int:
        return int(self.info["rank"])

    # ------------------------------------------------------------ its graphs

    @property
    def graphs(self) -> list[str]:
        """Names, in order of arrival."""
        return list(self.info["graphs"])

    def nodes(
        self,
        pattern: str | None = None,
        category: Category | None = None,
        scope: str | None = None,
        graph: str | None = None,
        line: str | None = None,
    ) -> list[NodeName]:
        """Full names of the nodes to which all conditions apply, graph by graph, in topological order.

        `pattern` is a part of a name or a glob; `line` is a line of the script, "net.py:12", or a whole file of it.
        """
        found: list[NodeName] = []
        while True:
            page = self._http.get(
                f"{self._path}/nodes",
                pattern=pattern,
                category=category,
                scope=scope,
                graph=graph,
                line=line,
                offset=len(found),
                limit=_PAGE,
            )
            found += map(NodeName, page["nodes"])
            if len(found) >= page["total"] or not page["nodes"]:
                return found

    def node(self, name: str | Node, graph: str | None = None) -> Node:
        """One node with its inputs, outputs, attributes and source lines."""
        return node_from(self._http.get(f"{self._path}/node", name=node_name(name), graph=node_graph(name, graph)))

    def scope(self, path: str = "", offset: int = 0, limit: int = 500, graph: str | None = None) -> ScopeView:
        """What is directly inside a scope, and the edges among it. `graph` may be left out where there is only one."""
        url = f"{self._graph_path(graph or self._only_graph())}/scope"
        return SCOPE.validate_python(self._http.get(url, path=path, offset=offset, limit=limit))

    def search(
        self, text: str, category: Category | None = None, limit: int = 200, graph: str | None = None
    ) -> SearchResult:
        """Nodes with `text` in their names. `graph` may be left out where there is only one."""
        url = f"{self._graph_path(graph or self._only_graph())}/search"
        return SEARCH.validate_python(self._http.get(url, text=text, category=category, limit=limit))

    def lineage(self, name: str | Node, slot: int = 0, hops: int = 1, graph: str | None = None) -> Lineage:
        """Which tensors an output comes from, and which it goes to."""
        place = node_graph(name, graph) or self.node(name).graph
        url = f"{self._graph_path(place)}/lineage"
        return LINEAGE.validate_python(self._http.get(url, node=node_name(name), slot=slot, hops=hops))

    # ------------------------------------------------------------ its tensors

    def tensor(
        self,
        name: str | Node,
        slot: int = 0,
        when: When = "current",
        index: str | None = None,
        input: int | None = None,
        graph: str | None = None,
    ) -> NDArray[Any]:
        """The values of an output or, with `input`, of what went in there.

        `index` fetches a part only, in Python's slice syntax: "0, :, 3:5". bfloat16 comes as float32.
        """
        params = {**tensor_key(name, slot, input, graph), "when": when, "index": index}
        with self._http.stream(f"{self._path}/tensor", **params) as response:
            header = json.loads(response.headers["x-stepscope-tensor"])
            array = np.empty(header["shape"], np.dtype(header["storage_dtype"]).newbyteorder("<"))
            room = array.reshape(-1).view(np.uint8)
            filled = 0
            for chunk in response.iter_raw():
                room[filled : filled + len(chunk)] = np.frombuffer(chunk, np.uint8)
                filled += len(chunk)
        if filled != len(room):
            raise ConnectionFailed(f"the tensor broke off after {filled} of {len(room)} bytes")
        return array.astype(array.dtype.newbyteorder("="), copy=False)

    def stats(
        self,
        name: str | Node,
        slot: int = 0,
        when: When = "current",
        input: int | None = None,
        graph: str | None = None,
    ) -> TensorStats:
        """Figures of a tensor: count, min, max, mean, zeros, NaN, infinities …"""
        return STATS.validate_python(
            self._http.get(f"{self._path}/stats", **tensor_key(name, slot, input, graph), when=when)
        )

    def compare(
        self, name: str | Node, slot: int = 0, input: int | None = None, graph: str | None = None
    ) -> Comparison:
        """The current value against that of the step before."""
        return COMPARISON.validate_python(
            self._http.get(f"{self._path}/compare", **tensor_key(name, slot, input, graph))
        )

    def execution(self, offset: int = 0, limit: int = 1000) -> ExecutionOrder:
        """The nodes of the last recorded step in the order in which they ran."""
        return EXECUTION.validate_python(self._http.get(f"{self._path}/execution", offset=offset, limit=limit))

    # ------------------------------------------------------------ commands: they return once the server has taken them

    def run(self, steps: int = 1) -> None:
        """Run some steps, then pause."""
        self._command("run", steps=steps)

    def resume(self) -> None:
        """Run until paused or finished."""
        self._command("resume")

    def pause(self) -> None:
        """Pause at the end of the present step; nothing happens to a job that is paused."""
        self._command("pause")

    def terminate(self) -> None:
        """End the training."""
        self._command("terminate")

    def next_node(self) -> None:
        """Go on to the next node."""
        self._command("next_node")

    def previous_node(self) -> None:
        """Go back to the node before."""
        self._command("previous_node")

    def run_to(self, node: str | Node, graph: str | None = None) -> None:
        """Run until a node has run."""
        self._command("run_to", node=node_name(node), graph=node_graph(node, graph) or "")

    def wait(self, timeout: float | None = None) -> str:
        """Block until the job no longer runs; returns its state. Raises Timeout after `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _MAX_WAIT if deadline is None else min(_MAX_WAIT, max(0.0, deadline - time.monotonic()))
            state: Literal["paused", "running", "finished", "lost"] = self._http.get(
                self._path, wait=left, state="running"
            )["state"]
            if state != "running":
                return state
            if deadline is not None and time.monotonic() >= deadline:
                raise Timeout(f"the job still runs after {timeout:g} s")

    # ------------------------------------------------------------

    def _command(self, kind: str, **more: str | int) -> None:
        self._http.post(f"{self._path}/commands", {"kind": kind, **more})

    def _graph_path(self, graph: str) -> str:
        return f"{self._path}/graphs/{quote(graph, safe='')}"

    def _only_graph(self) -> str:
        graphs = self.graphs
        if len(graphs) != 1:
            raise BadRequest(f"which graph is meant? There are: {', '.join(graphs) or 'none yet'}")
        return graphs[0]
