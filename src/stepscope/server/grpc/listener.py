"""The gRPC server around the service: its port, its limits, its signs of life."""

from __future__ import annotations

import grpc

from stepscope.protocol.gen.stepscope_pb2_grpc import add_EventListenerServicer_to_server
from stepscope.server.errors import StartError
from stepscope.server.grpc.service import EventListener
from stepscope.server.jobs import Registry
from stepscope.server.settings import MAX_MESSAGE


async def listen(
    registry: Registry, host: str, port: int, token: str | None = None, keepalive_seconds: float = 4.0
) -> tuple[grpc.aio.Server, int]:
    """A running server and its port. A peer that gives no sign of life for twice `keepalive_seconds` is gone."""
    keepalive = int(keepalive_seconds * 1000)
    server = grpc.aio.server(
        options=[
            ("grpc.so_reuseport", 0),  # else a second server would silently take half of the connections
            ("grpc.max_receive_message_length", MAX_MESSAGE),
            ("grpc.max_send_message_length", MAX_MESSAGE),
            ("grpc.keepalive_time_ms", keepalive),
            ("grpc.keepalive_timeout_ms", keepalive),
            ("grpc.http2.ping_timeout_ms", keepalive),  # what newer releases of grpc go by
            ("grpc.keepalive_permit_without_calls", 1),
            ("grpc.http2.max_pings_without_data", 0),
            ("grpc.http2.min_ping_interval_without_data_ms", keepalive),
            # Agents look for signs of life, too, as often as they like.
            ("grpc.http2.min_recv_ping_interval_without_data_ms", 100),
            ("grpc.http2.max_ping_strikes", 0),
        ]
    )
    add_EventListenerServicer_to_server(EventListener(registry, token), server)
    try:
        bound = server.add_insecure_port(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
    except RuntimeError as error:
        raise StartError(f"--debugger-port {port} on {host} can't be used: {error}") from None
    await server.start()
    return server, bound
