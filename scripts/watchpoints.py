"""Writes the table of conditions in docs/watchpoints.md: `python scripts/watchpoints.py`."""

from __future__ import annotations

import math
from pathlib import Path

from stepscope.core.watch.conditions import CONDITIONS, Condition, Parameter

FILE = Path(__file__).parent.parent / "docs" / "watchpoints.md"
START, END = "<!-- made by scripts/watchpoints.py -->\n", "<!-- end -->\n"


def table() -> str:
    """One line a condition; those with the same parameters one after the other."""
    lines = ["| | condition | checked on, unless told otherwise | parameters (usual value) |", "|---|---|---|---|"]
    lines += [_line(condition) for condition in CONDITIONS.values()]
    return "\n".join(lines) + "\n"


def document(text: str) -> str:
    """The document with the table as it should be."""
    before, rest = text.split(START)
    after = rest.split(END)[1]
    return before + START + table() + END + after


def _line(condition: Condition) -> str:
    shown = [_parameter(one) for one in condition.parameters if not one.hidden]
    hidden = [_parameter(one) for one in condition.parameters if one.hidden]
    parameters = ", ".join(shown) + (f"; for programs only: {', '.join(hidden)}" if hidden else "")
    return f"| {condition.abbreviation} | `{condition.id}` | {_BASE[condition.base]} | {parameters or 'none'} |"


def _parameter(parameter: Parameter) -> str:
    unit = " %" if parameter.unit else ""
    usual = "" if parameter.default is None else f" ({parameter.default:g}{unit})"
    return f"`{parameter.name}`{usual}: {_range(parameter)}{unit}"


def _range(parameter: Parameter) -> str:
    if parameter.high < math.inf:
        return f"{parameter.low:g} to {parameter.high:g}"
    if parameter.low > -math.inf:
        return f"{'≥' if parameter.low_inclusive else '>'} {parameter.low:g}"
    return "any"


_BASE = {
    "tensor": "everything",
    "weight": "weights",
    "trainable": "weights, and trainable parameters without an optimizer",
    "activation": "activations",
    "gradient": "gradients",
}

if __name__ == "__main__":
    FILE.write_text(document(FILE.read_text(encoding="utf-8")), encoding="utf-8")
