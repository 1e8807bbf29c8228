"""Watchpoints on the page: made, edited, ticked, hit, checked again; with a fake agent that evaluates them for real."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from browsing import complaints, expect
from watching import Watching

import stepscope
from stepscope.core.watch.records import Rule, Watchpoint
from stepscope.testing.agent import FakeAgent
from stepscope.testing.graphs import transformer
from stepscope.testing.server import ServerThread
from stepscope.testing.source import INFO, FakeSource

DENSE = "Default/network/hidden-Dense"
MATMUL = f"{DENSE}/MatMul-op0"
BIAS = f"{DENSE}/BiasAdd-op0"
WEIGHT = "hidden.weight"
LOSS = "Default/network/loss"
LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])


@pytest.fixture
def page(new_page: Callable[..., Any]) -> Watching:
    return Watching(new_page())


@pytest.fixture
def faulty(server: ServerThread) -> Iterator[FakeAgent]:
    """A training whose second step gets a NaN as input."""
    with FakeAgent(server.debugger_address, FakeSource(nan_at=1)) as attached:
        yield attached


def start(page: Watching, server: ServerThread, answer: str = "not_now") -> Watching:
    page.open(server.url).state("paused")
    page.answer(answer)
    return page


def arrived(
    page: Watching, agent: FakeAgent, holds: Callable[[tuple[Watchpoint, ...]], bool]
) -> tuple[Watchpoint, ...]:
    """The watchpoints as the training has them, once something holds for them."""
    page.until(lambda: holds(agent.source.watchpoints.watchpoints))
    return agent.source.watchpoints.watchpoints


# ---------------------------------------------------------------- the offer


@LANGUAGES
def test_the_recommended_ones_are_used(new_page, server, agent, language):
    page = start(Watching(new_page(language), language), server, "use")
    page.watch_row.filter(has_text=page.words["unchanged"]).first.wait_for()
    rows = page.watch_rows()
    assert [row.partition(" ")[0] for row in rows] == [str(number) for number in range(1, len(rows) + 1)]
    page.page.reload()
    page.watchpoint(len(rows)).wait_for()
    page.becomes(page.watch_rows, rows)
    expect(page.offer).to_be_hidden()
    there = arrived(page, agent, lambda there: len(there) == len(rows))
    assert {each.condition for each in there} >= {"tensor_overflow", "gradient_vanishing"}


def test_the_offer_blocks_nothing_and_can_be_taken_later(page, server, agent):
    page.open(server.url).state("paused")
    page.offer.wait_for()
    page.run(1)
    page.step(1)
    page.answer("not_now")
    assert page.watch_rows() == []
    page.press("late")
    page.watchpoint(1).wait_for()
    page.page.get_by_role("button", name=page.words["late"]).wait_for(state="hidden")


def test_those_of_the_last_run_are_offered(page, server):
    with FakeAgent(server.debugger_address) as first:
        start(page, server)
        page.new("too_large")
        page.field("abs_mean_gt").fill("12")
        page.accept()
        first.finish()
        page.state("finished")
    with FakeAgent(server.debugger_address, FakeSource(replace(INFO, job_id="fake-2", pid=4243))) as second:
        page.page.get_by_role("button", name="Open it").click()
        page.state("paused")
        page.offer.get_by_role("button", name="The one of the last run of train.py").click()
        page.offer.wait_for(state="hidden")
        expect(page.watch_row).to_contain_text("Average of the absolute value > 12")
        (taken,) = arrived(page, second, lambda there: len(there) == 1)
        assert taken.parameters == {"abs_mean_gt": 12.0}


# ---------------------------------------------------------------- making and editing


@LANGUAGES
def test_one_is_made_edited_copied_and_deleted(new_page, server, agent, language):
    page = start(Watching(new_page(language), language), server)
    page.new("too_large")
    page.field("max_gt").fill("1e-9")  # typing switches the check on
    page.dialog.locator('[data-check="abs_mean_gt"]').uncheck()
    page.dialog.get_by_label(page.words["name"], exact=True).fill("mine")
    page.accept()
    page.covers(1, 21)
    expect(page.watch_row).to_contain_text(f"1 mine {page.words['too_large']}", use_inner_text=True)
    expect(page.watch_row).to_contain_text(f"{page.words['max_gt']} 1e-9", use_inner_text=True)
    (made,) = arrived(page, agent, lambda there: len(there) == 1)
    assert (made.condition, made.parameters, made.name) == ("tensor_too_large", {"max_gt": 1e-9}, "mine")

    page.menu(1, "edit")
    expect(page.field("max_gt")).to_have_value("1e-9")
    page.field("max_gt").fill("2.5")
    page.field("max_gt").press("Enter")
    page.dialog.wait_for(state="hidden")
    page.watchpoint(1).filter(has_text=f"{page.words['max_gt']} 2.5").wait_for()
    page.menu(1, "duplicate")
    page.watchpoint(2).wait_for()
    page.menu(2, "switch_off")
    page.page.locator('[data-testid="watch-2"].ss-watch-off').wait_for()
    arrived(page, agent, lambda there: [each.enabled for each in there] == [True, False])

    page.menu(1, "delete_one")
    page.press("cancel", page.dialog)
    page.dialog.wait_for(state="hidden")
    page.menu(1, "delete_one")
    page.press("delete", page.dialog)
    page.watchpoint(1).wait_for(state="hidden")
    page.becomes(lambda: [row[0] for row in page.watch_rows()], ["2"])
    page.press("clear")
    page.press("delete", page.dialog)
    page.watchpoint(2).wait_for(state="hidden")
    arrived(page, agent, lambda there: there == ())


@LANGUAGES
def test_mistakes_are_told_at_the_field(new_page, server, agent, language):
    page = start(Watching(new_page(language), language), server)
    words = page.words
    page.new("range")
    page.press("ok", page.dialog)
    page.complains("range_percentage_lt", "missing")
    page.complains("range_start_inclusive", "companion")
    expect(page.field("range_percentage_lt")).to_be_focused()  # the first one
    for parameter, typed, told in (
        ("range_percentage_lt", "101", "out_of_range"),
        ("range_percentage_lt", "-1", "out_of_range"),
        ("range_start_inclusive", "nan", "not_a_number"),
        ("range_start_inclusive", "1e", "not_a_number"),
    ):
        page.field(parameter).fill("1")
        expect(page.dialog.get_by_test_id(f"error-{parameter}")).to_have_count(0)
        page.field(parameter).fill(typed)
        page.field(parameter).blur()
        page.complains(parameter, told)
    page.field("range_percentage_lt").fill("0")
    expect(page.dialog.get_by_test_id("futile-range_percentage_lt")).to_have_text(words["never"])
    page.field("range_start_inclusive").fill("2")
    page.field("range_end_inclusive").fill("1")
    page.field("range_end_inclusive").blur()
    page.complains("range_end_inclusive", "start_after_end")
    page.dialog.locator('[data-check="range_percentage_lt"]').uncheck()
    expect(page.field("range_start_inclusive")).to_have_count(0)  # only there where a check needs it
    page.press("ok", page.dialog)
    page.dialog.get_by_text(words["no_check"]).wait_for()
    page.choose("zeros")
    expect(page.field("zero_percentage_ge")).to_have_value("100")
    page.field("zero_percentage_ge").fill("0")
    expect(page.dialog.get_by_test_id("futile-zero_percentage_ge")).to_have_text(words["always"])
    page.press("cancel", page.dialog)
    page.dialog.wait_for(state="hidden")
    assert page.watch_rows() == []
    assert agent.source.watchpoints.watchpoints == ()


def test_what_only_the_server_finds_is_told_at_the_field_too(page, server, agent):
    start(page, server)
    page.page.route("**/watchpoints", lambda route: route.fulfill(
        status=400, content_type="application/problem+json",
        body='{"kind": "bad_request", "detail": "no", "status": 400, "field": "abs_mean_gt", "code": "not_a_number"}'
    ) if route.request.method == "POST" else route.continue_())  # fmt: skip
    page.new("too_large")
    page.field("abs_mean_gt").fill("10")
    page.press("ok", page.dialog)
    page.complains("abs_mean_gt", "not_a_number")


def test_one_on_the_selected_node_by_keys_alone(page, server, agent):
    start(page, server)
    page.open_scope("Default", "Default/network", DENSE)
    page.select(MATMUL)
    keyboard = page.page.keyboard
    keyboard.press("F9")
    expect(page.dialog.get_by_role("radio", name=page.words["selected_node"])).to_be_checked()
    keyboard.press("Escape")
    page.dialog.wait_for(state="hidden")
    assert page.watch_rows() == []
    keyboard.press("F9")
    page.dialog.wait_for()
    page.dialog.get_by_label(page.words["name"], exact=True).press("Enter")
    page.dialog.wait_for(state="hidden")
    page.covers(1, 1)
    (made,) = arrived(page, agent, lambda there: len(there) == 1)
    assert made.selection.rules == (Rule(MATMUL, True, graph="graph_0"),)
    page.watchpoint(1).locator(".ss-watch-main").press("F2")
    page.dialog.wait_for()
    keyboard.press("Escape")
    page.dialog.wait_for(state="hidden")
    page.watchpoint(1).locator(".ss-watch-main").press("Delete")
    page.press("delete", page.dialog)
    page.watchpoint(1).wait_for(state="hidden")


def test_one_from_the_menu_of_the_canvas(page, server, agent):
    start(page, server)
    page.box("Gradients").get_by_role("button", name="Actions for Gradients").click()
    page.page.get_by_role("menuitem", name="New watchpoint here").click()
    expect(page.dialog.get_by_role("radio", name=page.words["selected_scope"])).to_be_checked()
    page.choose("overflow")
    page.accept()
    page.covers(1, 5)


def test_a_constant_can_not_be_watched(page, server, agent):
    start(page, server)
    page.page.get_by_label(page.text["search"]).fill("learning_rate")
    page.page.locator(".ss-kind-constant").first.wait_for()
    page.page.locator("[role=treeitem]").last.click()
    page.page.keyboard.press("F9")
    page.press("ok", page.dialog)
    page.dialog.get_by_text("This node has no value that could be watched.").wait_for()


# ---------------------------------------------------------------- ticks


@LANGUAGES
def test_nodes_and_scopes_are_ticked(new_page, server, agent, language):
    page = start(Watching(new_page(language), language), server)
    page.new(None, "weights")
    page.choose("initial")
    page.accept()
    page.covers(1, 3)
    page.choose_nodes(1)
    page.open_scope("Default", "Default/network", DENSE, LOSS)
    page.ticked("Default", "mixed")
    page.ticked(DENSE, "mixed")
    page.ticked(WEIGHT, "true")
    page.ticked(MATMUL, "false")
    page.tick(DENSE)
    page.ticked(DENSE, "true")
    page.ticked(MATMUL, "true")
    page.ticked("x", "true")
    page.ticked("Default/network", "mixed")
    page.covers(1, 6)
    page.tick(WEIGHT)
    page.ticked(DENSE, "mixed")
    page.covers(1, 5)
    page.tick(DENSE)  # half ticked becomes wholly ticked
    page.ticked(WEIGHT, "true")
    page.tick(DENSE)
    page.ticked(DENSE, "false")
    page.ticked("x", "false")
    page.covers(1, 1)
    page.press("all")
    page.covers(1, 21)
    page.ticked("Gradients", "true")
    page.press("none")
    page.covers(1, 0)
    page.watchpoint(1).locator(".ss-watch-warning").wait_for()
    page.tick(LOSS)
    page.ticked(LOSS, "true")
    page.covers(1, 2)
    page.page.reload()
    page.choose_nodes(1)
    page.open_scope("Default", "Default/network")
    page.ticked(LOSS, "true")
    page.press("done")
    page.page.get_by_test_id("tickbar").wait_for(state="hidden")
    expect(page.page.locator(".ss-tick")).to_have_count(0)
    arrived(page, agent, lambda there: there[0].selection.rules[-1] == Rule(LOSS, True, scope=True, graph="graph_0"))


def test_what_a_filter_found_is_ticked_alone(page, server, agent):
    start(page, server)
    page.new("overflow")
    page.accept()
    page.choose_nodes(1)
    page.press("none")
    page.covers(1, 0)
    page.page.get_by_label(page.text["search"]).fill("matmul")
    page.page.locator("[data-testid=matches]", has_text="5 matches").wait_for()
    page.ticked("Default", "false")
    page.tick("Default")
    page.ticked("Default", "true")
    page.ticked("Gradients", "false")
    forward = page.page.locator('[role=treeitem][data-name^="Default/"][aria-label*=", op"]').count()
    page.covers(1, forward)
    page.press("all")
    page.ticked("Gradients", "true")
    page.covers(1, 5)
    page.page.get_by_label(page.text["search"]).fill("")
    page.ticked("Gradients", "mixed")


def test_boxes_by_the_keyboard(page, server, agent):
    start(page, server)
    page.new("overflow")
    page.accept()
    page.choose_nodes(1)
    page.row("Default").click()
    page.ticked("Default", "true")
    page.page.keyboard.press("Space")
    page.ticked("Default", "false")
    page.covers(1, 5)
    page.page.keyboard.press("ArrowDown")
    page.page.keyboard.press("Space")
    page.covers(1, 0)


# ---------------------------------------------------------------- hits


@LANGUAGES
def test_a_hit_is_listed_marked_and_jumped_to(new_page, server, faulty, language):
    page = start(Watching(new_page(language), language), server)
    page.new("overflow")
    page.accept()
    page.new("too_large")
    page.field("abs_mean_gt").fill("1e-9")
    page.accept()
    page.press("done")
    page.run(5)
    page.page.locator("[data-testid=state]", has_text=page.words["paused_by_hit"]).wait_for()
    page.step(1)
    page.hits.first.wait_for()  # the list came to the front by itself
    expect(page.hits.first).to_have_attribute("data-node", "x")
    expect(page.hits.first).to_contain_text(page.words["overflow"])
    page.page.locator("[data-testid=hit-reason]", has_text=page.words["nan"]).first.wait_for()
    expect(page.tab(page.words["hits"])).to_have_attribute("aria-selected", "true")

    page.page.get_by_role("searchbox").fill("matmul-op0")
    page.hit_of(MATMUL).click()
    page.selected(MATMUL)
    page.page.get_by_test_id("advice").wait_for()
    page.box(MATMUL).locator(".ssg-box.is-hit").wait_for()
    lines = page.page.get_by_test_id("tensor-hits")
    lines.filter(has_text=page.words["overflow"]).wait_for()
    page.page.get_by_text(page.words["kind_error"], exact=True).first.click()
    errors = "hits => hits.length > 0 && hits.every(hit => hit.classList.contains('ss-hit-error'))"
    page.until(lambda: page.hits.evaluate_all(errors))
    page.tab(page.text["nodes"] if language == "zh" else "Nodes").click()
    expect(page.row(MATMUL)).to_have_attribute("aria-selected", "true")
    page.row(MATMUL).locator(".ss-row-hit").wait_for()


def test_a_hit_shows_what_was_set_and_what_was_found(page, server, agent, job):
    start(page, server)
    page.new("too_large")
    page.field("abs_mean_gt").fill("1e-9")
    page.accept()
    page.run(1)
    page.hit_of(MATMUL).wait_for()
    check = page.hit_of(MATMUL).get_by_test_id("hit-check")
    expect(check).to_contain_text("set 1e-9")
    actual = float(check.inner_text().rpartition(" ")[2])
    assert actual == pytest.approx(job.stats(MATMUL).abs_mean, rel=1e-6)


@LANGUAGES
def test_a_change_outdates_the_hits_until_they_are_checked_again(new_page, server, agent, language):
    page = start(Watching(new_page(language), language), server)
    page.new("too_large")
    page.field("abs_mean_gt").fill("1e-9")
    page.accept()
    page.press("done")
    page.run(1)
    page.hits.first.wait_for()
    outdated = page.page.get_by_test_id("outdated")
    expect(outdated).to_be_hidden()
    page.menu(1, "edit")
    page.field("abs_mean_gt").fill("1e9")
    page.accept()
    outdated.filter(has_text=page.words["old_set"]).wait_for()
    page.press("check_again", outdated)
    page.page.get_by_text(page.words["nothing"]).first.wait_for()
    expect(page.hits).to_have_count(0)
    page.menu(1, "edit")
    page.field("abs_mean_gt").fill("1e-9")
    page.accept()
    page.page.keyboard.press("Shift+F9")
    page.hits.first.wait_for()
    page.watchpoint(1).locator(".mantine-Switch-track").click()
    outdated.wait_for()
    page.run(1)
    page.step(2)
    outdated.filter(has_text=page.words["old_step"]).wait_for()
    page.box("Default").locator(".ssg-box.is-hit").wait_for(state="hidden")  # the values are others now


def test_thousands_of_hits_are_a_list_to_scroll(page, server, agent, job):
    start(page, server)
    for _ in range(12):
        job.watch("tensor_too_large", max_gt=-1e9)
    page.watchpoint(12).wait_for()
    page.run(1)
    page.hits.first.wait_for()
    expect(page.page.get_by_test_id("hit-total")).to_have_text(re.compile("^300 hits"))
    assert page.hits.count() < 40
    page.page.get_by_role("listbox", name="Hits").focus()
    page.page.keyboard.press("End")
    last = page.page.locator('[data-testid=hit][data-node][aria-posinset="300"]')
    last.wait_for()
    page.page.keyboard.press("Enter")
    page.selected(str(last.get_attribute("data-node")))
    page.page.get_by_role("combobox", name="Watchpoints").click()
    page.page.locator(".mantine-Select-option").nth(3).click()
    page.page.locator("[data-testid=hit-total]", has_text="25 hits of 300").wait_for()


def test_no_previous_value_is_said(page, server, agent, job):
    start(page, server)
    job.watch("weight_change_too_small", nodes=[MATMUL, WEIGHT])
    page.run(1)
    page.step(1)
    page.tab(page.words["hits"]).click()
    page.page.locator("[data-testid=hit-reason]", has_text=page.words["no_previous"]).first.wait_for()


# ---------------------------------------------------------------- everyone, and much of it


@pytest.mark.parametrize(("language", "scheme"), [("en", "light"), ("zh", "dark")])
def test_axe_finds_nothing_serious(new_page, server, faulty, language, scheme):
    page = Watching(new_page(language, scheme), language)
    page.open(server.url).state("paused")
    page.offer.wait_for()
    assert complaints(page.page) == []
    page.answer("use")
    page.watchpoint(1).wait_for()
    assert complaints(page.page) == []
    page.new("range")
    page.press("ok", page.dialog)
    assert complaints(page.page) == []
    page.page.keyboard.press("Escape")
    page.dialog.wait_for(state="hidden")
    page.choose_nodes(1)
    page.open_scope("Default", "Default/network")
    page.ticked("Default", "mixed")
    assert complaints(page.page) == []
    page.press("done")
    page.run(2)
    page.hits.nth(1).click()
    page.page.get_by_test_id("tensor-hits").first.wait_for()
    assert complaints(page.page) == []
    page.watchpoint(1).locator(".mantine-Switch-track").click()
    page.watchpoint(7).locator(".mantine-Switch-track").click()
    page.page.get_by_test_id("outdated").wait_for()
    assert complaints(page.page) == []


class LargeSource(FakeSource):
    """A training with a graph of 20,000 nodes; its steps are those of the small network."""

    @staticmethod
    def graph() -> tuple[str, bytes]:
        return "kernel_graph0", transformer(20_000).SerializeToString()


def test_a_watchpoint_on_all_of_20000_nodes_arrives_whole(page, server):
    with FakeAgent(server.debugger_address, LargeSource()) as agent:
        start(page, server)
        page.page.locator('[role=treeitem][data-name="Default"]').wait_for(timeout=60_000)
        page.new("too_large")
        page.field("abs_mean_gt").fill("1e6")
        page.accept()
        watched = page.watchpoint(1).get_by_test_id("watched")
        total = int(watched.inner_text().replace(",", ""))
        assert total > 15_000
        page.menu(1, "edit")
        page.field("abs_mean_gt").fill("1e7")
        page.accept()
        page.watchpoint(1).filter(has_text="10000000").wait_for()
        page.choose_nodes(1)
        page.press("none")
        page.covers(1, 0)
        page.page.get_by_label(page.text["search"]).fill("op")  # a rule for each node that is found
        page.page.locator("[data-testid=matches]", has_text="only the first").wait_for(timeout=60_000)
        page.press("all")
        page.page.wait_for_function(
            "() => Number(document.querySelector('[data-testid=watched]').textContent.replace(',', '')) > 10000",
            timeout=60_000,
        )
        page.page.get_by_label(page.text["search"]).fill("")
        page.ticked("Gradients", "true")
        count = int(watched.inner_text().replace(",", ""))
        page.tick("Gradients")
        page.ticked("Gradients", "false")
        page.page.wait_for_function(
            "before => Number(document.querySelector('[data-testid=watched]').textContent.replace(',', '')) < before",
            arg=count,
        )
        with stepscope.connect(server.url) as debugger:
            (listed,) = debugger.jobs()[-1].watchpoints()
            nodes = debugger.jobs()[-1].nodes("op")
        (whole,) = arrived(page, agent, lambda there: there[0].selection.rules[-1].on is False)
        assert whole.parameters == listed.parameters == {"abs_mean_gt": 1e7}
        ticked = {rule.path for rule in whole.selection.rules if rule.on}
        assert len(ticked) > 3_000
        assert ticked <= set(nodes)
        assert listed.watched == len(ticked)
