"""What breaks watchers, in whole runs: compiled code, functional derivatives, workers, several processes."""

from __future__ import annotations

import pytest
from trainings import COMPILE, step_on, until

import stepscope

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


TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


def test_two_ranks_of_ddp(train, server) -> None:
    alone = train("ranks.py", debug=False, launcher=TORCHRUN)
    assert alone.wait() == 0, alone.err
    script = train("ranks.py", launcher=TORCHRUN)
    with stepscope.connect(server.url) as debugger:
        jobs = until(lambda: len(found := debugger.jobs()) == 2 and found, COMPILE)
        for each in jobs:
            assert each.wait(timeout=COMPILE) == "paused"
        assert sorted((each.rank, each.info["rank_count"]) for each in jobs) == [(0, 2), (1, 2)]
        for each in jobs:
            each.run(2)
        for each in jobs:
            each.wait(timeout=COMPILE)
            assert each.step == 2
        gradients = [each.tensor("Gradients/net/0/AccumulateGrad/c10d.allreduce_") for each in jobs]
        assert (gradients[0] == gradients[1]).all()
        first = jobs[0]
        step_on(first, first.next_node)
        assert first.cursor is not None
        for each in jobs:
            each.resume()
        for each in jobs:
            assert each.wait(timeout=COMPILE) == "finished"
            assert each.step == 6
    assert script.wait() == 0
    assert sorted(script.printed("loss")) == sorted(alone.printed("loss"))
    assert script.complaints == []
