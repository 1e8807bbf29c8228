"""The values of a client's tensors: which one is meant, asked for when it next calls, worked out here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from stepscope.core import declared
from stepscope.core.errors import NotAvailable, Timeout, UnknownNode
from stepscope.core.looks import Of, Question
from stepscope.core.ports import Comparison, Tensor, TensorKey, TensorStats, When
from stepscope.core.tensors import apply_index, compare, look, stats
from stepscope.server.mindspore.client import RUNS, Client
from stepscope.server.mindspore.tensors import MOST_BYTES, Wanted
from stepscope.server.settings import ANSWER_SECONDS

FETCHED = 1 << 30  # bytes of a tensor from which on only its figures are asked for
_FIGURES_SINCE = (1, 5)

A = TypeVar("A")


class Values:
    """The queries of `Source`. `wake` is called when there is something to ask the client for."""

    def __init__(self, client: Client, wake: Callable[[], None]) -> None:
        self._client = client
        self._wake = wake

    async def tensor(self, key: TensorKey, index: str | None = None) -> Tensor:
        tensor = await self._whole(key)
        return replace(tensor, array=apply_index(tensor.array, index))

    async def stats(self, key: TensorKey) -> TensorStats:
        wanted = self._wanted(key)
        knows_figures = self._client.version >= _FIGURES_SINCE
        if isinstance(wanted, Wanted) and knows_figures and self._declared(key) > FETCHED:
            return await self._patiently(self._client.tensors.get_stats(wanted))
        tensor = await self._whole(key)
        return await asyncio.to_thread(stats, tensor.array, tensor.dtype, tensor.step)

    async def compare(self, key: TensorKey) -> Comparison:
        now, before = await asyncio.gather(*(self._whole(replace(key, when=when)) for when in ("current", "previous")))
        return await asyncio.to_thread(compare, now.array, before.array, now.dtype, now.step, before.step)

    async def look(self, key: TensorKey, question: Question[A]) -> A:
        of: Of = getattr(question, "of", "difference")
        whens: tuple[When, ...] = ("current", "previous") if of == "difference" else (of,)
        tensors = await asyncio.gather(*(self._whole(replace(key, when=when)) for when in whens))
        values = dict(zip(whens, tensors, strict=True))
        return await asyncio.to_thread(look, question, lambda when: values[when])

    async def _whole(self, key: TensorKey) -> Tensor:
        wanted = self._wanted(key)
        if isinstance(wanted, Tensor):
            return wanted
        if self._declared(key) > MOST_BYTES:
            raise NotAvailable(f"the tensor has more than {MOST_BYTES >> 30} GiB: it is not fetched", code="too_large")
        return await self._patiently(self._client.tensors.get(wanted))

    def _wanted(self, key: TensorKey) -> Wanted | Tensor:
        """How to ask for a tensor; itself, where the graph has it. Raises what `Source` says."""
        client = self._client
        graph = client.graphs.get(key.graph)
        if graph is None:
            raise UnknownNode(f"the job has no graph {key.graph!r}", list(client.graphs)[:5])
        name, slot = key.node, key.slot
        if key.input is not None:
            ports = [port for port in graph.node(name).inputs if port.index == key.input and not port.control]
            if len(ports) != 1 or not ports[0].node:
                raise NotAvailable(f"input {key.input} of {name} has no value of its own", code="no_slot")
            name, slot = ports[0].node, ports[0].slot
        home = graph.resolve(name, slot)
        if home.kind == "constant":
            return declared.constant(graph.node(home.name), client.last.step)
        if client.gone:
            raise NotAvailable(client.gone, code="gone")
        if not client.paused:
            raise NotAvailable(RUNS, code="running")
        wire = client.names.of(key.graph, home.name)
        if client.last.step == 0 and not wire.is_parameter and not client.within:
            raise NotAvailable(f"{key.node} has not run yet", code="no_step")
        return Wanted(wire.name, home.slot, self._is_previous(key, wire.is_parameter), wire.is_parameter)

    def _is_previous(self, key: TensorKey, is_parameter: bool) -> bool:
        """Whether the value of before the step is meant."""
        step = self._client.last.step
        if key.when == "previous":
            if not is_parameter:
                what = "MindSpore's own debugger client keeps the previous value of parameters only"
                raise NotAvailable(what, code="not_told")
            if step == 0 or key.input is not None:
                raise NotAvailable("there is no step before this one that is known", code="no_previous")
            return True
        # What a node has read: at the end of a step the optimizer has written over it.
        return is_parameter and key.input is not None and step > 0 and not self._client.within

    def _declared(self, key: TensorKey) -> int:
        types = self._client.graphs[key.graph].output_types(key.node) if key.input is None else ()
        return declared.size(types[key.slot]) if key.slot < len(types) else 0

    async def _patiently(self, answer: asyncio.Future[A]) -> A:
        self._wake()  # now that it is known what is wanted
        try:
            return await asyncio.wait_for(asyncio.shield(answer), ANSWER_SECONDS)
        except asyncio.TimeoutError:
            raise Timeout(f"no answer from the training process for {ANSWER_SECONDS:.0f} s") from None
