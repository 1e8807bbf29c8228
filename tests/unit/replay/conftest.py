"""A recording of two steps of the small training."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_training import ROLES, record, training_graph

from stepscope.replay.mindspore import Recording
from stepscope.testing.dumps import DumpFolder


@pytest.fixture
def dump(tmp_path: Path) -> DumpFolder:
    return DumpFolder(tmp_path)


@pytest.fixture
def recording(dump: DumpFolder) -> Recording:
    """Steps 3 and 4, of which the training stands after the latter."""
    made = Recording(dump.path)
    made.add_graph(0, dump.write_graph(0, training_graph()), ROLES)
    record(dump, 3)
    record(dump, 4, add=0.5)
    made.set_steps((3, 4), 4)
    return made
