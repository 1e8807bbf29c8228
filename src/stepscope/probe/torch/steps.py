"""Where a step ends: what the loop around the training does, told as events, and which of them is a boundary.

A loop says nothing of its steps, so they are read from its habits, the surest one first:

1. A data loader that is in use gives the next batch, and an optimizer has stepped since the one before.
2. Without a loader: each optimizer of the loop has stepped, some of them perhaps several times (a critic's).
3. Without optimizers, as in SGD by hand: a training forward begins after a backward.

A step ends after a step of an optimizer, never between a backward and an optimizer that uses it. So an optimizer that
steps again ends nothing: its forward and backward are over. If it does so too often, the others are waited for no
more; one of them that comes all the same joins the step whose backward it uses, or the next one.

So gradient accumulation, closures, several optimizers, skipped updates and validation in between all count as a user
would. A setting can ask for every step of an optimizer, or for every forward of the outermost module, instead. Pure:
no framework, no time, no state but what the events told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from enum import Enum

# A loader is not the one of the training if an optimizer steps so many times again before its next batch.
PATIENCE = 10
# An optimizer is waited for while another one steps so many times: critics do for each step of the generator's.
TURNS = 5
# Optimizers that were made don't take part if so many backwards came and none of them stepped: accumulation has fewer.
IDLE = 1000


class Verdict(Enum):
    """What an event means for the step."""

    NOTHING = "nothing"
    STEP = "step"  # one has ended, just before what the event tells of
    FRESH = "fresh"  # nothing was trained since the last one ended: what ran was no part of a step


class Steps:
    """`unit` is "run" (as above), "optimizer" (every step of an optimizer), "optimizer:NAME" (of those of a class), or
    "forward" (every call of an outermost module), which `by_forward` tells."""

    def __init__(self, unit: str = "run") -> None:
        kind, _, self._only = unit.partition(":")
        self._by_habit, self.by_forward = kind == "run", kind == "forward"
        self._made: set[Hashable] = set()  # optimizers that exist and may take part
        self._expected: set[Hashable] | None = None  # those that a step has to have; before the first one: all made
        self._stepped: Counter[Hashable] = Counter()  # since the last boundary
        self._last: Hashable | None = None  # the one that stepped last, with no backward since
        self._followed: set[Hashable] = set()  # those after which another one has used the same backward
        self._due = False  # the step is over unless one more optimizer uses its backward
        self._ended_late = False  # there was a step that was still due when the next one began
        self._loaders: set[Hashable] = set()  # those that gave a batch and may give another one
        self._strangers: set[Hashable] = set()  # loaders of which it was found that they don't drive the training
        self._under_loader = False  # an optimizer stepped while a loader was in charge
        self._backwards = 0  # since the last boundary
        self._idle_backwards = 0  # since the last step of any optimizer
        self._forwards_seen = False
        self._trained = False  # since the last boundary

    # ------------------------------------------------------------ data

    def loader_next(self, loader: Hashable) -> Verdict:
        """A loader is asked for a batch."""
        if not self._by_habit or loader in self._strangers:
            return Verdict.NOTHING
        if self._stepped or (self._backwards and not self._has_optimizers()):
            return self._end()
        return Verdict.NOTHING if self._trained else Verdict.FRESH

    def loader_gave(self, loader: Hashable) -> None:
        """It gave one."""
        if loader not in self._strangers:
            self._loaders.add(loader)

    def loader_gone(self, loader: Hashable) -> None:
        """It is exhausted, or its loop was left."""
        self._loaders.discard(loader)
        self._strangers.discard(loader)

    # ------------------------------------------------------------ optimizers

    def optimizer_made(self, optimizer: Hashable) -> None:
        self._made.add(optimizer)
        if self._expected is not None:
            self._expected.add(optimizer)

    def optimizer_gone(self, optimizer: Hashable) -> None:
        self._made.discard(optimizer)
        self._followed.discard(optimizer)
        if self._expected is not None:
            self._expected = self._expected - {optimizer} or None

    def optimizer_begins(self, optimizer: Hashable) -> Verdict:
        """An optimizer is about to step, or a gradient scaler to decide whether it does."""
        again = optimizer == self._last  # so another backward is to come, in a closure
        if again and not self._loaders and (self._under_loader or self._due):
            return self._end()
        return Verdict.NOTHING

    def optimizer_ended(self, optimizer: Hashable, name: str = "") -> Verdict:
        """It has stepped, or its step was skipped."""
        self._trained = True
        self._idle_backwards = 0
        self._stepped[optimizer] += 1
        if self._last is not None and self._last != optimizer:
            self._followed.add(self._last)
        self._last = optimizer
        if self.by_forward:
            return Verdict.NOTHING
        if not self._by_habit:
            return self._end() if self._only in ("", name) else Verdict.NOTHING
        if self._loaders and self._stepped[optimizer] > PATIENCE:
            self._strangers |= self._loaders
            self._loaders.clear()
        if self._loaders:
            self._under_loader = True
            return Verdict.NOTHING
        expected = self._made if self._expected is None else self._expected
        turns = TURNS if self._stepped.keys() & expected else 1  # where none of them steps, it is another loop
        if self._stepped[optimizer] > turns and not self._stepped.keys() >= expected:
            expected = self._expected = set(self._stepped)
            self._stepped = Counter([optimizer])  # a new turn of those, which ends with the last
        if not self._stepped.keys() >= expected:
            return Verdict.NOTHING
        self._due = optimizer in self._followed
        return Verdict.NOTHING if self._due else self._end()

    # ------------------------------------------------------------ forward and backward

    def forward_begins(self, grad: bool) -> Verdict:
        """An outermost module is called, with or without gradients."""
        self._forwards_seen = True
        verdict = Verdict.NOTHING
        if self._by_habit and not self._loaders:
            by_hand = grad and self._backwards and not self._has_optimizers()
            left = self._under_loader and self._stepped  # the loop over the loader was left after its last step
            if by_hand or left or self._due:
                verdict = self._end()
        self._trained = self._trained or grad
        return verdict

    def forward_ended(self) -> Verdict:
        return self._end() if self.by_forward else Verdict.NOTHING

    def backward_begins(self) -> Verdict:
        """Of an outermost call of the autograd engine."""
        verdict = Verdict.NOTHING
        without_modules = self._by_habit and not self._loaders and not self._forwards_seen
        by_hand = without_modules and self._backwards and not self._has_optimizers()
        # The forward before it was not told, and counts to the step that ends; those to come are (`needs_forwards`).
        if by_hand or self._due:
            verdict = self._end()
        self._last = None
        self._trained = True
        self._backwards += 1
        self._idle_backwards += 1
        return verdict

    # ------------------------------------------------------------ the rest

    def asked(self) -> Verdict:
        """The script itself says that a step has ended."""
        return self._end()

    def script_ends(self) -> Verdict:
        if self._by_habit and (self._stepped or (self._backwards and not self._has_optimizers())):
            return self._end()
        return Verdict.NOTHING

    @property
    def needs_forwards(self) -> bool:
        """Whether steps can't be told without `forward_begins` and `forward_ended`."""
        return self.by_forward or (self._by_habit and (self._ended_late or not self._has_optimizers()))

    def _has_optimizers(self) -> bool:
        """Whether any takes part, as far as one can tell: one that was made and never steps does not."""
        return bool(self._expected) or bool(self._made and self._idle_backwards <= IDLE)

    def _end(self) -> Verdict:
        if self._expected is None and self._stepped:
            self._expected = set(self._stepped)
        self._stepped = Counter()
        self._backwards = 0
        self._ended_late = self._ended_late or self._due
        self._under_loader = self._trained = self._due = False
        return Verdict.STEP
