"""What a check of the watchpoints found, as it is shown: with names, filtered, page by page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from stepscope.core.graph.search import Names
from stepscope.core.watch.records import Hit, HitBatch, Watchpoint
from stepscope.server.models import JobView
from stepscope.server.watch.models import HitGroup, HitList, HitParameter, HitView
from stepscope.server.watch.watchpoints import State


@dataclass(frozen=True)
class Label:
    """What a watchpoint was when it was checked: it may be another one now, or gone."""

    condition: str
    name: str


@dataclass(frozen=True)
class Wanted:
    """Which hits; None is all. `node` is a full name, `pattern` a part of one, or a glob."""

    watchpoint: int | None = None
    graph: str | None = None
    node: str | None = None
    pattern: str | None = None
    rank: int | None = None
    kind: Literal["hit", "error"] | None = None
    slot: int | None = None

    def of(self, hits: Sequence[Hit], rank: int) -> list[Hit]:
        if self.rank not in (None, rank):
            return []
        found = [each for each in hits if self._takes(each)]
        if self.pattern:
            names = Names([each.node for each in found])
            found = [found[at] for at in names.matching(self.pattern, range(len(found)))]
        return found

    def _takes(self, hit: Hit) -> bool:
        return (
            self.watchpoint in (None, hit.watchpoint)
            and self.graph in (None, hit.graph)
            and self.node in (None, hit.node)
            and self.slot in (None, hit.slot)
            and (self.kind is None or self.kind == ("error" if hit.error else "hit"))
        )


@dataclass(frozen=True)
class Checked:
    """A batch of hits. Immutable, so that it may be looked through in a thread."""

    batch: HitBatch = field(default_factory=lambda: HitBatch(0, 0))
    labels: Mapping[int, Label] = field(default_factory=dict)

    @classmethod
    def of(cls, batch: HitBatch, watchpoints: Sequence[Watchpoint]) -> Checked:
        """`watchpoints` are those that were checked. Hits of others are left out: there is nothing to say of them."""
        labels = {each.id: Label(each.condition, each.name) for each in watchpoints}
        hits = tuple(each for each in batch.hits if each.watchpoint in labels)
        used = {each.watchpoint for each in hits}
        kept = {id: label for id, label in labels.items() if id in used}
        return cls(HitBatch(batch.step, batch.revision, hits, batch.warning), kept)

    @cached_property
    def counts(self) -> Counter[int]:
        """How many each watchpoint has."""
        return Counter(each.watchpoint for each in self.batch.hits)

    def view(
        self, wanted: Wanted, job: JobView, state: State, steps: list[int], offset: int = 0, limit: int = 500
    ) -> HitList:
        batch = self.batch
        found = wanted.of(batch.hits, job.rank)
        groups = Counter(each.graph for each in found)  # keeps the order of first sight
        order = {graph: number for number, graph in enumerate(groups)}
        found.sort(key=lambda each: order[each.graph])  # stable
        names = {each.id: each.name for each in state.watchpoints}
        return HitList(
            total=len(found),
            all=len(batch.hits),
            step=batch.step,
            revision=batch.revision,
            outdated=job.hits_revision > 0 and (batch.revision < state.checked_since or batch.step != job.step),
            warning=batch.warning,
            graphs=[HitGroup(graph=graph, total=total) for graph, total in groups.items()],
            steps=steps,
            hits=[self._row(each, job.rank, names) for each in found[offset : offset + limit]],
        )

    def _row(self, hit: Hit, rank: int, names: Mapping[int, str]) -> HitView:
        label = self.labels[hit.watchpoint]
        return HitView(
            step=hit.step,
            graph=hit.graph,
            node=hit.node,
            slot=hit.slot,
            rank=rank,
            watchpoint=hit.watchpoint,
            watchpoint_name=names.get(hit.watchpoint, label.name),
            condition=label.condition,
            params=[HitParameter.model_validate(each) for each in hit.params],
            error=sorted(hit.error),
            position=hit.position,
        )
