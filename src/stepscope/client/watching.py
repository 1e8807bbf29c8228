"""The part of a job that has to do with watchpoints."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Literal

from stepscope.client.http import Http
from stepscope.client.watchpoints import HITS, Hit, Nodes, Watchpoint, ticks
from stepscope.core.errors import Conflict, Timeout

_PAGE = 10_000
_POLL_SECONDS = 0.02


class Watching:
    """Base of `Job`."""

    _http: Http
    _path: str

    def watch(
        self,
        condition: str,
        nodes: Nodes | None = None,
        scope: str | Iterable[str] | None = None,
        graph: str | None = None,
        name: str = "",
        enabled: bool = True,
        **parameters: float | str,
    ) -> Watchpoint:
        """Watch for a condition (see `Debugger.conditions`), with its thresholds as parameters.

        `nodes` and all below `scope` are watched; where neither is given, what the condition is for: all weights, all
        gradients, … Raises BadRequest, which is a ValueError, and says what is allowed.
        """
        body: dict[str, Any] = {"condition": condition, "parameters": parameters, "name": name, "enabled": enabled}
        if nodes is not None or scope is not None:
            body["ticks"] = ticks(nodes, scope, graph=graph)
        return Watchpoint(self._http, self._watchpoints, self._http.post(self._watchpoints, body))

    def watchpoints(self) -> list[Watchpoint]:
        """In the order of creation."""
        return self._list(self._http.get(self._watchpoints))

    def use_recommended(self, use: bool = True) -> list[Watchpoint]:
        """Add the recommended watchpoints that are not there yet, or decline them; returns all watchpoints then."""
        return self._list(self._http.post(f"{self._watchpoints}/recommended", {"use": use}))

    def use_earlier(self) -> list[Watchpoint]:
        """Add the watchpoints of the last run of the same script; returns all watchpoints then.

        Raises NotAvailable where there is no such run with watchpoints, or they were taken over already.
        """
        return self._list(self._http.post(f"{self._watchpoints}/earlier", {}))

    def clear_watchpoints(self) -> None:
        """Delete all of them."""
        self._http.delete(self._watchpoints)

    def hits(
        self,
        watchpoint: Watchpoint | int | None = None,
        node: str | None = None,
        graph: str | None = None,
        kind: Literal["hit", "error"] | None = None,
        step: int | None = None,
    ) -> list[Hit]:
        """What the last check found, in the order of execution; with `step` the last check at that step.

        `kind`: only real hits, or only what could not be evaluated.
        """
        wanted = {"node": node, "graph": graph, "kind": kind, "step": step}
        number = watchpoint.id if isinstance(watchpoint, Watchpoint) else watchpoint
        found: list[Hit] = []
        while True:
            page = self._http.get(f"{self._path}/hits", watchpoint=number, **wanted, offset=len(found), limit=_PAGE)
            found += HITS.validate_python(page["hits"])
            if len(found) >= page["total"] or not page["hits"]:
                return sorted(found, key=lambda each: each.position)  # they come graph by graph

    def recheck(self, timeout: float | None = 60) -> list[Hit]:
        """Check the present step again, with the watchpoints as they are now; the job stays paused. Returns the hits.

        Raises Timeout after `timeout` seconds (None: never), Conflict where the job is not paused.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        before = self._http.get(self._path)["hits_revision"]
        self._http.post(f"{self._path}/commands", {"kind": "recheck"})
        while (info := self._http.get(self._path))["hits_revision"] == before:
            if info["state"] != "paused":
                raise Conflict(f"the job is {info['state']}: it was not checked")
            if deadline is not None and time.monotonic() >= deadline:
                raise Timeout(f"not checked within {timeout:g} s")
            time.sleep(_POLL_SECONDS)
        return self.hits()

    # ------------------------------------------------------------

    @property
    def _watchpoints(self) -> str:
        return f"{self._path}/watchpoints"

    def _list(self, answer: dict[str, Any]) -> list[Watchpoint]:
        return [Watchpoint(self._http, self._watchpoints, each) for each in answer["watchpoints"]]
