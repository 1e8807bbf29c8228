"""Every value that is shown is the one that a mode of the test's own copied in a run without the debugger."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from trainings import step_on

from stepscope.core.graph.fold import FOLDED_OPS

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.torch

SCRIPTS = Path(__file__).parent / "scripts"


def recorded_run(train, tmp_path: Path, kind: str) -> list:
    file = tmp_path / f"{kind}.pt"
    script = train("recorded.py", str(file), str(SCRIPTS / "kinds.py"), kind, "4", debug=False)
    assert script.wait() == 0, script.err
    return [
        (name, copies)
        for name, copies in torch.load(file)
        if not name.startswith("profiler.") and name not in FOLDED_OPS
    ]


def shown_step(training) -> list[tuple[str, list[np.ndarray]]]:
    """The nodes of the present step as they ran: the operation, and what each put out."""
    shown = []
    for executed in training.execution(limit=10_000).nodes:
        node = training.node(executed.node)
        slots = [slot for slot, output in enumerate(node.outputs) if output.type.dtype]
        shown.append((node.op, [training.tensor(executed.node, slot) for slot in slots]))
    return shown


def disagreement(shown: list, calls: list) -> tuple[int, str]:
    """How many nodes agree before the first that does not, and what is wrong with that one."""
    for place, ((op, values), (name, copies)) in enumerate(zip(shown, calls, strict=True)):
        if op != name:
            return place, f"{op} is shown where {name} ran"
        for slot, (value, copy) in enumerate(zip(values, copies, strict=False)):
            if copy.dtype is torch.uint8:
                continue  # a kernel's scratch memory, which it does not fill
            if not np.array_equal(value, copy.numpy(), equal_nan=copy.is_floating_point()):
                return place, f"output {slot} of {op}"
    return len(shown), ""


@pytest.mark.parametrize("kind", ["cnn", "lstm", "transformer"])
def test_all_nodes_of_a_step(kind: str, train, job, tmp_path: Path) -> None:
    calls = recorded_run(train, tmp_path, kind)
    train("kinds.py", kind, "4")
    training = job()
    step_on(training, lambda: training.run(2))
    shown = shown_step(training)
    assert len(shown) > 80
    starts = [start for start in range(len(calls) - len(shown) + 1) if calls[start][0] == shown[0][0]]
    found = [disagreement(shown, calls[start : start + len(shown)]) for start in starts]
    assert max(found) == (len(shown), "")
    assert sum(not wrong for _, wrong in found) == 1  # of four steps it is just that one
    training.terminate()
    training.wait(timeout=60)
