"""What breaks watchers, in whole runs: compiled code, functional derivatives, workers, several processes."""

from __future__ import annotations

import pytest
from trainings import COMPILE, step_on, until

pytestmark = pytest.mark.torch


def compiled(script) -> list[list[int]]:
    """After each step: how often the module was compiled so far, and how often the compiled code ran."""
    return [[int(word) for word in line.split()[1:]] for line in script.printed("compiled")]


def test_compiled_code_goes_on_compiled_when_it_runs_free(train, job) -> None:
    alone = train("compiled.py", debug=False)
    script = train("compiled.py")
    training = job()
    step_on(training, training.run)
    assert "model/0/aten.addmm" in training.nodes()
    assert training.info["notes"] == ["compiled_eagerly"]
    step_on(training, lambda: training.run(9))
    target = next(iter(training.nodes(category="gradient")))
    step_on(training, lambda: training.run_to(target))
    step_on(training, training.run)
    assert training.step == 11
    training.resume()
    assert training.wait(timeout=COMPILE) == "finished"
    assert script.wait() == alone.wait() == 0
    assert script.printed("loss") == alone.printed("loss")
    counts = compiled(script)
    assert [count for count, _ in counts] == [0] * 2 + [1] * 28  # the steps 1 and 2 are traced, and so run eagerly
    calls = [calls for _, calls in counts]
    assert calls[8:11] == [calls[8]] * 3  # the steps 9 to 11 are looked at
    assert calls[-1] - calls[10] == 19
    assert script.complaints == []
