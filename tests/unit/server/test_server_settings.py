"""Start options, checked before anything is opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepscope.server.errors import StartError
from stepscope.server.settings import ServerAddress, Settings, is_loopback


@pytest.mark.parametrize("host", ["127.0.0.1", "127.3.2.1", "::1", "localhost", "LocalHost"])
def test_this_machine_needs_no_token(host):
    assert is_loopback(host)
    assert Settings(host=host).checked().token is None


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "my-machine", "localhost.evil.example"])
def test_all_else_gets_one(host):
    assert not is_loopback(host)
    first, second = Settings(host=host).checked().token, Settings(host=host).checked().token
    assert len(first) >= 32
    assert first != second
    assert Settings(host=host, token="mine").checked().token == "mine"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (Settings(port=65536), "--port 65536 is not a port"),
        (Settings(debugger_port=-1), "--debugger-port -1 is not a port"),
        (Settings(port=8080, debugger_port=8080), "both 8080"),
        (Settings(token="has space"), "the token may have"),
        (Settings(token=""), "the token may have"),
        (Settings(token="x\ny"), "the token may have"),
    ],
)
def test_what_can_not_be_is_one_clear_line(settings, message):
    with pytest.raises(StartError, match=message) as error:
        settings.checked()
    assert "\n" not in str(error.value)


def test_equal_ports_are_fine_without_a_debugger():
    Settings(port=8080, debugger_port=8080, enable_debugger=False).checked()
    Settings(port=0, debugger_port=0).checked()


def test_the_address_is_ready_to_click():
    address = ServerAddress("http://127.0.0.1:1", "::1", 2, "secret", Path())
    assert address.url == "http://127.0.0.1:1/?token=secret"
    assert address.debugger_address == "[::1]:2"
    assert ServerAddress("http://h:1", "h", None, None, Path()).url == "http://h:1/"
