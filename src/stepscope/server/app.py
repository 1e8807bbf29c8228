"""The composition root: puts a server together, and takes it apart again.

Everything runs on one asyncio loop. Both ports are bound before anything is told of them; what fails until then is one
StartError. On the way down, those who wait are let go first, so that nothing has to be waited for.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.types import ASGIApp

import stepscope
from stepscope.server.advice.service import Advice
from stepscope.server.errors import StartError
from stepscope.server.events import EventBus
from stepscope.server.graphs import Graphs
from stepscope.server.grpc.listener import Listener
from stepscope.server.jobs import Jobs
from stepscope.server.models import ServerInfo
from stepscope.server.settings import ServerAddress, Settings
from stepscope.server.store import Store
from stepscope.server.watch.service import Watching
from stepscope.server.web.app import build
from stepscope.server.web.state import Services
from stepscope.server.workspace import RunningServer, Workspace

_STOP_SECONDS = 3  # for answers that are on their way


def serve(settings: Settings, on_ready: Callable[[ServerAddress], None] | None = None) -> None:
    """Run a server until SIGINT or SIGTERM; `on_ready` is called once both ports answer.

    Raises StartError, with one clear line, where it can't start.
    """

    async def run() -> None:
        stop = asyncio.Event()
        async with running(settings) as address:
            loop = asyncio.get_running_loop()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, stop.set)
            if on_ready:
                on_ready(address)
            await stop.wait()

    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # what a peer does wrong is not for our user's terminal
    asyncio.run(run())


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[ServerAddress]:
    """A server, for as long as the block lasts. Raises StartError."""
    settings = settings.checked()
    async with contextlib.AsyncExitStack() as stack:
        workspace = Workspace(settings.workspace)
        stack.callback(workspace.close)
        store = Store(workspace.path / "stepscope.db")
        stack.callback(store.close)
        events = EventBus()
        jobs = Jobs(store, Graphs(store), events)

        web_socket = _bind(settings.host, settings.port, "--port")
        stack.callback(web_socket.close)
        host, port = web_socket.getsockname()[:2]
        debugger_port = None
        if settings.enable_debugger:
            _bind(host, settings.debugger_port, "--debugger-port").close()  # gRPC's own errors say nothing
            web_address = _address(settings, host, port, None).base_url
            listener = Listener(jobs, settings, web_address)
            await listener.start(host, settings.debugger_port)
            stack.push_async_callback(listener.stop)
            debugger_port = listener.port

        address = _address(settings, host, port, debugger_port)
        info = ServerInfo(
            version=stepscope.__version__,
            address=address.base_url,
            debugger_address=address.debugger_address,
            workspace=str(workspace.path),
        )
        services = Services(jobs, events, info, Watching(jobs), Advice(jobs))
        web = _Web(build(services, settings.host, port, settings.token))
        task = asyncio.create_task(web.serve(sockets=[web_socket]))
        ready = asyncio.create_task(web.ready.wait())
        await asyncio.wait((task, ready), return_when=asyncio.FIRST_COMPLETED)
        if task.done():  # before it was ready
            task.result()
            raise StartError(f"the web API can't be served on {host}:{port}")
        workspace.announce(
            RunningServer(
                pid=os.getpid(),
                url=address.base_url,
                debugger_host=address.debugger_host,
                debugger_port=debugger_port,
                token=settings.token,
                version=stepscope.__version__,
            )
        )
        try:
            yield address
        finally:
            jobs.close()
            events.close()
            web.should_exit = True
            await task


class _Web(uvicorn.Server):
    """uvicorn on a socket that is bound already, inside our loop; signals are ours."""

    def __init__(self, app: ASGIApp):
        super().__init__(
            uvicorn.Config(
                app,
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                ws_max_size=64 * 1024,
                timeout_graceful_shutdown=_STOP_SECONDS,
            )
        )
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _bind(host: str, port: int, option: str) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise StartError(f"--host {host}: there is no such address") from None
    # "localhost" is both 127.0.0.1 and ::1 on many machines: the one that everyone tries.
    family, _, _, _, address = min(found, key=lambda each: each[0] != socket.AF_INET)
    try:
        bound = socket.create_server(address[:2], family=family, backlog=256)
        # Connections inherit it. asyncio sets it only where it knows the protocol; without it an answer waits 40 ms.
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return bound
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        raise StartError(f"{option} {port} on {host} can't be used: {why.lower()}") from None


def _address(settings: Settings, host: str, port: int, debugger_port: int | None) -> ServerAddress:
    everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}
    shown = everywhere.get(host, settings.host)
    name = f"[{shown}]" if ":" in shown else shown
    return ServerAddress(
        base_url=f"http://{name}:{port}",
        debugger_host=everywhere.get(host, host),
        debugger_port=debugger_port,
        token=settings.token,
        workspace=settings.workspace,
    )
