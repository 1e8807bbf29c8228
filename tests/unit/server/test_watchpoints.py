"""The watchpoints of one job, without a server."""

from __future__ import annotations

import pytest

from stepscope.core.errors import BadRequest, Conflict, NotAvailable
from stepscope.core.watch.records import Rule, Selection, Watchpoint
from stepscope.server.watch.watchpoints import MOST, State, Watchpoints


@pytest.fixture
def watch():
    return Watchpoints()


def test_ids_rise_and_are_never_used_again(watch):
    assert [watch.create("tensor_overflow", {}).id for _ in range(3)] == [1, 2, 3]
    watch.delete(3)
    assert watch.duplicate(1).id == 4
    watch.clear()
    assert watch.create("tensor_overflow", {}).id == 5
    assert Watchpoints(watch.state).create("tensor_overflow", {}).id == 6
    assert [each.id for each in watch.set.watchpoints] == [5]


def test_every_change_raises_the_revision_by_one(watch):
    changes = [
        lambda: watch.create("tensor_too_large", {"max_gt": 3}),
        lambda: watch.update(1, parameters={"max_gt": 4}),
        lambda: watch.update(1, name="large"),
        lambda: watch.tick(1, [Rule("a/b", False)]),
        lambda: watch.duplicate(1),
        lambda: watch.delete(2),
        lambda: watch.update(1, enabled=False),
        lambda: watch.answer_offer(False),
        lambda: watch.take_earlier(State()),
        lambda: watch.clear(),
    ]
    for number, change in enumerate(changes, 1):
        change()
        assert watch.set.revision == number


def test_what_changes_nothing_does_not(watch):
    watch.create("tensor_too_large", {"max_gt": 3}, name="a")
    watch.answer_offer(True)
    before = watch.state
    watch.update(1, condition="tensor_too_large", parameters={"max_gt": "3e0"}, name="a", enabled=True)
    watch.update(1)
    watch.answer_offer(True)
    watch.add_new(before.watchpoints)
    assert watch.state is before


def test_what_no_check_would_notice_makes_no_hits_outdated(watch):
    watch.create("tensor_too_large", {"max_gt": 3})
    assert watch.state.checked_since == 1
    watch.update(1, name="another name")
    watch.answer_offer(True)
    assert (watch.set.revision, watch.state.checked_since) == (3, 1)
    watch.update(1, parameters={"max_gt": 4})
    assert watch.state.checked_since == 4
    watch.update(1, enabled=False)
    assert watch.state.checked_since == 5
    watch.tick(1, [Rule("a", True)])
    watch.delete(1)
    assert (watch.set.revision, watch.state.checked_since) == (7, 5)


def test_parameters_come_as_numbers(watch):
    wp = watch.create("gradient_vanishing", {"abs_mean_lt": "1e-9"})
    assert (dict(wp.parameters), wp.selection) == ({"abs_mean_lt": 1e-9}, Selection("gradient"))
    assert dict(watch.create("tensor_all_zero", {}).parameters) == {"zero_percentage_ge": 100.0}


@pytest.mark.parametrize(
    ("condition", "parameters", "field", "code"),
    [
        ("tensor_heavy", {}, "condition", "unknown_condition"),
        ("tensor_too_large", {"min_lt": 1}, "min_lt", "unknown_parameter"),
        ("tensor_too_large", {}, "abs_mean_gt", "missing_parameter"),
        (
            "tensor_range",
            {"range_percentage_gt": 50, "range_start_inclusive": 0},
            "range_end_inclusive",
            "missing_companion",
        ),
        (
            "tensor_range",
            {"range_percentage_gt": 50, "range_start_inclusive": 2, "range_end_inclusive": 1},
            "range_end_inclusive",
            "start_after_end",
        ),
        ("tensor_too_large", {"max_gt": "nan"}, "max_gt", "not_a_number"),
        ("tensor_too_large", {"max_gt": "large"}, "max_gt", "not_a_number"),
        ("tensor_all_zero", {"zero_percentage_ge": 101}, "zero_percentage_ge", "out_of_range"),
    ],
)
def test_what_is_wrong_changes_nothing(watch, condition, parameters, field, code):
    watch.create("tensor_too_large", {"max_gt": 3}, name="good")
    before = watch.state
    for change in (
        lambda: watch.create(condition, parameters),
        lambda: watch.update(1, condition, parameters, name="bad", enabled=False),
    ):
        with pytest.raises(BadRequest) as error:
            change()
        assert (error.value.field, error.value.code) == (field, code)
    assert watch.state is before


