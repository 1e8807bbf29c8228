"""The clients that are there, and whose connection broke.

A client makes all its calls over one connection, which tells trainings apart: a second one is a second job. One that
had to connect again goes on with its calls, and is known by its machine and device where nobody else is like it.

Where a call is open, gRPC tells that the connection broke. While a step runs none is: then the system is asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import secrets
import time
from collections.abc import Coroutine
from typing import Any

from stepscope.core.errors import StepscopeError
from stepscope.core.ports import Farewell, SourceInfo
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.server.errors import Refused
from stepscope.server.jobs import Registry
from stepscope.server.mindspore.connections import standing
from stepscope.server.mindspore.signs import Signs
from stepscope.server.mindspore.source import ClientSource
from stepscope.server.settings import MAX_NAME

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0  # between two looks at the connections
_MOST_AWAY = 20
BROKEN = "the connection to the training process broke"
_SILENT = "the training process gives no sign of life any more"


class Peer:
    """A training at the other end of a connection; `order` keeps what it tells in the order in which it came."""

    def __init__(self, source: ClientSource, address: str, peers: Peers) -> None:
        self.source = source
        self.address = address  # in gRPC's words
        self.is_listed = False  # whether the system tells of its connection
        self.order = asyncio.Lock()
        self.signs = Signs(lambda: peers.lose(self, _SILENT))


class Peers:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._here: dict[str, Peer] = {}  # by address
        self._away: list[Peer] = []
        self._early: dict[str, list[pb.WatchpointHit]] = {}  # by address, of whom we don't know yet who it is
        self._tasks: set[asyncio.Task[None]] = set()
        self._looking: asyncio.Task[None] | None = None

    def get(self, address: str) -> Peer | None:
        return self._here.get(address)

    async def begin(self, request: pb.Metadata, address: str) -> Peer | None:
        """A training that was not here before; None where the server does not take it."""
        info = SourceInfo(
            job_id=secrets.token_hex(8),
            framework="mindspore",
            framework_version=request.ms_version[:MAX_NAME],
            device=_device(request),
            host=_host(address),
            stepping="forward" if request.backend == "GPU" else "steps",
            started_at=time.time(),
        )
        source = ClientSource(info, version_of(request.ms_version), self._registry)
        is_listed = await _is_listed(address)
        try:
            await self._registry.attach(source, readable(address))
        except Refused as refusal:
            log.warning("%s: %s", address, refusal)
            return None
        peer = Peer(source, address, self)
        self._is_here(peer, address, is_listed)
        return peer

    async def come_back(self, request: pb.Metadata, address: str) -> Peer | None:
        """A training that had to connect again; None where it can't be told which one that is.

        Where the system does not tell of connections, the old one may still count as there.
        """
        await self._look()
        is_listed = await _is_listed(address)

        def is_it(peer: Peer) -> bool:
            return peer.source.is_of(_host(address), _device(request)) and peer.source.may_be_in(request.cur_step)

        idle = (peer for peer in self._here.values() if not peer.is_listed and not peer.signs.busy)
        found = [*filter(is_it, self._away)] or [*filter(is_it, idle)]
        if len(found) != 1:
            return None
        peer = found[0]
        if peer in self._away:
            self._away.remove(peer)
        else:
            del self._here[peer.address]
        self._is_here(peer, address, is_listed)
        peer.source.comes_back()
        peer.source.hits(self._early.pop(address, []))
        try:
            await self._registry.attach(peer.source, readable(address))
        except Refused as refusal:  # its job was deleted, or has ended
            self._here.pop(address, None)
            peer.source.close(str(refusal))
            return None
        return peer

    def keep(self, hits: list[pb.WatchpointHit], address: str) -> None:
        """Hits that came over a new connection: they are known by the call that comes next."""
        kept = self._early.pop(address, [])
        for oldest in list(self._early)[: 1 - _MOST_AWAY]:
            del self._early[oldest]
        self._early[address] = kept + hits

    async def end(self, peer: Peer, farewell: Farewell) -> None:
        """The training is over."""
        self._forget(peer)
        peer.source.close("the training has ended")
        with contextlib.suppress(StepscopeError):
            await self._registry.farewell(peer.source, farewell)

    def lose(self, peer: Peer, why: str) -> None:
        """It can't be reached any more, and may come back."""
        if self._here.get(peer.address) is not peer:
            return
        self._forget(peer)
        if peer.source.ending:
            self._spawn(self.end(peer, Farewell("terminated")))
            return
        peer.source.close(why)
        self._away = [*self._away[1 - _MOST_AWAY :], peer]
        self._spawn(self._detach(peer, why))

    async def _detach(self, peer: Peer, why: str) -> None:
        if peer.source.gone:  # it may be back by now
            await self._registry.detach(peer.source, why)

    def close(self, why: str) -> None:
        if self._looking is not None:
            self._looking.cancel()
        for peer in self._here.values():
            peer.signs.stop()
            peer.source.close(why)

    def _is_here(self, peer: Peer, address: str, is_listed: bool) -> None:
        peer.address, peer.is_listed = address, is_listed
        self._here[address] = peer
        if self._looking is None or self._looking.done():
            self._looking = asyncio.ensure_future(self._keep_looking())

    async def _keep_looking(self) -> None:
        while self._here:
            await asyncio.sleep(LOOK_SECONDS)
            await self._look()

    async def _look(self) -> None:
        """Lose those whose connection is gone."""
        quiet = {peer.address: peer for peer in self._here.values() if peer.is_listed and not peer.signs.busy}
        if not quiet:
            return
        there = await asyncio.to_thread(standing, [readable(address) for address in quiet])
        for address, peer in quiet.items():
            if readable(address) not in there and address == peer.address:
                self.lose(peer, BROKEN)

    def _forget(self, peer: Peer) -> None:
        peer.signs.stop()
        if self._here.get(peer.address) is peer:
            del self._here[peer.address]

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _is_listed(address: str) -> bool:
    return bool(await asyncio.to_thread(standing, [readable(address)]))


def version_of(text: str) -> tuple[int, ...]:
    """(1, 2) of "1.2.0-rc1"; (1, 1) where there is none: clients that old don't tell."""
    found = re.match(r"(\d{1,4})\.(\d{1,4})", text)
    return tuple(map(int, found.groups())) if found else (1, 1)


def _device(request: pb.Metadata) -> str:
    """ "GPU 0"; of "0:0", the name that the client gives its device, the part in front counts."""
    return f"{request.backend or 'Ascend'} {request.device_name.partition(':')[0]}".strip()[:MAX_NAME]


def _host(address: str) -> str:
    return readable(address).rpartition(":")[0].strip("[]")


def readable(address: str) -> str:
    """The peer as host:port, out of gRPC's "ipv4:127.0.0.1:1234"."""
    return address.partition(":")[2].replace("%5B", "[").replace("%5D", "]")
