"""What the agent is told of this process before anything else."""

from __future__ import annotations

import os
from pathlib import Path

import torch
from torch import nn

from stepscope.pipe import Message
from stepscope.probe.process import first_number, hello
from stepscope.probe.settings import Settings
from stepscope.probe.torch import users


def introduction(settings: Settings, folder: Path, module: nn.Module | None) -> Message:
    """`folder` is where values are handed over. `module` is the one that is called first, if there is one."""
    environment = os.environ
    about = {
        "framework": "torch",
        "framework_version": torch.__version__,
        "device": _device(module),
        "rank": first_number(environment.get("RANK")),
        "rank_count": first_number(environment.get("WORLD_SIZE"), 1),
        "stepping": "live",
    }
    return hello(settings, folder, **about)


def _device(module: nn.Module | None) -> str:
    parameter = users.first_parameter(module) if module is not None else None
    return str(parameter.device) if parameter is not None else "cpu"
