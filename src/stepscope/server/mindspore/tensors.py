"""The client's tensors: asked for together, put together from their parts, kept while there is room.

Invariants: a tensor that is on its way is not asked for again; what is kept is of the present step and node only.
"""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from typing import NamedTuple

from stepscope.core.errors import NotAvailable
from stepscope.core.ports import Tensor, TensorStats
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.protocol.values import array, type_name
from stepscope.server.mindspore.names import slot_of

KEPT_BYTES = 1 << 30
MOST_BYTES = 4 << 30  # of one tensor


class Wanted(NamedTuple):
    """A tensor as the client knows it. `truncate`: only what stands behind the last slash of its name counts."""

    name: str
    slot: int
    previous: bool = False
    truncate: bool = False

    def to_proto(self) -> pb.TensorProto:
        return pb.TensorProto(
            node_name=self.name,
            slot=str(self.slot),
            iter="prev" if self.previous else "",
            truncate=self.truncate,
            finished=False,
        )


class ClientTensors:
    """`asked` are tensors that the client has to be asked for when it next calls."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Wanted, Tensor] = OrderedDict()
        self._waiting: dict[Wanted, asyncio.Future[Tensor]] = {}
        self._stats_waiting: dict[Wanted, asyncio.Future[TensorStats]] = {}
        self.asked: list[Wanted] = []
        self.stats_asked: list[Wanted] = []
        self._stats_order: list[Wanted] = []  # figures carry no names: they come in the order of the last question

    def get(self, wanted: Wanted) -> asyncio.Future[Tensor]:
        """The tensor, once it is there; not to be cancelled: others may wait for it, too."""
        if wanted in self._waiting:
            return self._waiting[wanted]
        future: asyncio.Future[Tensor] = asyncio.get_running_loop().create_future()
        kept = self._kept.get(wanted)
        if kept is not None:
            self._kept.move_to_end(wanted)
            future.set_result(kept)
        else:
            self._waiting[wanted] = future
            self.asked.append(wanted)
        return future

    def get_stats(self, wanted: Wanted) -> asyncio.Future[TensorStats]:
        """The client's own figures: without mean |x| and standard deviation."""
        if wanted not in self._stats_waiting:
            self._stats_waiting[wanted] = asyncio.get_running_loop().create_future()
            self.stats_asked.append(wanted)
        return self._stats_waiting[wanted]

    def next_view(self) -> pb.ViewCMD | None:
        """What to ask for now: all that is wanted, in one command."""
        if self.asked:
            asked, self.asked = self.asked, []
            return pb.ViewCMD(tensors=[one.to_proto() for one in asked], level=pb.ViewCMD.value)
        if self.stats_asked:
            self._stats_order, self.stats_asked = self.stats_asked, []
            return pb.ViewCMD(tensors=[one.to_proto() for one in self._stats_order], level=pb.ViewCMD.statistics)
        return None

    def came(self, tensor: pb.TensorProto, content: bytes, step: int, within: bool) -> None:
        """One tensor whose parts are all there; `tensor` is the last of them.

        step: the last one that is complete; `within`: the training stands in the one after it, to which the outputs of
            nodes belong, while parameters are as they were before.
        """
        previous = tensor.iter == "prev"
        slot = slot_of(tensor)
        waiting = [
            one
            for one in self._waiting
            if one.slot == slot and one.previous == previous and _same_name(one, tensor.node_name)
        ]
        for one in waiting:
            future = self._waiting.pop(one)
            if future.done():
                continue
            value = self._decoded(tensor, content, step - previous + (within and not one.truncate))
            if isinstance(value, str):
                future.set_exception(NotAvailable(value))
            else:
                self._keep(one, value)
                future.set_result(value)

    def stats_came(self, summaries: list[pb.TensorSummary], step: int) -> None:
        order, self._stats_order = self._stats_order, []
        for one, summary in zip(order, summaries, strict=False):
            future = self._stats_waiting.pop(one, None)
            if future is not None and not future.done():
                future.set_result(_stats(summary, step - one.previous))
        self._fail(self._stats_waiting, order[len(summaries) :], "the training process sent no figures")

    def answered(self) -> None:
        """The client has sent all that it has of the last question."""
        unanswered = [one for one in self._waiting if one not in self.asked]
        self._fail(self._waiting, unanswered, "the training process did not send this tensor")
        order, self._stats_order = self._stats_order, []
        self._fail(self._stats_waiting, order, "the training process sent no figures")

    def moved_on(self, why: str) -> None:
        """The training runs: the values of before are gone."""
        self._kept.clear()
        self.asked, self.stats_asked, self._stats_order = [], [], []
        self._fail(self._waiting, list(self._waiting), why)
        self._fail(self._stats_waiting, list(self._stats_waiting), why)

    def _keep(self, wanted: Wanted, tensor: Tensor) -> None:
        self._kept[wanted] = tensor
        while len(self._kept) > 1 and sum(one.array.nbytes for one in self._kept.values()) > KEPT_BYTES:
            self._kept.popitem(last=False)

    @staticmethod
    def _decoded(tensor: pb.TensorProto, content: bytes, step: int) -> Tensor | str:
        """The value, or why there is none."""
        if (not content and math.prod(tensor.dims) != 0) or not tensor.HasField("data_type"):
            return "the training process holds no value of it: on GPU, only what is watched is fetched from the device"
        decoded = array(pb.TensorProto(dims=tensor.dims, data_type=tensor.data_type, tensor_content=content))
        if decoded is None or decoded.dtype.kind not in "biufc":
            what = f"a tensor of type {type_name(tensor.data_type) or 'unknown'} and shape {list(tensor.dims)}"
            return f"the training process sent {len(content)} bytes for {what}"
        return Tensor(decoded, type_name(tensor.data_type), tuple(tensor.dims), step)

    @staticmethod
    def _fail(waiting: dict, which: list[Wanted], why: str) -> None:  # type: ignore[type-arg]
        for one in which:
            future = waiting.pop(one, None)
            if future is not None and not future.done():
                future.set_exception(NotAvailable(why))
                future.exception()  # whoever asked may have gone


def _same_name(one: Wanted, name: str) -> bool:
    return one.name == name or (one.truncate and one.name.rpartition("/")[2] == name.rpartition("/")[2])


def _stats(summary: pb.TensorSummary, step: int) -> TensorStats:
    base, figures = summary.tensor_base, summary.statistics
    finite = figures.count - figures.nan_count - figures.neg_inf_count - figures.pos_inf_count
    low, high, mean = (
        (figures.min_value, figures.max_value, figures.avg_value) if finite > 0 else (math.nan, math.nan, math.nan)
    )
    return TensorStats(
        dtype=type_name(base.data_type),
        shape=tuple(base.shape),
        step=step,
        count=figures.count,
        min=low,
        max=high,
        mean=mean,
        abs_mean=math.nan,
        std=math.nan,
        zero_count=figures.zero_count,
        negative_count=figures.neg_zero_count + figures.neg_inf_count,
        positive_count=figures.pos_zero_count + figures.pos_inf_count,
        nan_count=figures.nan_count,
        negative_inf_count=figures.neg_inf_count,
        positive_inf_count=figures.pos_inf_count,
    )
