"""Trainings with the stand-in for MindSpore's own debugger client, attached to the real service."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest

from stepscope.core.ports import TensorKey
from stepscope.core.watch.records import Rule, Selection, Watchpoint
from stepscope.testing.network import FORWARD, OPTIMIZER, Network
from stepscope.testing.original_client import OriginalClient
from stepscope.testing.original_flavours import FLAVOURS, Flavour
from stepscope.testing.timeline import listening

RELU = f"{FORWARD}/relu-ReLU/ReLU-op0"
MATMUL = f"{FORWARD}/hidden-Dense/MatMul-op0"
LAST = f"{OPTIMIZER}/ApplyMomentum-op2"
GPU, ASCEND = Flavour("1.2.0", "GPU"), Flavour("1.2.0", "Ascend")

each_flavour = pytest.mark.parametrize("flavour", FLAVOURS, ids=str)
each_gpu = pytest.mark.parametrize("flavour", [each for each in FLAVOURS if each.is_gpu], ids=str)


@asynccontextmanager
async def training(flavour: Flavour = GPU, **options):
    """A training that is attached and stands before its first step."""
    async with listening() as (timeline, address):
        client = OriginalClient(address, flavour, **options).start()
        try:
            await timeline.attached()
            await timeline.pause_after(0)
            yield timeline, client
        finally:
            await asyncio.to_thread(client.kill)
    assert client.error is None


def key(node: str, slot: int = 0, **more) -> TensorKey:
    return TensorKey(Network.graph_name, node, slot, **more)


def on(condition: str, *nodes: str, **parameters: float) -> Watchpoint:
    rules = tuple(Rule(node, True) for node in nodes)
    return Watchpoint(0, condition, parameters, Selection("none", rules=rules))
