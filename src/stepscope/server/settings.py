"""How a server is started, and the limits that it holds its peers to."""

from __future__ import annotations

import ipaddress
import re
import secrets
from dataclasses import dataclass, field, replace
from pathlib import Path

from stepscope.server.errors import StartError
from stepscope.server.workspace import default_workspace

MIB = 1 << 20

MAX_BODY = 1 * MIB  # of a request to the web API
MAX_TICKS_BODY = 32 * MIB  # of one about watchpoints: 20,000 ticks with names of 1,500 characters
MAX_MESSAGE = 16 * MIB  # of one gRPC message
MAX_GRAPH = 1024 * MIB  # of one serialised graph
MAX_NAME = 4096  # of a node, graph or scope, in characters
MAX_HIT_PARTS = 100  # messages that the hits of one step may come in
MAX_PENDING = 1000  # questions that wait for an answer of one training process
MAX_AT_ONCE = 64  # of them for one request
ANSWER_SECONDS = 60.0  # silence after which a question counts as not answered
HELLO_SECONDS = 10.0  # in which a new connection has to say who it is

_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{1,256}")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`, an address or a name."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Settings:
    """Start options. A port of 0 means any free one.

    On a loopback address a token is optional; everywhere else one is made where none is given. MindSpore's own clients
    (1.1 to 2.2) can't send one: where there is one, `original_clients` lets them in all the same.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    debugger_port: int = 50051
    enable_debugger: bool = True
    original_clients: bool = False
    workspace: Path = field(default_factory=default_workspace)
    token: str | None = None
    keepalive_seconds: float = 4.0  # twice this without a sign of life, and a connection is lost

    def checked(self) -> Settings:
        """The same with a token where one is needed; raises StartError with one clear line."""
        for option, port in (("--port", self.port), ("--debugger-port", self.debugger_port)):
            if not 0 <= port <= 65535:
                raise StartError(f"{option} {port} is not a port: 1 to 65535 are")
        if self.enable_debugger and self.port == self.debugger_port != 0:
            raise StartError(f"--port and --debugger-port are both {self.port}: they have to differ")
        token = self.token
        if token is not None and not _TOKEN.fullmatch(token):
            raise StartError("the token may have letters, digits and ._~+/=- only, 1 to 256 of them")
        if token is None and not is_loopback(self.host):
            token = secrets.token_urlsafe(24)
        return replace(self, token=token, workspace=Path(self.workspace).expanduser().absolute())


@dataclass(frozen=True)
class ServerAddress:
    """Where a running server can be reached. `url` is ready to click: with the token, where there is one."""

    base_url: str  # "http://127.0.0.1:8080"
    debugger_host: str
    debugger_port: int | None  # None: the debugger is switched off
    token: str | None
    workspace: Path

    @property
    def url(self) -> str:
        return f"{self.base_url}/?token={self.token}" if self.token else f"{self.base_url}/"

    @property
    def debugger_address(self) -> str | None:
        if self.debugger_port is None:
            return None
        host = f"[{self.debugger_host}]" if ":" in self.debugger_host else self.debugger_host
        return f"{host}:{self.debugger_port}"
