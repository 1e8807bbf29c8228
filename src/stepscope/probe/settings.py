"""What the environment of the training process asks for. Standard library only: read at interpreter start-up.

The names of the original debugger mean what they meant there; the framework-neutral `STEPSCOPE_…` win over them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

STEP_UNITS = ("run", "optimizer", "forward")


@dataclass(frozen=True)
class Settings:
    host: str = "127.0.0.1"
    port: int = 50051
    token: str = ""
    partial_memory: bool = False  # record outputs only, and take an input's value from its producer
    step_unit: str = "run"
    connect_wait: float = 15.0  # seconds to wait for the server before the training goes on undebugged
    lost_wait: float = 600.0  # seconds that a paused training waits for a server that went away
    hold_bytes: int = 0  # of memory that values of a live training may take; 0: as the free memory allows
    data_root: str = ""  # where step data go instead of the roomiest place


def enabled(environ: Mapping[str, str] = os.environ) -> bool:
    return _on(_first(environ, "STEPSCOPE_ENABLE", "ENABLE_MS_DEBUGGER"))


def from_environment(environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings; ValueError with one clear line for a value that can't be used."""
    default = Settings()
    port = _first(environ, "STEPSCOPE_PORT", "MS_DEBUGGER_PORT") or str(default.port)
    if not port.isdecimal() or not 1 <= int(port) <= 65535:
        raise ValueError(f"the debugger port must be a number from 1 to 65535, not {port!r}")
    unit = environ.get("STEPSCOPE_STEP_UNIT") or default.step_unit
    if unit not in STEP_UNITS and not unit.startswith("optimizer:"):
        raise ValueError(f"STEPSCOPE_STEP_UNIT must be one of {', '.join(STEP_UNITS)} or optimizer:CLASS, not {unit!r}")
    hold = environ.get("STEPSCOPE_HOLD_MIB") or "0"
    if not hold.isdecimal():
        raise ValueError(f"STEPSCOPE_HOLD_MIB must be a whole number of MiB, not {hold!r}")
    return Settings(
        host=_first(environ, "STEPSCOPE_HOST", "MS_DEBUGGER_HOST") or default.host,
        port=int(port),
        token=environ.get("STEPSCOPE_TOKEN", ""),
        partial_memory=_on(_first(environ, "STEPSCOPE_PARTIAL_MEM", "MS_DEBUGGER_PARTIAL_MEM")),
        step_unit=unit,
        connect_wait=_seconds(environ, "STEPSCOPE_CONNECT_WAIT", default.connect_wait),
        lost_wait=_seconds(environ, "STEPSCOPE_LOST_WAIT", default.lost_wait),
        hold_bytes=int(hold) << 20,
        data_root=environ.get("STEPSCOPE_DATA_ROOT", ""),
    )


def _first(environ: Mapping[str, str], *names: str) -> str:
    return next((environ[name] for name in names if environ.get(name)), "")


def _on(value: str) -> bool:
    return value.strip().lower() in ("1", "true")


def _seconds(environ: Mapping[str, str], name: str, default: float) -> float:
    value = environ.get(name)
    if not value:
        return default
    try:
        seconds = float(value)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e9:
        raise ValueError(f"{name} must be a number of seconds, not {value!r}")
    return seconds
