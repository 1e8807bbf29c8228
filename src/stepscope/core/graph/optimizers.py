"""Operations that update parameters in place: which inputs they overwrite, and where the gradient comes in.

The facts are those of MindSpore's primitives (`__mindspore_signature__`, write flags, and their documented outputs).
What such an operation returns is not to be trusted (Adam on CPU returns recycled memory), so an output is shown from
the parameter that it stands for.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Update:
    """How one type of optimizer operation works, as indices of its inputs.

    `in_place`: inputs that it overwrites, the weight first. `shown`: for each output slot the input whose value after
    the step it stands for (None: the output is a value of its own). `weight` is None where the operation only moves
    the optimizer's state.
    """

    in_place: tuple[int, ...]
    gradient: int
    weight: int | None
    shown: tuple[int | None, ...]


def _update(*in_place: int, gradient: int) -> Update:
    return Update(in_place, gradient, in_place[0], in_place)


OPTIMIZERS: dict[str, Update] = {
    "AdamW": _update(0, 1, 2, gradient=4),
    "AdamWeightDecay": _update(0, 1, 2, gradient=8),
    "Adam": _update(0, 1, 2, gradient=9),
    "AdamNoUpdateParam": Update((0, 1), 8, None, (None,)),
    "ApplyAdaMax": _update(0, 1, 2, gradient=8),
    "ApplyAdadelta": _update(0, 1, 2, gradient=6),
    "ApplyAdagrad": _update(0, 1, gradient=3),
    "ApplyAdagradDA": _update(0, 1, 2, gradient=3),
    "ApplyAdagradV2": _update(0, 1, gradient=3),
    "ApplyAdam": _update(0, 1, 2, gradient=9),
    "ApplyAdamW": _update(0, 1, 2, gradient=10),
    "ApplyAdamWithAmsgrad": _update(0, 1, 2, 3, gradient=7),
    "ApplyAdamWithAmsgradV2": _update(0, 1, 2, 3, gradient=10),
    "ApplyAddSign": _update(0, 1, gradient=6),
    "ApplyCenteredRMSProp": _update(0, 1, 2, 3, gradient=4),
    "ApplyFtrl": _update(0, 1, 2, gradient=3),
    "ApplyGradientDescent": _update(0, gradient=2),
    "ApplyKerasMomentum": _update(0, 1, gradient=3),
    "ApplyMomentum": _update(0, 1, gradient=3),
    "ApplyPowerSign": _update(0, 1, gradient=6),
    "ApplyProximalAdagrad": _update(0, 1, gradient=5),
    "ApplyProximalGradientDescent": _update(0, gradient=4),
    "ApplyRMSProp": _update(0, 1, 2, gradient=4),
    "FusedAdam": _update(6, 7, 8, gradient=9),
    "FusedAdamWeightDecay": _update(6, 7, 8, gradient=9),
    "FusedCastAdamWeightDecay": _update(0, 1, 2, gradient=8),
    "FusedScaleApplyMomentum": _update(1, 2, gradient=4),
    "FusedSparseAdam": _update(0, 1, 2, gradient=9),
    "FusedSparseFtrl": _update(0, 1, 2, gradient=3),
    "FusedSparseLazyAdam": _update(0, 1, 2, gradient=9),
    "FusedSparseProximalAdagrad": _update(0, 1, gradient=5),
    "FusedWeightApplyMomentum": _update(1, 2, gradient=4),
    "FusedWeightScaleApplyMomentum": _update(2, 3, gradient=5),
    "Lamb": _update(0, 1, 2, gradient=9),
    "LambApplyOptimizerAssign": Update((1, 2), 0, None, (None, 1, 2)),
    "LambApplyWeightAssign": _update(4, gradient=3),
    "SGD": _update(0, 3, 5, gradient=1),
    "SparseApplyAdadelta": _update(0, 1, 2, gradient=5),
    "SparseApplyAdagrad": _update(0, 1, gradient=2),
    "SparseApplyAdagradDA": _update(0, 1, 2, gradient=3),
    "SparseApplyAdagradV2": _update(0, 1, gradient=2),
    "SparseApplyCenteredRMSProp": _update(0, 1, 2, 3, gradient=8),
    "SparseApplyFtrl": _update(0, 1, 2, gradient=3),
    "SparseApplyFtrlV2": _update(0, 1, 2, gradient=3),
    "SparseApplyMomentum": _update(0, 1, gradient=3),
    "SparseApplyProximalAdagrad": _update(0, 1, gradient=5),
    "SparseApplyProximalGradientDescent": _update(0, gradient=4),
    "SparseApplyRMSProp": _update(0, 1, 2, gradient=4),
}
