"""Which tensors an operation writes into: what its schema says, and what some schemas keep to themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import torch

# Operations that write into what they are given without saying so, and the arguments that it happens to.
_STATISTICS = ("running_mean", "running_var")
_UNDECLARED: dict[str, tuple[str, ...]] = {
    "aten::native_batch_norm": _STATISTICS,
    "aten::cudnn_batch_norm": _STATISTICS,
    "aten::miopen_batch_norm": _STATISTICS,
    "aten::batch_norm_gather_stats": _STATISTICS,
    "aten::batch_norm_gather_stats_with_counts": _STATISTICS,
    "aten::batch_norm_update_stats": _STATISTICS,
    "aten::mkldnn_rnn_layer_backward": ("workspace",),
    "aten::_cudnn_rnn_backward": ("reserve",),
}
_COLLECTIVES = ("c10d", "fsdp", "symm_mem")  # their schemas say nothing of it either


def written(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[torch.Tensor]:
    """The tensors among the arguments into whose memory `func` writes."""
    places, names = _written_arguments(func)
    if not places and not names:
        return []
    found: list[torch.Tensor] = []
    for place in places:
        if place < len(args):
            found += tensors(args[place])
    for name in names:
        if name in kwargs:
            found += tensors(kwargs[name])
    return found


def tensors(value: Any) -> Iterator[torch.Tensor]:
    """All tensors in an argument or a result, in their order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from tensors(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from tensors(one)


@cache
def _written_arguments(func: Any) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Places and names of the arguments that are written; each argument can be given either way."""
    schema = getattr(func, "_schema", None)
    if schema is None:
        return (), ()
    every = tuple(enumerate(schema.arguments))
    if func.namespace in _COLLECTIVES:
        return tuple(place for place, _ in every), tuple(one.name for _, one in every)
    hidden = _UNDECLARED.get(schema.name, ())
    chosen = [
        (place, one)
        for place, one in every
        if one.name in hidden or (one.alias_info is not None and one.alias_info.is_write)
    ]
    return tuple(place for place, _ in chosen), tuple(one.name for _, one in chosen)
