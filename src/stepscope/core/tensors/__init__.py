"""Figures, comparison and parts of tensors, on plain numpy arrays. No framework, no I/O."""

from __future__ import annotations

from stepscope.core.tensors.bfloat16 import decode_bfloat16
from stepscope.core.tensors.index import apply_index, index_shape, parse_index
from stepscope.core.tensors.looks import look
from stepscope.core.tensors.measure import Figures, all_finite, measure
from stepscope.core.tensors.statistics import compare, stats

__all__ = [
    "Figures",
    "all_finite",
    "apply_index",
    "compare",
    "decode_bfloat16",
    "index_shape",
    "look",
    "measure",
    "parse_index",
    "stats",
]
