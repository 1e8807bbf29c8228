"""What the graph needs to know of PyTorch's operations, which are named by namespace and operator: "aten.addmm".

In such a graph whatever updates parameters stands below the scope "Optimizer": an optimizer is made of plain
operations that work in place, so that the scope tells, not the operation.
"""

from __future__ import annotations

OPTIMIZER_SCOPE = "Optimizer/"
GRADIENT_SUFFIX = ".grad"  # of an input: a gradient that was there before the step

ACTIVATIONS = frozenset(
    f"aten.{name}"
    for name in (
        *("relu", "relu_", "leaky_relu", "leaky_relu_", "_prelu_kernel", "rrelu_with_noise", "threshold", "hardtanh"),
        *("hardtanh_", "elu", "elu_", "gelu", "silu", "silu_", "mish", "mish_", "hardswish", "hardswish_", "glu"),
        *("sigmoid", "sigmoid_", "hardsigmoid", "hardsigmoid_", "log_sigmoid_forward", "tanh", "tanh_", "softplus"),
        *("_softmax", "_log_softmax"),
    )
)

# The same elements in another arrangement, or known by another name.
SAME_ELEMENTS = frozenset(
    f"aten.{name}"
    for name in (
        *("view", "_unsafe_view", "_reshape_alias", "t", "transpose", "permute", "squeeze", "unsqueeze"),
        *("detach", "alias", "_conj", "_neg_view", "view_as_real", "view_as_complex"),
    )
)

# Memory that nobody has written yet: what lies there by chance is no value.
UNWRITTEN = frozenset(
    f"aten.{name}"
    for name in ("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided")
)

CASTS = frozenset(("aten._to_copy", "aten.clone"))


_STATISTICS = frozenset(f"aten.{name}" for name in ("native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm"))


def writes(op: str) -> bool:
    """Whether an operation may write into what it is given."""
    return is_torch(op) and (op in _STATISTICS or (op.endswith("_") and not op.endswith("__")))


def written(op: str, inputs: int, outputs: int) -> list[tuple[int, int]]:
    """Which of so many inputs an operation writes into, each with the output that it then is."""
    if not writes(op):
        return []
    first = 3 if op in _STATISTICS else 0  # a normalisation's own outputs; the averages are its last inputs
    count = max(0, outputs - first)
    shift = inputs - outputs if op in _STATISTICS else 0
    return [(output + shift, output) for output in range(first, first + count) if 0 <= output + shift < inputs]


def is_torch(op: str) -> bool:
    return "." in op


def plain_name(op: str) -> str:
    """The operation by itself, in lower case: "aten.relu_" → "relu", "ReLU" → "relu"."""
    return op.rpartition(".")[2].rstrip("_").lower() if is_torch(op) else op.lower()
