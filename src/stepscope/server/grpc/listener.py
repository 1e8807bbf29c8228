"""The gRPC server around the service: its port, its limits, its signs of life."""

from __future__ import annotations

import grpc

from stepscope.protocol.gen.stepscope_pb2_grpc import add_EventListenerServicer_to_server
from stepscope.server.errors import StartError
from stepscope.server.grpc.service import EventListener
from stepscope.server.jobs import STOPPED, Registry
from stepscope.server.settings import MAX_MESSAGE, Settings

_STOP_SECONDS = 1.0  # for streams to end in order


class Listener:
    """Listens once `start` has returned. `port` is the one that was bound; `web` is where people find the server."""

    def __init__(self, registry: Registry, settings: Settings | None = None, web: str = ""):
        settings = settings or Settings()
        self.port = 0
        self._service = EventListener(registry, settings.token, web, settings.original_clients)
        self._server = grpc.aio.server(options=_options(int(settings.keepalive_seconds * 1000)))
        add_EventListenerServicer_to_server(self._service, self._server)

    async def start(self, host: str, port: int) -> None:
        """Raises StartError where the port can't be had."""
        try:
            self.port = self._server.add_insecure_port(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
        except RuntimeError as error:
            raise StartError(f"--debugger-port {port} on {host} can't be used: {error}") from None
        await self._server.start()

    async def stop(self) -> None:
        self._service.close(STOPPED)
        await self._server.stop(_STOP_SECONDS)


def _options(keepalive: int) -> list[tuple[str, int]]:
    """A peer that gives no sign of life for twice `keepalive` milliseconds is gone.

    Most of that time is for the answer: gRPC in C++ gives one every 5 s only while no call is open, as MindSpore's own
    clients in a long step.
    """
    answer = keepalive * 3 // 2
    return [
        ("grpc.so_reuseport", 0),  # else a second server would silently take half of the connections
        ("grpc.max_receive_message_length", MAX_MESSAGE),
        ("grpc.max_send_message_length", MAX_MESSAGE),
        ("grpc.keepalive_time_ms", 2 * keepalive - answer),
        ("grpc.keepalive_timeout_ms", answer),
        ("grpc.http2.ping_timeout_ms", answer),  # what newer releases of grpc go by
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.http2.min_ping_interval_without_data_ms", 2 * keepalive - answer),
        # Agents look for signs of life, too, as often as they like.
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 100),
        ("grpc.http2.max_ping_strikes", 0),
    ]
