"""What can be asked of a module without a call of anything that its class may have made its own."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def first_parameter(module: nn.Module) -> Tensor | None:
    """Of the module and its parts, outermost first."""
    seen: set[int] = set()
    parts: list[object] = [module]
    for part in parts:  # which grows
        if isinstance(part, torch.jit.ScriptModule):
            found = next(part.parameters(), None)
        else:
            fields = getattr(part, "__dict__", {}) if id(part) not in seen else {}
            seen.add(id(part))
            parts.extend(_values(fields.get("_modules")))
            found = next((one for one in _values(fields.get("_parameters")) if isinstance(one, Tensor)), None)
        if found is not None:
            return found
    return None


def _values(known: object) -> list[object]:
    return list(dict.values(known)) if isinstance(known, dict) else []
