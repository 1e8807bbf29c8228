"""Unmodified scripts whose loop is that of a framework: HuggingFace Trainer, Lightning, Accelerate.

They accumulate or clip gradients, checkpoint, and validate in between; each makes six steps.
"""

from __future__ import annotations

import re

import pytest
from trainings import COMPILE, Script, step_on

pytestmark = pytest.mark.torch

# What is in the graph: of forward, backward, clipping and optimizer.
NODES = {
    "trainer": (
        r"model/bert/encoder/layer\.1/attention/self/query/aten\.addmm_1",  # the second batch of the step
        r"Recompute/model/bert/encoder/layer\.0/output/dense/aten\.addmm",
        r"Gradients/model/bert/encoder/layer\.0/intermediate/dense/AddmmBackward0/aten\.mm",
        r"Gradients/model/classifier/AccumulateGrad/aten\.add_",
        r"Gradients/clip_grad_norm_/aten\._foreach_mul_",
        r"Optimizer/AdamW/aten\._fused_adamw_",
    ),
    "lightning": (
        r"net/4/aten\.addmm",
        r"Gradients/net/1/NativeBatchNormBackward0/aten\.native_batch_norm_backward",
        r"Gradients/clip_grad_norm_/aten\._foreach_mul_",
        r"Optimizer/AdamW/net\.4\.weight/aten\.addcdiv_",
    ),
    "accelerate": (
        r"net/4/aten\.addmm_1",
        r"Gradients/net/0/AccumulateGrad/aten\.add_",
        r"Gradients/clip_grad_norm_/aten\._foreach_mul_",
        r"Optimizer/SGD/net\.0\.weight/aten\.add_",
    ),
}


def figures(script: Script) -> list[str]:
    return [line for line in script.out if line.startswith(("loss", "evaluated"))]


@pytest.mark.parametrize("framework", NODES)
def test_a_loop_of_a_framework(framework: str, train, job) -> None:
    alone = train("frameworks.py", framework, debug=False)
    script = train("frameworks.py", framework)
    training = job()
    step_on(training, lambda: training.run(2))
    names = training.nodes()
    for pattern in NODES[framework]:
        assert any(re.fullmatch(pattern, name) for name in names), pattern
    backward = next(name for name in training.nodes(category="gradient") if "Addmm" in name)
    step_on(training, lambda: training.run_to(backward, before=True))
    step_on(training, training.next_node)
    assert (training.step, training.cursor.node) == (3, backward)
    step_on(training, training.run)
    assert (training.step, training.cursor) == (3, None)
    watchpoint = training.watch("tensor_overflow", nodes=[backward])
    step_on(training, lambda: training.run(2))
    assert training.step == 5
    watchpoint.delete()
    training.resume()
    assert training.wait(timeout=COMPILE) == "finished"
    assert script.wait() == alone.wait() == 0
    assert figures(script) == figures(alone)
    assert len(script.printed("evaluated")) >= 2
    assert training.step == 6
    assert script.complaints == []


def test_the_recommended_set_leaves_masks_alone(train, job) -> None:
    script = train("frameworks.py", "trainer")
    training = job()
    step_on(training, lambda: training.run(2))
    training.use_recommended()
    step_on(training, training.run)
    assert {hit.condition for hit in training.hits()} <= {"gradient_vanishing"}  # of so small a network
    overflow = training.watch("tensor_overflow")
    training.recheck()
    assert any(hit.watchpoint == overflow.id and "where" in hit.node for hit in training.hits())
    overflow.delete()
    (vanishing,) = [one for one in training.watchpoints() if one.condition == "gradient_vanishing"]
    vanishing.delete()
    training.resume()  # in free steps they are checked by other code
    assert training.wait(timeout=COMPILE) == "finished"
    assert training.step == 6
    assert script.wait() == 0
