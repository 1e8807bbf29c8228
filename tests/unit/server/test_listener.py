"""How long a peer may be silent."""

from __future__ import annotations

from stepscope.server.grpc.listener import _options
from stepscope.server.settings import Settings


def test_a_client_in_a_long_step_has_time_to_answer():
    """gRPC in C++ looks for questions every 5 s then: measured with 1.51, where 4 s were too short."""
    seconds = Settings().keepalive_seconds
    options = dict(_options(int(seconds * 1000)))
    assert options["grpc.keepalive_timeout_ms"] == options["grpc.http2.ping_timeout_ms"] > 5500
    assert options["grpc.keepalive_time_ms"] + options["grpc.keepalive_timeout_ms"] == 2000 * seconds
