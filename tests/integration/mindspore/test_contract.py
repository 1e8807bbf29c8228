"""What every source keeps to, on a real training."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stepscope.testing.timeline import listening

sys.path.append(str(Path(__file__).parents[2] / "contract"))
from source_contract import CHECKS

pytestmark = pytest.mark.mindspore


async def test_a_training_keeps_the_contract_of_a_source(train):
    async with listening(120) as (timeline, address):
        host, _, port = address.rpartition(":")
        train("endless.py", MS_DEBUGGER_HOST=host, MS_DEBUGGER_PORT=port)
        await timeline.attached()
        for check in CHECKS:
            await check(timeline)
