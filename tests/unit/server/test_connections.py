"""The far ends of connections of this process, as the system lists them."""

from __future__ import annotations

import socket
import sys

import pytest

from stepscope.server.mindspore.connections import standing


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not list connections")
@pytest.mark.parametrize(
    ("family", "bound", "connected"),
    [
        (socket.AF_INET, "127.0.0.1", "127.0.0.1"),
        (socket.AF_INET6, "::1", "::1"),
        (socket.AF_INET6, "::", "127.0.0.1"),  # an address of one kind on a socket of the other
    ],
)
def test_a_connection_stands_until_it_is_closed(family, bound, connected):
    with socket.create_server((bound, 0), family=family, dualstack_ipv6=bound == "::") as server:
        with socket.create_connection((connected, server.getsockname()[1])) as client:
            accepted, _ = server.accept()
            host, port = client.getsockname()[:2]
            address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
            assert standing([address, "127.0.0.1:1", "192.0.2.1:80"]) == {address}
            if ":" not in host:
                assert standing([f"[::ffff:{host}]:{port}"])
        with accepted:
            assert standing([address]) == set()


@pytest.mark.parametrize("text", ["", "/tmp/socket", "host:80", "127.0.0.1:", "127.0.0.1:99999999999"])
def test_what_is_no_address_is_not_listed(text):
    assert standing([text]) == set()
