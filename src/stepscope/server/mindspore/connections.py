"""Which connections stand, as Linux lists them: gRPC does not tell of one that ends while no call is open.

Elsewhere, and for what is no TCP connection, nothing is listed.
"""

from __future__ import annotations

import contextlib
import ipaddress
import sys
from collections.abc import Iterable
from pathlib import Path

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_ESTABLISHED = "01"


def standing(addresses: Iterable[str]) -> set[str]:
    """Of the far ends, each host:port, those that this machine is connected with now."""
    table = ""
    for path in _TABLES:
        with contextlib.suppress(OSError):
            table += path.read_text("ascii")
    return {address for address in addresses if (entry := _entry(address)) and entry in table}


def _entry(address: str) -> str:
    """Far end and state, as a line of the table has them one after the other; "" for what is no address."""
    host, _, port = address.rpartition(":")
    try:
        ip = ipaddress.ip_address(host.strip("[]").partition("%")[0])
        number = int(port)
    except ValueError:
        return ""
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped:
        ip = ip.ipv4_mapped
    words = (ip.packed[start : start + 4] for start in range(0, len(ip.packed), 4))
    # A whole 32-bit number each, as this machine holds it.
    digits = "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)
    # Of an IPv4 address in the other table these are the last digits.
    return f"{digits}:{number:04X} {_ESTABLISHED} "
