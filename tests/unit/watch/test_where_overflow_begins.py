"""Of a step with NaN, operator_overflow names the operators where it began, and nothing else."""

from __future__ import annotations

import numpy as np

from stepscope.core.watch.records import Selection, Watchpoint, WatchpointSet
from stepscope.core.watch.step_check import StepCheck
from stepscope.testing.network import Network
from stepscope.testing.source import _Step


def _hits(network: Network, condition: str) -> list[str]:
    check = StepCheck()
    check.watch(WatchpointSet(1, (Watchpoint(1, condition, {}, Selection("tensor")),)))
    return [hit.node for hit in check.check(_Step(network), network.step).hits]


def test_neither_inputs_nor_parameters_are_operators() -> None:
    """Those with NaN are reported by tensor_overflow. What reads NaN is not where it began."""
    network = Network(nan_at=1)
    network.run_step()
    assert {"x", "hidden.weight", "moments.hidden.weight"} <= set(_hits(network, "tensor_overflow"))
    assert _hits(network, "operator_overflow") == []


def test_an_operator_that_makes_it() -> None:
    network = Network()
    run = network._run

    def broken(op: str, inputs: tuple[str, ...], values: dict) -> tuple:
        outputs = run(op, inputs, values)
        return tuple(np.full_like(output, np.inf) for output in outputs) if op == "ReLU" else outputs

    network._run = broken  # type: ignore[method-assign]
    with np.errstate(invalid="ignore"):
        network.run_step()
    assert _hits(network, "operator_overflow") == ["Default/network/relu-ReLU/ReLU-op0"]
