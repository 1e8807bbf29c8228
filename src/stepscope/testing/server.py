"""A real server in a thread, on free ports of the loopback address."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

from stepscope.server.app import running
from stepscope.server.settings import ServerAddress, Settings


class ServerThread:
    """Up once the constructor returns; StartError where it can't start. `options` are those of `Settings`.

    Use it in a `with` block.
    """

    address: ServerAddress

    def __init__(self, workspace: Path, **options: Any):
        self._settings = Settings(**{"port": 0, "debugger_port": 0, "workspace": workspace, **options})
        self._ready = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._error:
            self._thread.join()
            raise self._error

    async def _run(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        try:
            async with running(self._settings) as self.address:
                self._ready.set()
                await self._stop.wait()
        except BaseException as error:
            self._error = error
        finally:
            self._ready.set()

    @property
    def url(self) -> str:
        return self.address.base_url

    @property
    def debugger_address(self) -> str:
        """host:port for agents."""
        address = self.address.debugger_address
        assert address is not None
        return address

    def close(self) -> None:
        if self._thread.is_alive():
            self.loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()

    def __enter__(self) -> ServerThread:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
