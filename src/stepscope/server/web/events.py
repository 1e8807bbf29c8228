"""The WebSocket /api/events: everything that changes, as it changes."""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Query, WebSocket, WebSocketDisconnect
from pydantic import TypeAdapter

from stepscope.server.models import Event
from stepscope.server.web.state import Services

EVENT: TypeAdapter[Event] = TypeAdapter(Event)

router = APIRouter()


@router.websocket("/api/events")
async def events(socket: WebSocket, since: Annotated[int | None, Query()] = None) -> None:
    of: Services = socket.app.state.services
    await socket.accept()
    sending = asyncio.create_task(_send(socket, of, since))
    try:
        while (await socket.receive())["type"] != "websocket.disconnect":  # what a page says is of no interest
            pass
    finally:
        sending.cancel()
        with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
            await sending


async def _send(socket: WebSocket, of: Services, since: int | None) -> None:
    async with aclosing(of.events.follow(since, of.server)) as news:
        async for event in news:
            await socket.send_text(EVENT.dump_json(event).decode())
    await socket.close(1012, "the server stops")
