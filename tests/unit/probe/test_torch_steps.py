"""Where steps end: the loops of users, told as events, with the number of steps that a user would count."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import pytest

from stepscope.probe.torch.steps import IDLE, PATIENCE, TURNS, Steps, Verdict


class Loop:
    """Drives a `Steps` as the hooks do, and notes before which event each step ended."""

    def __init__(self, unit: str = "run", sees_forwards: bool = True) -> None:
        self.steps = Steps(unit)
        self.ends: list[str] = []
        self.told = ""  # f, b and optimizers as they came; | where a step ended
        self._sees_forwards = sees_forwards
        self.fresh = 0
        self._iterators = itertools.count()

    def _say(self, verdict: Verdict, event: str) -> None:
        if verdict is Verdict.STEP:
            self.ends.append(event)
            self.told += "|"
        self.fresh += verdict is Verdict.FRESH

    def optimizers(self, *names: str) -> None:
        for name in names:
            self.steps.optimizer_made(name)

    def loader(self, batches: Iterable[int], leave_after: int | None = None) -> Iterator[int]:
        """A `for` loop over a data loader, left by `break` after some batches if asked for."""
        iterator = f"iterator {next(self._iterators)}"
        try:
            for number in batches:
                self._say(self.steps.loader_next(iterator), "next")
                self.steps.loader_gave(iterator)
                yield number
                if leave_after == number:
                    return
            self._say(self.steps.loader_next(iterator), "next")
        finally:
            self.steps.loader_gone(iterator)

    def forward(self, grad: bool = True) -> None:
        told = self._sees_forwards or self.steps.needs_forwards
        if told:
            self._say(self.steps.forward_begins(grad), "forward")
        self.told += "f" if grad else "e"
        if told:
            self._say(self.steps.forward_ended(), "forward ended")

    def backward(self) -> None:
        self._say(self.steps.backward_begins(), "backward")
        self.told += "b"

    def step(self, optimizer: str, closure_calls: int = 0) -> None:
        self._say(self.steps.optimizer_begins(optimizer), f"begin {optimizer}")
        for _ in range(closure_calls):
            self.learn()
        self.told += optimizer
        self._say(self.steps.optimizer_ended(optimizer, optimizer), f"end {optimizer}")

    def learn(self) -> None:
        self.forward()
        self.backward()

    def rounds(self, rounds: str) -> str:
        """Each word is a forward, a backward, and the optimizers that use it; given back is where steps ended."""
        for word in rounds.split():
            self.learn()
            for optimizer in word:
                self.step(optimizer)
        return self.told.replace("fb", " ").lstrip()

    def end(self) -> None:
        self._say(self.steps.script_ends(), "script")


def plain(loop: Loop) -> None:
    loop.optimizers("sgd")
    for _ in range(4):
        loop.learn()
        loop.step("sgd")


def plain_loader(loop: Loop) -> None:
    loop.optimizers("sgd")
    for _ in loop.loader(range(4)):
        loop.learn()
        loop.step("sgd")


def epochs(loop: Loop) -> None:
    loop.optimizers("sgd")
    for _ in range(2):
        for _ in loop.loader(range(2)):
            loop.learn()
            loop.step("sgd")


def accumulation(loop: Loop) -> None:
    loop.optimizers("sgd")
    for batch in range(8):
        loop.learn()
        if batch % 2:
            loop.step("sgd")


def accumulation_loader(loop: Loop) -> None:
    loop.optimizers("sgd")
    for batch in loop.loader(range(4)):
        loop.learn()
        if batch % 2:
            loop.step("sgd")


def lbfgs(loop: Loop) -> None:
    loop.optimizers("lbfgs")
    for _ in range(4):
        loop.step("lbfgs", closure_calls=5)


def evaluation_inside(loop: Loop) -> None:
    loop.optimizers("sgd")
    for _ in range(4):
        loop.learn()
        loop.step("sgd")
        loop.forward(grad=False)


def evaluation_loader(loop: Loop) -> None:
    loop.optimizers("sgd")
    for _ in loop.loader(range(4)):
        loop.learn()
        loop.step("sgd")
        for _ in loop.loader(range(3)):
            loop.forward(grad=False)


def gan(loop: Loop) -> None:
    loop.optimizers("D", "G")
    for _ in range(4):
        for optimizer in "DG":
            loop.forward()
            loop.learn()
            loop.step(optimizer)


def gan_loader(loop: Loop) -> None:
    loop.optimizers("D", "G")
    for _ in loop.loader(range(4)):
        for optimizer in "DG":
            loop.learn()
            loop.step(optimizer)


def wgan_loader(loop: Loop) -> None:
    loop.optimizers("D", "G")
    for _ in loop.loader(range(4)):
        for optimizer in "DDDG":
            loop.learn()
            loop.step(optimizer)


def wgan(loop: Loop) -> None:
    loop.optimizers("D", "G")
    for _ in range(4):
        for optimizer in "DDDG":
            loop.learn()
            loop.step(optimizer)


def two_back_to_back(loop: Loop) -> None:
    loop.optimizers("a", "b")
    for _ in range(4):
        loop.learn()
        loop.step("a")
        loop.step("b")


def manual(loop: Loop) -> None:
    for _ in range(4):
        loop.learn()
    loop.end()


def manual_loader(loop: Loop) -> None:
    for _ in loop.loader(range(4)):
        loop.forward()
        loop.learn()


def manual_tensors(loop: Loop) -> None:
    for _ in range(4):
        loop.backward()
    loop.end()


@pytest.mark.parametrize(
    ("script", "automatic", "each_optimizer"),
    [
        (plain, 4, 4),
        (plain_loader, 4, 4),
        (epochs, 4, 4),
        (accumulation, 4, 4),
        (accumulation_loader, 2, 2),
        (lbfgs, 4, 4),
        (evaluation_inside, 4, 4),
        (evaluation_loader, 4, 4),
        (gan, 4, 8),
        (gan_loader, 4, 8),
        (wgan_loader, 4, 16),
        (wgan, 4, 16),
        (two_back_to_back, 4, 8),
        (manual, 4, 0),
        (manual_loader, 4, 0),
        (manual_tensors, 4, 0),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_table(script, automatic: int, each_optimizer: int) -> None:
    loop, forced = Loop(), Loop("optimizer")
    script(loop)
    script(forced)
    assert len(loop.ends) == automatic
    assert len(forced.ends) == each_optimizer


def test_steps_without_a_loader_end_with_their_last_optimizer() -> None:
    last_ends = {plain: "sgd", gan: "G", wgan: "G", two_back_to_back: "b", accumulation: "sgd", lbfgs: "lbfgs"}
    for script, last in last_ends.items():
        loop = Loop()
        script(loop)
        assert loop.ends == [f"end {last}"] * 4


@pytest.mark.parametrize("sees_forwards", [True, False])
@pytest.mark.parametrize(
    ("made", "rounds", "steps"),
    [
        ("DG", "D D D D D G " * 2, "D D D D D G| D D D D D G|"),  # WGAN
        ("AC", "C C A C C A", "C C A| C C A|"),  # TD3: the actor every second time
        ("QAT", "Q Q A T A T Q Q A T A T", "Q Q A T| A T Q| Q A T| A T"),  # SAC with delayed actors
        ("ab", "ab ab", "ab| ab|"),
        ("ab", "ab a ab a ab", "ab| a ab| a ab|"),  # one of two every second time
        ("ab", "ba a ba a", "ba| a ba| a"),
        ("ab", "a b a b", "a b| a b|"),  # alternating
        ("abc", "abc ac abc ac abc", "abc| ac abc| ac abc|"),  # one for each weight, and a weight that is not used
        ("a", "a a ", "a| a|"),  # SAM as two steps of one: nothing tells that they belong together
        ("aS", "a " * 8, "a a a a a a| a| a|"),  # SAM around an optimizer, of which only the inner one steps
        ("abu", "ab " * 8, "ab ab ab ab ab ab| ab| ab|"),
        ("abu", "a b " * 8, "a b a b a b a b a b a b| a b| a b|"),
        ("DG", "D D D D D D D D G D D", "D D D D D D| D| D| G D| D|"),  # too many steps of a critic
        ("PV", "P V V V V V V V V P V V", "P V| V V V V V V| V| P V| V|"),  # a policy, and its value many times
        ("P", "P P V V V P P P", "P| P| V V| V| P P| P|"),  # in turns
        ("x", "x x a b a b", "x| x| a b a b|"),  # another training, whose optimizers were not seen to be made
    ],
)
def test_no_step_ends_between_a_backward_and_an_optimizer_that_uses_it(made, rounds, steps, sees_forwards) -> None:
    loop = Loop(sees_forwards=sees_forwards)
    loop.optimizers(*made)
    assert loop.rounds(rounds) == steps
    assert not loop.steps.needs_forwards


def test_a_step_that_one_more_optimizer_may_belong_to_ends_with_the_next_forward() -> None:
    loop = Loop()
    loop.optimizers("a", "b")
    assert loop.rounds("ab " + "a " * 8 + "ab a a") == "ab| a a a a a a| a| a| ab| a| a"


def test_a_loop_without_a_loader_after_one_that_was_left() -> None:
    loop = Loop(sees_forwards=False)
    loop.optimizers("a")
    for _ in loop.loader(range(9), leave_after=1):
        loop.rounds("a")
    assert loop.rounds("a a") == "a| a a| a|"


@pytest.mark.parametrize("sees_forwards", [True, False])
def test_no_step_ends_inside_of_one_of_an_optimizer_with_a_closure(sees_forwards) -> None:
    loop = Loop(sees_forwards=sees_forwards)
    loop.optimizers("a")
    for _ in loop.loader(range(9), leave_after=1):
        loop.step("a", closure_calls=2)
    loop.step("a", closure_calls=2)
    assert loop.told == "fbfba|" * 3
    assert loop.ends == ["next", "begin a", "end a"]


def test_where_no_forward_was_told_the_first_such_step_ends_with_the_next_backward() -> None:
    loop = Loop(sees_forwards=False)
    loop.optimizers("a", "b")
    loop.rounds("ab " + "a " * 8 + "ab a")
    assert loop.told == "fbab|" + "fba" * 6 + "f|ba|fba|fbab|fba"
    assert loop.steps.needs_forwards


def test_an_optimizer_that_joins_later_is_waited_for() -> None:
    loop = Loop()
    loop.optimizers("a")
    loop.rounds("a a")
    loop.optimizers("b")
    assert loop.rounds("ab ab") == "a| a| ab| ab|"


def test_an_optimizer_of_which_nothing_was_known_is_waited_for_when_it_was_found_to_follow() -> None:
    loop = Loop()
    loop.optimizers("a")
    assert loop.rounds("a ab ab") == "a| a|b ab|"


def test_evaluation_and_accumulation_between_the_steps_of_a_critic() -> None:
    loop = Loop()
    loop.optimizers("D", "G")
    for optimizer in "DDGDDG":
        loop.learn()
        loop.learn()
        loop.step(optimizer)
        loop.forward(grad=False)
    assert loop.told == "fbfbDefbfbDefbfbG|e" * 2


def test_steps_of_a_loader_end_before_the_next_batch() -> None:
    for script in (plain_loader, gan_loader, wgan_loader, evaluation_loader, manual_loader):
        loop = Loop()
        script(loop)
        assert loop.ends == ["next"] * 4


def test_a_skipped_update_ends_a_step_too() -> None:
    loop = Loop()
    loop.optimizers("adam")
    for batch in range(4):
        loop.learn()
        loop._say(loop.steps.optimizer_begins("adam"), "begin")  # GradScaler.step; for batch 2 it calls no optimizer
        if batch != 2:
            assert loop.steps.optimizer_begins("adam") is Verdict.NOTHING
        loop._say(loop.steps.optimizer_ended("adam"), "end")
    assert loop.ends == ["end"] * 4


def test_the_last_step_of_a_loop_that_was_left() -> None:
    loop = Loop()
    loop.optimizers("sgd")
    for _ in loop.loader(range(9), leave_after=2):
        loop.learn()
        loop.step("sgd")
    assert loop.ends == ["next"] * 2
    loop.forward(grad=False)  # an evaluation after training
    assert loop.ends == ["next", "next", "forward"]
    loop.end()
    assert len(loop.ends) == 3


def test_the_last_step_ends_with_the_script() -> None:
    loop = Loop()
    loop.optimizers("sgd")
    for _ in loop.loader(range(9), leave_after=2):
        loop.learn()
        loop.step("sgd")
    loop.end()
    assert loop.ends == ["next", "next", "script"]


def test_one_batch_taken_out_of_a_loader_that_is_gone() -> None:
    loop = Loop()
    loop.optimizers("sgd")
    for _ in loop.loader(range(9), leave_after=0):
        pass
    for _ in range(3):
        loop.learn()
        loop.step("sgd")
    assert loop.ends == ["end sgd"] * 3


def test_a_loader_that_lives_on_but_drives_nothing_is_found_out() -> None:
    loop = Loop()
    loop.optimizers("sgd")
    batches = loop.loader(range(99))
    next(batches)
    for _ in range(PATIENCE + 5):
        loop.learn()
        loop.step("sgd")
    # Its first steps were taken for one: that of the batch.
    assert loop.told.startswith("fbsgd" * (PATIENCE + 1) + "|fbsgd|")
    assert loop.ends == ["end sgd"] * 5
    next(batches)
    loop.learn()
    loop.step("sgd")
    assert loop.ends[-1] == "end sgd"


def test_an_optimizer_that_never_steps_does_not_hold_up_the_others() -> None:
    loop = Loop()
    loop.optimizers("sgd", "unused")
    for _ in range(TURNS + 4):
        loop.learn()
        loop.step("sgd")
    assert loop.ends == ["end sgd"] * 4  # the first is known late


def test_an_optimizer_that_was_deleted_is_not_waited_for() -> None:
    loop = Loop()
    loop.optimizers("old", "sgd")
    loop.steps.optimizer_gone("old")
    loop.learn()
    loop.step("sgd")
    assert loop.ends == ["end sgd"]


def test_training_by_hand_beside_an_optimizer_that_never_steps() -> None:
    loop = Loop()
    loop.optimizers("unused")
    for _ in range(IDLE + 4):
        loop.learn()
    assert 2 <= len(loop.ends) <= 4


def test_evaluation_is_seen_as_no_part_of_a_step() -> None:
    loop = Loop()
    loop.optimizers("sgd")
    for _ in loop.loader(range(3)):
        loop.forward(grad=False)
    assert not loop.ends
    assert loop.fresh == 4
    for _ in loop.loader(range(2)):
        loop.learn()
        loop.step("sgd")
    assert loop.ends == ["next", "next"]


def test_each_forward_of_a_script_that_only_infers() -> None:
    loop = Loop("forward")
    for _ in loop.loader(range(3)):
        loop.forward(grad=False)
    loop.forward()
    loop.end()
    assert loop.ends == ["forward ended"] * 4


def test_only_the_optimizer_that_was_named() -> None:
    loop = Loop("optimizer:G")
    gan_loader(loop)
    assert loop.ends == ["end G"] * 4


def test_the_script_may_say_it_itself() -> None:
    loop = Loop("optimizer:none of them")
    plain(loop)
    assert loop.steps.asked() is Verdict.STEP
    assert not loop.ends
