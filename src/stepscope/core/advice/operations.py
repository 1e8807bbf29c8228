"""What operations can't take: one table for all frameworks, by the plain name of the operation.

The names of MindSpore ("Log"), PyTorch ("aten.log.default", "aten::log_") and JAX ("log") come down to the same.
"""

from __future__ import annotations

import math

_DIVISIONS = (
    *("div", "realdiv", "divide", "truedivide", "truediv", "floordiv", "floordivide", "truncatediv", "divmod"),
    *("mod", "floormod", "truncatemod", "remainder", "fmod", "rem"),
)
_LOGARITHMS = ("log", "log2", "log10")
_EXPONENTIALS = ("exp", "exp2", "expm1", "sinh", "cosh")

# The input in which a zero makes an infinity, or a NaN.
ZERO_MATTERS: dict[str, int] = {
    **dict.fromkeys((*_LOGARITHMS, "reciprocal", "inv", "rsqrt"), 0),
    **dict.fromkeys(("sqrtgrad",), 0),  # divides by the root
    **dict.fromkeys(_DIVISIONS, 1),
}
POWERS = frozenset(("pow", "powtensorscalar", "integerpow", "power"))  # base, exponent

# The number below which the first input makes a NaN.
BELOW: dict[str, float] = {**dict.fromkeys((*_LOGARITHMS, "sqrt", "rsqrt"), 0.0), "log1p": -1.0}

RECTIFIERS = frozenset(("relu", "relu6", "reluv2", "reluv3"))
BOUNDED = frozenset(("sigmoid", "tanh", "logistic", "hsigmoid", "hardsigmoid", "hardtanh"))
# They put out -inf, or one number everywhere, because they were told to.
MASKING = frozenset(("maskedfill", "select", "selectv2", "where", "selectn", "maskedfillscalar"))
FILLING = frozenset(
    (*("fill", "fillv2", "fills", "fillscalar", "filltensor", "full", "fulllike", "ones", "oneslike"),
     *("broadcastto", "broadcastindim", "expand", "expandas", "tile", "zeros", "zeroslike", "eye"))
)  # fmt: skip

LIMITS: dict[str, float] = {
    "float8_e4m3fn": 448.0,
    "float8_e5m2": 57344.0,
    "float16": 65504.0,
    "bfloat16": (2 - 2**-7) * 2.0**127,
    "float32": (2 - 2**-23) * 2.0**127,
    "float64": (2 - 2**-52) * 2.0**1023,
}


def plain(op: str) -> str:
    """The name of an operation in small letters, without what the frameworks put around it."""
    name = op.lower().removeprefix("aten::").removeprefix("aten.").removeprefix("prim::")
    name = name.partition(".")[0].replace("_", "")
    return name.removesuffix("ext")


def overflow_start(op: str, dtype: str) -> float | None:
    """The input of an exponential function from which on its result is beyond the numbers of `dtype`."""
    limit = LIMITS.get(dtype)
    if limit is None or op not in _EXPONENTIALS:
        return None
    if op == "exp2":
        return math.log2(limit)
    return math.log(limit) + (math.log(2) if op in ("sinh", "cosh") else 0.0)


def is_floating(dtype: str) -> bool:
    return "float" in dtype or "complex" in dtype