def test_an_unknown_watchpoint(watch):
    for method in (watch.get, watch.delete, watch.duplicate, watch.update, lambda id: watch.tick(id, [])):
        with pytest.raises(NotAvailable, match="no watchpoint 7"):
            method(7)
    assert watch.state == State()


def test_nodes_follow_the_condition_until_someone_chooses(watch):
    watch.create("weight_overflow", {})
    assert watch.update(1, "gradient_exploding").selection == Selection("gradient")
    watch.tick(1, [Rule("a/b", True)])
    assert watch.update(1, "weight_overflow").selection == Selection("gradient", rules=(Rule("a/b", True),))


def test_ticks_come_to_the_selection(watch):
    watch.create("tensor_overflow", {}, Selection("none"))
    watch.tick(1, [Rule("a", True, scope=True), Rule("a/b", False)])
    assert watch.tick(1, [Rule("a/b", True)]).selection.rules == (Rule("a", True, scope=True), Rule("a/b", True))


def test_duplicates_have_names_of_their_own(watch):
    watch.create("tensor_overflow", {}, name="all")
    watch.create("tensor_overflow", {})
    assert [watch.duplicate(id).name for id in (1, 1, 3, 2)] == ["all (2)", "all (3)", "all (4)", ""]


def test_a_duplicate_is_no_recommended_one(watch):
    watch.add_new([Watchpoint(0, "tensor_overflow", recommended=True)])
    assert (watch.get(1).recommended, watch.duplicate(1).recommended) == (True, False)


def test_only_what_is_new_is_taken_in(watch):
    watch.create("tensor_all_zero", {"zero_percentage_ge": 100}, name="mine")
    offered = [
        Watchpoint(0, "tensor_all_zero", {"zero_percentage_ge": 100.0}),
        Watchpoint(0, "tensor_overflow"),
        Watchpoint(7, "tensor_overflow", name="twice"),
        Watchpoint(0, "tensor_overflow", selection=Selection("weight")),
    ]
    assert [(each.id, each.condition) for each in watch.add_new(offered)] == [
        (2, "tensor_overflow"),
        (3, "tensor_overflow"),
    ]
    assert [each.name for each in watch.set.watchpoints] == ["mine", "", ""]


def test_those_of_an_earlier_run_come_with_the_answer_that_was_given_there(watch):
    watch.create("tensor_overflow", {})
    earlier = Watchpoints()
    earlier.add_new([Watchpoint(0, "tensor_overflow", recommended=True), Watchpoint(0, "tensor_all_zero", name="mine")])
    earlier.answer_offer(True)
    watch.take_earlier(earlier.state)
    assert [(each.id, each.condition, each.name) for each in watch.set.watchpoints] == [
        (1, "tensor_overflow", ""),
        (2, "tensor_all_zero", "mine"),
    ]
    assert (watch.state.earlier_taken, watch.state.recommended) == (True, "accepted")
    watch.answer_offer(False)
    watch.take_earlier(State(recommended="accepted"))
    assert watch.state.recommended == "declined"


def test_there_is_a_limit(watch):
    watch.add_new(Watchpoint(0, "tensor_too_large", {"max_gt": float(number)}) for number in range(MOST))
    with pytest.raises(Conflict, match=f"{MOST} watchpoints at most"):
        watch.create("tensor_overflow", {})
    assert len(watch.set.watchpoints) == MOST


def test_earlier_states_are_remembered_for_a_while(watch):
    watch.create("tensor_overflow", {}, name="first")
    watch.update(1, "tensor_all_zero")
    assert [each.condition for each in watch.at(1)] == ["tensor_overflow"]
    assert [each.condition for each in watch.at(2)] == ["tensor_all_zero"]
    assert watch.at(0) == ()
    assert watch.at(99) == watch.set.watchpoints
    for number in range(100):
        watch.update(1, name=str(number))
    assert [each.condition for each in watch.at(1)] == ["tensor_all_zero"]  # forgotten: what it is now
