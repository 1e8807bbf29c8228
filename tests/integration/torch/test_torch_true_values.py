"""Every value that is shown is the one that a mode of the test's own copied in a run without the debugger."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from trainings import step_on

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.torch

SCRIPTS = Path(__file__).parent / "scripts"


def recorded_run(train, tmp_path: Path, kind: str) -> list:
    file = tmp_path / f"{kind}.pt"
    script = train("recorded.py", str(file), str(SCRIPTS / "kinds.py"), kind, "4", debug=False)
    assert script.wait() == 0, script.err
    return torch.load(file)


def shown_step(training) -> list[tuple[str, list[np.ndarray]]]:
    """All nodes of the present step, folded ones too: the operation, and what each put out."""
    shown = []
    for name in training.nodes(folded=True):
        node = training.node(name)
        if node.kind == "op":
            values = [training.tensor(name, slot) for slot in range(len(node.outputs)) if node.outputs[slot].type.dtype]
            shown.append((node.op, values))
    return shown


def agrees(shown: list, calls: list) -> bool:
    for (op, values), (name, copies) in zip(shown, calls, strict=True):
        if op != name:
            return False
        if "empty" in op:
            continue
        for value, copy in zip(values, copies, strict=False):
            if not np.array_equal(value, copy.float().numpy() if copy.dtype is torch.bfloat16 else copy.numpy(), True):
                return False
    return True


@pytest.mark.parametrize("kind", ["cnn", "lstm", "transformer"])
def test_all_nodes_of_a_step(kind: str, train, job, tmp_path: Path) -> None:
    calls = recorded_run(train, tmp_path, kind)
    train("kinds.py", kind, "4")
    training = job()
    step_on(training, lambda: training.run(2))
    shown = shown_step(training)
    assert len(shown) > 80
    starts = [start for start in range(len(calls) - len(shown) + 1) if calls[start][0] == shown[0][0]]
    assert sum(agrees(shown, calls[start : start + len(shown)]) for start in starts) == 1
    training.terminate()
    training.wait(timeout=60)
