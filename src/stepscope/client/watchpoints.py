"""Watchpoints of a job, and what they have found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from stepscope.client.http import Http
from stepscope.client.nodes import Node, NodeName
from stepscope.core.watch import records

Nodes = str | Node | Iterable[str | Node]


@dataclass(frozen=True)
class Warned:
    """What makes a watchpoint of no use, or of less than was meant: `code` is for programs."""

    code: str
    message: str
    field: str = ""
    number: int | None = None


@dataclass(frozen=True)
class Hit(records.Hit):
    """A watchpoint that was hit by a tensor, or could not be evaluated on it: then `error` says why.

    `condition` is that of the time of the check.
    """

    rank: int = 0
    watchpoint_name: str = ""
    condition: str = ""


@dataclass(frozen=True)
class _Content:
    """What the server says of a watchpoint."""

    id: int
    name: str
    condition: str
    parameters: dict[str, float]
    enabled: bool
    recommended: bool
    watched: int
    hits: int
    warnings: list[Warned] = field(default_factory=list)


CONTENT = TypeAdapter(_Content)
HITS = TypeAdapter(list[Hit])


class Watchpoint:
    """A watchpoint as it was when this was asked for, or last changed through it.

    Raises NotAvailable once it is deleted.
    """

    def __init__(self, http: Http, watchpoints: str, answer: Mapping[str, Any]):
        self._http = http
        self._watchpoints = watchpoints  # path
        self._content = CONTENT.validate_python(answer)
        self._path = f"{watchpoints}/{self.id}"

    def __repr__(self) -> str:
        parameters = "".join(f" {name}={value:g}" for name, value in self.parameters.items())
        name = f" {self.name!r}" if self.name else ""
        off = "" if self.enabled else " (disabled)"
        return f"<stepscope.Watchpoint {self.id}{name} {self.condition}{parameters} on {self.watched} nodes{off}>"

    @property
    def id(self) -> int:
        return self._content.id

    @property
    def name(self) -> str:
        return self._content.name

    @property
    def condition(self) -> str:
        return self._content.condition

    @property
    def parameters(self) -> dict[str, float]:
        """The given ones."""
        return dict(self._content.parameters)

    @property
    def enabled(self) -> bool:
        return self._content.enabled

    @property
    def recommended(self) -> bool:
        """Whether it came with the recommended set."""
        return self._content.recommended

    @property
    def watched(self) -> int:
        """How many nodes it covers."""
        return self._content.watched

    @property
    def hits(self) -> int:
        """How many the last check has found; `Job.hits(watchpoint=…)` are they."""
        return self._content.hits

    @property
    def warnings(self) -> list[Warned]:
        """What makes it of no use, such as a threshold that is always met."""
        return list(self._content.warnings)

    def update(
        self,
        condition: str | None = None,
        *,
        name: str | None = None,
        enabled: bool | None = None,
        **parameters: float | str | None,
    ) -> None:
        """Change what is given. A parameter of None is taken away; another condition starts without the old ones."""
        old = self._content.parameters if condition in (None, self.condition) else {}
        new = {key: value for key, value in {**old, **parameters}.items() if value is not None}
        changes = {"condition": condition, "name": name, "enabled": enabled}
        body: dict[str, Any] = {key: value for key, value in changes.items() if value is not None}
        if parameters or condition is not None:
            body["parameters"] = new
        self._content = CONTENT.validate_python(self._http.patch(self._path, body))

    def enable(self) -> None:
        self.update(enabled=True)

    def disable(self) -> None:
        """Keep it, but check it no more."""
        self.update(enabled=False)

    def tick(
        self,
        nodes: Nodes | None = None,
        scope: str | Iterable[str] | None = None,
        on: bool = True,
        graph: str | None = None,
    ) -> None:
        """Watch these nodes and all below these scopes, too; with `on` False no longer."""
        rules = ticks(nodes, scope, on, graph)
        self._content = CONTENT.validate_python(self._http.post(f"{self._path}/ticks", {"ticks": rules}))

    def untick(
        self, nodes: Nodes | None = None, scope: str | Iterable[str] | None = None, graph: str | None = None
    ) -> None:
        """Watch these nodes, and all below these scopes, no longer."""
        self.tick(nodes, scope, False, graph)

    def duplicate(self) -> Watchpoint:
        """A second one with the same condition, parameters and nodes."""
        return Watchpoint(self._http, self._watchpoints, self._http.post(f"{self._path}/duplicate", {}))

    def delete(self) -> None:
        self._http.delete(self._path)


def ticks(
    nodes: Nodes | None, scopes: str | Iterable[str] | None, on: bool = True, graph: str | None = None
) -> list[dict[str, Any]]:
    """As the web API takes them. A scope's tick comes first, so that a node's, which is more exact, goes before it."""
    names: Iterable[str | Node] = [nodes] if isinstance(nodes, str | Node) else nodes or ()
    paths = [scopes] if isinstance(scopes, str) else scopes or ()
    return [{"path": path, "scope": True, "on": on, "graph": graph or ""} for path in paths] + [
        {
            "path": each.name if isinstance(each, Node) else str(each),
            "scope": False,
            "on": on,
            "graph": graph or (each.graph if isinstance(each, Node | NodeName) else ""),
        }
        for each in names
    ]
