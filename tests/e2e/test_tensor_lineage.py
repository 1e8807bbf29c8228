"""The lineage of a tensor, the trace to where a fault began, and the tuning guide; a training with planted faults."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from browsing import complaints, expect
from lineage_page import LineagePage

from stepscope.testing.agent import FakeAgent
from stepscope.testing.server import ServerThread
from stepscope.testing.source import FakeSource
from stepscope.testing.zoo import CHAIN, CHAIN_END, GRADIENTS, LAYERS, LOG, NETWORK, PLANTED, Zoo

MUL, LOSS, RELU = f"{NETWORK}/loss/Mul-op1", f"{NETWORK}/loss/ReduceMean-op0", f"{NETWORK}/loss/ReLU-op0"
MATMUL, SIGMOID = f"{NETWORK}/1-Dense/MatMul-op1", f"{NETWORK}/1-Dense/Sigmoid-op1"
BEFORE, WEIGHT = f"{NETWORK}/0-Dense/Sigmoid-op0", "layers.1.weight"
LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])


@pytest.fixture
def agent(server: ServerThread) -> Iterator[FakeAgent]:
    with FakeAgent(server.debugger_address, FakeSource(network=Zoo())) as attached:
        yield attached


@pytest.fixture
def job(job: Any) -> Any:
    """After one step, with hits."""
    job.use_recommended()  # so that it isn't offered
    for watchpoint in job.watchpoints():
        watchpoint.delete()
    job.watch("tensor_overflow")
    job.watch("tensor_too_small", abs_mean_lt=1e-4)
    job.run(1)
    assert job.wait(60) == "paused"
    return job


@pytest.fixture
def at(new_page: Callable[..., Any], server: ServerThread, job: Any) -> Callable[..., LineagePage]:
    """Opens the view of a tensor: `at(node, language="zh")`."""

    def opened(node: str, slot: int = 0, language: str = "en", **look: Any) -> LineagePage:
        return LineagePage(new_page(language, **look), language).go_to(server.url, job.id, node, slot)

    return opened


# ---------------------------------------------------------------- lineage


def test_producers_and_consumers_of_a_tensor(at):
    page = at(MATMUL)
    page.draws(MATMUL, BEFORE, WEIGHT, SIGMOID)
    page.becomes(page.drawn, {MATMUL, BEFORE, WEIGHT, SIGMOID})
    slots = page.lineage.get_by_test_id("lineage-slot")
    tops = slots.evaluate_all("all => all.map(one => [one.dataset.tensor, one.getBoundingClientRect().y])")
    place = {tensor.rpartition(":")[0]: top for tensor, top in tops}
    assert max(place[BEFORE], place[WEIGHT]) < place[MATMUL] < place[SIGMOID]


def test_a_click_on_an_output_shows_its_figures(at, job):
    page = at(LOSS)
    page.slot(MUL).click()
    stats = job.stats(MUL)
    figures = page.figures.filter(has_text="Mul-op1:0").filter(has_text="float32")
    for words in (f"{stats.nan_count}", "[8, 16]", "Tensor overflow"):
        expect(figures).to_contain_text(words)
    expect(page.slot(MUL)).to_contain_text("TO")
    page.shows(LOSS)  # only looked at


def test_a_double_click_leads_on_and_the_way_leads_back(at):
    page = at(LOSS)
    back, forward = (page.button_of(page.lineage, word) for word in ("back", "forward"))
    page.rests(back)
    page.slot(MUL).dblclick()
    page.shows(MUL)
    page.slot(LOG).dblclick()
    page.shows(LOG)
    back.click()
    page.shows(MUL)
    page.page.go_back()  # the browser's button
    page.shows(LOSS)
    page.rests(back)
    forward.click()
    page.shows(MUL)
    expect(forward).to_be_enabled()
    page.slot(LOSS).dblclick()  # goes on from here: what was ahead is gone
    page.shows(LOSS)
    page.rests(forward)
    expect(back).to_be_enabled()


def test_hops_are_added_and_taken_away(at):
    page = at(LOSS)
    page.draws(MUL)
    assert LOG not in page.drawn()
    page.more_hops("up")
    page.draws(LOG)
    page.more_hops("up")
    page.draws(RELU)
    page.page.get_by_test_id("hops-up").get_by_role("button").first.click()
    page.page.locator(f'[data-testid=lineage-node][data-name="{RELU}"]').wait_for(state="detached")
    page.draws(LOG)


def test_very_many_consumers_are_folded(at, job):
    readers = {name for name, _ in job.node("one").outputs[0].consumers}
    page = at("one")
    fold = page.lineage.get_by_test_id("lineage-fold")
    fold.wait_for()
    page.becomes(lambda: len(page.drawn() & readers), 7)
    expect(fold).to_have_text(f"+{len(readers) - 7} more")
    page.button_of(page.lineage, "fit").click()
    fold.click()
    page.draws(*readers)
    expect(fold).to_have_count(0)


def test_the_keyboard_leads_through_the_drawing(at):
    page = at(LOSS)
    page.slot(LOSS).focus()
    page.page.keyboard.press("ArrowUp")
    expect(page.slot(MUL)).to_be_focused()
    page.page.keyboard.press("Enter")
    page.figures.filter(has_text="Mul-op1:0").wait_for()
    page.page.keyboard.press("Shift+Enter")
    page.shows(MUL)
    page.page.keyboard.press("ArrowUp")  # goes on from there
    page.slot(LOG).and_(page.page.locator(":focus")).wait_for()


def test_an_output_is_shown_in_the_graph(at):
    page = at(LOSS)
    page.slot(MUL).click()
    page.button_of(page.figures, "in_graph").click()
    page.selected(MUL)
    expect(page.page).to_have_url(re.compile("/node/"))


# ---------------------------------------------------------------- trace


@LANGUAGES
def test_a_trace_marks_the_way_from_where_it_began(at, language):
    page = at(LOSS, language=language)
    page.button_of(page.lineage, "trace").click()
    assert page.listed() == [LOG, MUL, LOSS]
    page.draws(LOG)
    page.becomes(page.numbered, [LOG, MUL, LOSS])
    expect(page.lineage.locator("path[data-piece]")).to_have_count(2)
    origin = page.lineage.locator("[data-testid=lineage-node][data-origin]")
    expect(origin).to_have_attribute("data-name", LOG)
    began = page.trace.get_by_test_id("origin-source")
    for words in (page.says["began"], "zoo.py:", "out = self.log(x)"):
        expect(began).to_contain_text(words)
    page.button_of(page.trace, "end_trace").click()
    page.trace.wait_for(state="detached")
    page.becomes(page.numbered, [])


def test_a_long_trace_is_listed_with_every_step(at):
    page = at(CHAIN_END)
    page.button_of(page.guide, "trace").click()
    steps = page.listed()
    assert (steps[0], steps[-1], len(steps)) == (PLANTED, CHAIN_END, CHAIN - CHAIN // 2)
    page.becomes(page.numbered, steps)
    expect(page.trace.get_by_test_id("long-path")).to_contain_text(f"{len(steps)} nodes")
    page.trace.get_by_test_id("trace-step").nth(12).click()
    page.figures.filter(has_text=steps[12].rpartition("/")[2]).wait_for()
    page.trace.get_by_test_id("trace-step").nth(12).dblclick()
    page.shows(steps[12])
    assert page.listed() == steps  # still on the way


def test_a_trace_ends_off_its_way(at):
    page = at(LOSS)
    page.button_of(page.lineage, "trace").click()
    assert page.listed() == [LOG, MUL, LOSS]
    page.more_hops("up")
    page.more_hops("up")
    page.draws(RELU)
    page.button_of(page.lineage, "fit").click()
    page.slot(RELU).dblclick()
    page.shows(RELU)
    page.trace.wait_for(state="detached")


@LANGUAGES
def test_where_nothing_is_wrong_there_is_no_origin(at, language):
    page = at(WEIGHT, language=language)
    page.button_of(page.lineage, "trace").click()
    page.trace.get_by_test_id("no-origin").filter(has_text=page.says["no_fault"]).wait_for()


@LANGUAGES
def test_a_hit_is_traced(new_page, server, job, language):
    page = LineagePage(new_page(language), language)
    page.open(server.url).state("paused")
    page.tab(page.words["hits"]).click()
    page.page.locator("input[type=search]:visible").fill("ReduceMean")  # there are many hits
    page.hit_of(LOSS).click()
    page.page.get_by_role("button", name=page.says["trace"]).click()
    page.shows(LOSS)
    assert page.listed() == [LOG, MUL, LOSS]


# ---------------------------------------------------------------- guide


@LANGUAGES
def test_the_guide_says_what_was_hit_and_what_the_data_say(at, language):
    page = at(LOG, language=language)
    hit = page.guide.get_by_test_id("guide-hit").first
    expect(hit).to_contain_text(page.words["overflow"])
    expect(hit).to_contain_text(page.says["overflow_means"])
    facts = page.facts()
    zeros = next(fact for fact in facts if "loss/ReLU-op0:0" in fact)
    assert "128" in zeros
    assert "Log" in zeros
    page.guide.get_by_role("button", name="loss/ReLU-op0:0").click()
    page.shows(RELU)


@LANGUAGES
def test_the_guide_says_why_a_watchpoint_was_not_evaluated(at, language):
    page = at(LOSS, language=language)
    page.guide.get_by_test_id("guide-hit").filter(has_text=page.says["not_evaluated"]).wait_for()


@LANGUAGES
def test_the_guide_knows_the_layers_in_which_a_gradient_vanishes(at, language):
    page = at(f"{GRADIENTS}/1-Dense/MatMul-op{LAYERS + 2}", language=language)
    trend = next(fact for fact in page.facts() if "10^" in fact)
    assert f"{GRADIENTS}/0-Dense".rpartition("/")[2] in trend
    links = page.guide.get_by_test_id("fact").filter(has_text="10^").get_by_role("button")
    page.until(lambda: links.count() >= 3)
    links.first.click()
    page.page.wait_for_url(f"**/tensor/{GRADIENTS}/**")


@LANGUAGES
def test_the_guide_is_empty_where_nothing_is_to_be_said(at, language):
    page = at(WEIGHT, language=language)
    page.guide.get_by_test_id("guide-empty").filter(has_text=page.says["nothing"]).wait_for()


# ---------------------------------------------------------------- access


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_keeps_anyone_out(at, scheme):
    page = at(LOSS, scheme=scheme)
    page.button_of(page.lineage, "trace").click()
    assert page.listed() == [LOG, MUL, LOSS]
    page.facts()
    assert complaints(page.page) == []
