"""What a training that can stop within a step is asked to do, and so when it stands still. Pure: no framework."""

from __future__ import annotations

from dataclasses import dataclass

from stepscope.core.ports import Command, Moment


@dataclass
class Target:
    """A node to stop at: any ("") or one by name. `ends`: step ends that may still pass by on the way."""

    node: str
    moment: Moment
    ends: int


class Control:
    """`left` steps are run before the next pause, for the reason `reason`; None: free. 0 while it stands still."""

    def __init__(self) -> None:
        self.left: int | None = 0
        self.reason = "step"
        self.target: Target | None = None
        self.sequence = 0  # of the last command taken

    @property
    def is_stepping(self) -> bool:
        """Whether the step that begins is one to look at, or the one before such a step, to compare with."""
        return self.target is not None or (self.left is not None and self.left <= 2)

    def stand(self) -> None:
        """The training stands still."""
        self.left, self.target = 0, None

    def run(self, command: Command, within_step: bool) -> None:
        """A command that lets it go on; `within_step`: it stands at a node of a step that is not over."""
        self.target = None
        if command.kind == "run":
            self.left, self.reason = max(1, command.steps), "step"
        elif command.kind == "resume":
            self.left = None
        else:  # next_node, run_to
            node = command.node if command.kind == "run_to" else ""
            self.target = Target(node, "before" if command.before else "after", 2 if within_step else 1)
            self.left = None

    def ask_pause(self, held: bool) -> None:
        """To pause while it runs: `held`, the step that has just ended can be looked at; else the next one is."""
        if self.left != 0:
            self.left, self.reason, self.target = (0 if held else 1), "pause", None

    def stops_at(self, node: str, moment: Moment) -> bool:
        target = self.target
        return target is not None and target.moment == moment and target.node in ("", node)

    def step_ended(self) -> None:
        if self.left is not None:
            self.left = max(0, self.left - 1)
        if self.target is not None:
            self.target.ends -= 1
            if self.target.ends <= 0:
                self.left, self.reason, self.target = 0, "not_reached", None

    @property
    def pauses(self) -> bool:
        """Whether the training is to stand still at the end of a step."""
        return self.left == 0
