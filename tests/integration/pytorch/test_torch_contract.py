"""What every source keeps to, on a real training of PyTorch."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stepscope.testing.timeline import listening

sys.path.append(str(Path(__file__).parents[2] / "contract"))
from source_contract import LIVE_CHECKS

pytestmark = pytest.mark.torch


async def test_a_training_keeps_the_contract_of_a_live_source(train):
    async with listening(120) as (timeline, address):
        host, _, port = address.rpartition(":")
        train("endless.py", STEPSCOPE_HOST=host, STEPSCOPE_PORT=port)
        await timeline.attached()
        for check in LIVE_CHECKS:
            await check(timeline)
