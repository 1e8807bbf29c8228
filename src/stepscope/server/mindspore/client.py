"""What is known of one training with MindSpore's own debugger client; shared by the parts that serve it."""

from __future__ import annotations

from dataclasses import dataclass, field

from stepscope.core.graph import Graph
from stepscope.core.ports import Report, SourceInfo, State
from stepscope.server.mindspore.names import Names
from stepscope.server.mindspore.tensors import ClientTensors
from stepscope.server.mindspore.watching import ClientWatchpoints

RUNS = "the training runs; its values can be read when it pauses"


@dataclass
class Client:
    """`version` as numbers, (1, 2) of "1.2.0".

    Where it stands is in `last`: as many steps are complete as it says, and with a cursor the training is within the
    next one. Nothing can be read of it unless it is `paused`: it waits for what a user wants.
    """

    info: SourceInfo
    version: tuple[int, ...]
    graphs: dict[str, Graph] = field(default_factory=dict)
    graphs_of_a_step: int = 1
    last: Report = field(default_factory=lambda: Report(State.RUNNING))
    paused: bool = False
    gone: str = ""  # why it can't be reached

    def __post_init__(self) -> None:
        self.names = Names(self.graphs)
        self.watchpoints = ClientWatchpoints(self.version)
        self.tensors = ClientTensors()

    @property
    def is_gpu(self) -> bool:
        return self.info.device.startswith("GPU")

    @property
    def within(self) -> bool:
        """Whether it stands within a step."""
        return self.last.cursor is not None
