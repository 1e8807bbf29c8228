"""The view of a tensor: how it is opened, its dimensions and values, comparison, copying, keys, and that it follows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

import numpy as np
import pytest
from browsing import complaints, expect
from viewing import Viewing, op_of

import stepscope
from stepscope.testing.agent import FakeAgent
from stepscope.testing.source import FakeSource
from stepscope.testing.zoo import LOG, PARAMETERS, Zoo

LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])
SAYS = {
    "en": {
        "syntax": "An index or a slice", "free": "Only two dimensions", "outside": "-5 to 4 are allowed",
        "no_elements": "The tensor has no elements.", "step": "Run one step", "strings": "holds no numbers, but text",
        "running": "The training is running", "ended": "The training has ended",
        "not_run": "The node did not run in that step.", "gone": "The training has ended, and its tensors with it.",
        "trace": "Trace to origin", "no_hits": "No watchpoint was hit by this tensor.",
        "unknown": "There is no node, scope or graph of this name.", "no_slot": "The node has no such output",
        "inconspicuous": "its values are not conspicuous",
    },
    "zh": {
        "syntax": "2:10", "free": "两", "outside": "-5", "no_elements": "没有元素", "step": "执行一个轮次",
        "strings": "不是数值，而是文本", "running": "训练正在运行", "ended": "训练已结束",
        "not_run": "该节点在该轮次中没有运行。", "gone": "训练已结束，其张量已不存在。", "trace": "追溯源头",
        "no_hits": "该张量没有命中监测点。", "unknown": "没有该名称的节点", "no_slot": "该节点没有这个输出",
        "inconspicuous": "数值也没有明显异常",
    },
}  # fmt: skip


@pytest.fixture
def job(server) -> Iterator[stepscope.Job]:
    """Paused after its second step, with no watchpoint."""
    with (
        FakeAgent(server.debugger_address, FakeSource(network=Zoo())),
        stepscope.connect(server.url) as connected,
    ):
        job = connected.wait_for_job(60)
        job.use_recommended()  # so that it isn't offered
        for watchpoint in job.watchpoints():
            watchpoint.delete()
        job.run(2)
        assert job.wait(60) == "paused"
        yield job


@pytest.fixture
def look(new_page, server, job):
    def at(name: str, language: str = "en", scheme: str = "light") -> Viewing:
        return Viewing(new_page(language, scheme), language).look_at(server.url, job.id, op_of(name))

    return at


def cell(page: Viewing, row: int, column: int) -> str:
    """The text of a cell, once its value is there."""
    found = page.view.locator(f'.ss-cell[data-row="{row}"][data-column="{column}"]')
    found.wait_for()
    page.settled()
    expect(found).not_to_have_text("…")
    return str(found.inner_text())


def number_at(page: Viewing, row: int, column: int) -> float:
    return float(cell(page, row, column).replace("−", "-"))


def choose(page: Viewing, *fields: str) -> None:
    """Types into the fields of the dimensions; the last Enter takes them."""
    for dimension, text in enumerate(fields):
        field = page.view.get_by_test_id(f"dimension-{dimension}")
        field.fill(text)
        field.press("Enter")
    page.settled()


# ---------------------------------------------------------------- opening


def test_it_opens_from_the_node_table_and_closes_to_where_it_was(new_page, server, job):
    page = Viewing(new_page())
    page.open(f"{server.url}/#/job/{job.id}/node/{quote(op_of('matrix'))}?graph=zoo")
    button = page.page.get_by_test_id("tensor-output-0").get_by_role("button", name="View")
    button.click()
    page.view.wait_for()
    expect(page.page).to_have_url(re.compile(f"/tensor/{quote(op_of('matrix'))}/0"))
    expect(page.view.get_by_test_id("tensor-shape")).to_have_text("[1024, 1024]")
    page.page.keyboard.press("Escape")
    page.view.wait_for(state="detached")
    expect(page.page).to_have_url(re.compile(f"/node/{quote(op_of('matrix'))}"))
    page.page.go_back()
    page.view.wait_for()
    page.page.go_back()
    page.view.wait_for(state="detached")


def test_it_opens_from_a_hit(new_page, server, job):
    job.watch("tensor_overflow")
    job.recheck()
    job.wait(60)
    page = Viewing(new_page())
    page.open(f"{server.url}/#/job/{job.id}?graph=zoo")
    page.page.get_by_role("tab", name="Hits").click()
    hit = page.page.locator(f'[data-testid=hit][data-node="{LOG}"]')
    hit.click()
    page.page.get_by_test_id("hit-actions").get_by_role("button", name="Open the tensor").click()
    page.view.wait_for()
    expect(page.view.get_by_test_id("tensor-name")).to_have_attribute("title", f"{LOG}:0")


def test_the_focus_comes_back_to_what_opened_it(new_page, server, job):
    page = Viewing(new_page())
    page.open(f"{server.url}/#/job/{job.id}/node/{quote(op_of('matrix'))}?graph=zoo")
    button = page.page.get_by_test_id("tensor-output-0").get_by_role("button", name="View")
    button.focus()
    page.page.keyboard.press("Enter")
    page.view.wait_for()
    assert cell(page, 0, 0)
    page.view.get_by_role("button", name="Close the tensor").click()
    page.view.wait_for(state="detached")
    expect(button).to_be_focused()


def test_the_hint_of_a_field_goes_when_one_types(look, job):
    page = look("conv.weight")
    field = page.view.get_by_test_id("dimension-0")
    field.focus()
    hint = page.page.get_by_role("tooltip")
    hint.wait_for()
    page.page.keyboard.type("1")
    hint.wait_for(state="detached")


def test_escape_takes_back_what_was_typed_before_it_closes(look, job):
    page = look("conv.weight")
    field = page.view.get_by_test_id("dimension-0")
    field.fill("5:")
    field.press("Escape")
    expect(field).to_have_value("0")
    page.view.wait_for()
    field.press("Escape")
    page.view.wait_for(state="detached")


def test_a_link_survives_a_reload(look, job):
    page = look("matrix")
    assert cell(page, 0, 0)
    page.page.reload()
    assert cell(page, 0, 0)
    expect(page.view.get_by_test_id("tensor-name")).to_have_attribute("title", f"{op_of('matrix')}:0")


# ---------------------------------------------------------------- dimensions and values


def test_every_tensor_opens_on_data(look, job):
    for name in PARAMETERS.keys() - {"empty", "words"}:
        page = look(name)
        assert cell(page, 0, 0), name
        page.whole()
        assert page.view.get_by_role("alert").count() == 0, name
        page.page.close()


@LANGUAGES
def test_what_has_no_values_is_said(look, language):
    look("empty", language).view.get_by_text(SAYS[language]["no_elements"]).wait_for()
    page = look("words", language)
    said = page.view.locator(".ss-tensor-values [role=alert]")
    page.becomes(lambda: said.inner_text().count(SAYS[language]["strings"]), 1)
    page.view.get_by_test_id("lineage-figures").get_by_text(SAYS[language]["strings"]).wait_for()
    expect(page.view.get_by_test_id("tensor-shape")).to_have_text("[3, 2]")  # as the graph has it
    expect(page.view.locator(".ss-tools")).to_have_count(0)
    page.view.get_by_test_id("guide-empty").get_by_text(SAYS[language]["no_hits"], exact=True).wait_for()


@LANGUAGES
def test_a_link_to_nothing_says_so(new_page, server, job, language):
    page = Viewing(new_page(language), language)
    said = page.view.locator(".ss-tensor-values [role=alert]")
    page.look_at(server.url, job.id, "no/such/node")
    said.get_by_text(SAYS[language]["unknown"]).wait_for()
    page.look_at(server.url, job.id, op_of("vector"), 7)
    said.get_by_text(SAYS[language]["no_slot"]).wait_for()


def test_a_scalar_is_asked_for_in_the_right_way(new_page, server, job):
    """The answer to what no scalar has would be an error."""
    page = Viewing(new_page())
    refused: list[str] = []
    page.page.on("response", lambda answer: refused.append(answer.url) if answer.status == 400 else None)
    page.look_at(server.url, job.id, op_of("scalar"))
    assert cell(page, 0, 0)
    page.whole()
    assert refused == []


def test_slices_are_those_of_python(look, job):
    page = look("conv.weight")
    page.view.get_by_test_id("dimension-3").wait_for()
    page.becomes(page.fields, ["0", "0", ":", ":"])
    choose(page, "-1", "0", "::-1", "1:4")
    values = job.tensor(op_of("conv.weight"))[-1, 0, ::-1, 1:4]
    expect(page.view.get_by_test_id("part-shape")).to_have_text(re.compile(r"\[5, 3\]$"))
    assert np.isclose(number_at(page, 0, 0), values[0, 0], rtol=1e-6)
    assert np.isclose(number_at(page, 4, 2), values[4, 2], rtol=1e-6)
    expect(page.view.locator(".ss-sheet-side")).to_have_text(["4", "3", "2", "1", "0"])
    choose(page, "1")
    page.view.get_by_test_id("dimension-0").press("ArrowUp")
    page.view.locator("input[value='2']").wait_for()


@LANGUAGES
def test_what_is_wrong_is_said_at_its_field(look, language):
    page = look("conv.weight", language)
    group = page.view.locator(".ss-fields")
    for dimension, text, words in ((2, "x", "syntax"), (2, "9", "outside")):
        field = page.view.get_by_test_id(f"dimension-{dimension}")
        field.fill(text)
        field.press("Enter")
        group.get_by_text(SAYS[language][words]).first.wait_for()
        expect(field).to_have_attribute("aria-invalid", "true")
        field.fill(":")
        field.press("Enter")
    field = page.view.get_by_test_id("dimension-0")
    field.fill(":")
    field.press("Enter")
    group.get_by_text(SAYS[language]["free"]).first.wait_for()
    assert cell(page, 0, 0)  # what was shown before still is


def test_whole_numbers_of_64_bits_are_exact(look, job):
    for name in ("large_whole", "unsigned"):
        values = job.tensor(op_of(name))
        page = look(name)
        assert cell(page, 2, 3) == str(values[2, 3])
        page.show("difference")
        page.settled()
        before = job.tensor(op_of(name), when="previous")
        assert int(cell(page, 2, 3).replace("−", "-").replace("+", "")) == int(values[2, 3]) - int(before[2, 3])


# ---------------------------------------------------------------- comparison


def test_a_comparison_is_the_difference_with_a_tolerance(look, job):
    page = look("matrix")
    page.show("difference")
    name = op_of("matrix")
    change = job.tensor(name).astype(float) - job.tensor(name, when="previous")
    assert np.isclose(number_at(page, 0, 0), change[0, 0], rtol=1e-5)
    figures = page.view.get_by_test_id("figures")
    for whose in ("current", "previous", "difference"):
        figures.get_by_test_id(f"figures-{whose}").wait_for()
    tolerance = page.view.get_by_role("slider", name="Tolerance")
    tolerance.focus()
    for _ in range(30):
        page.page.keyboard.press("ArrowRight")
    expect(page.view.get_by_test_id("tolerance")).to_have_text("30 %")
    limit = 0.3 * np.abs(change).max()
    beyond = f"{int((np.abs(change) > limit).sum()):,}"
    said = page.view.get_by_text(f"{beyond} of 1,048,576 change more")
    said.wait_for()
    download = page.view.get_by_role("button", name="Download")
    # in the line of what is always there
    page.until(lambda: download.bounding_box()["y"] < said.bounding_box()["y"])
    quiet = np.argwhere(np.abs(change[:10, :5]) <= limit)[0]
    page.becomes(lambda: number_at(page, *map(int, quiet)), 0)


@LANGUAGES
def test_a_comparison_with_nothing_says_so(new_page, server, language):
    with FakeAgent(server.debugger_address, FakeSource(network=Zoo())), stepscope.connect(server.url) as connected:
        job = connected.wait_for_job(60)
        job.run(1)
        assert job.wait(60) == "paused"
        page = Viewing(new_page(language), language).look_at(server.url, job.id, op_of("vector"))
        page.view.get_by_test_id("figures").wait_for()
        page.show("difference")
        page.view.locator(".ss-tensor-values [role=alert]").get_by_text(SAYS[language]["not_run"]).wait_for()
        expect(page.view.get_by_test_id("figures")).to_have_count(0)
        page.view.get_by_test_id("guide-empty").get_by_text(SAYS[language]["inconspicuous"]).wait_for()
        page.show("current")
        assert cell(page, 0, 0)


def test_bools_are_compared_as_changed_or_not(look, job):
    page = look("logical")
    page.show("difference")
    page.settled()
    now, before = job.tensor(op_of("logical")), job.tensor(op_of("logical"), when="previous")
    row, column = map(int, np.argwhere(now != before)[0])
    assert cell(page, row, column) == "changed"
    row, column = map(int, np.argwhere(now == before)[0])
    assert cell(page, row, column) == "unchanged"


# ---------------------------------------------------------------- keys, copying, the step


def test_the_keyboard_walks_selects_and_copies(look, job):
    page = look("whole")
    values = job.tensor(op_of("whole"))
    page.view.get_by_test_id("table").focus()
    keys = page.page.keyboard
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        keys.press(key)
    page.focused([2, 1])
    for key in ("Shift+ArrowDown", "Shift+ArrowRight", "Shift+ArrowRight"):
        keys.press(key)
    keys.press("Control+c")
    page.page.get_by_text("6 values copied").wait_for()
    copied = page.page.evaluate("navigator.clipboard.readText()")
    expected = values[2:4, 1:4]
    assert [line.split("\t") for line in copied.strip().split("\n")] == [list(map(str, row)) for row in expected]
    keys.press("Control+End")
    page.focused([29, 19])
    keys.press("Control+Home")
    page.focused([0, 0])


@LANGUAGES
def test_it_follows_the_step(look, job, language):
    page = look("vector", language)
    name = op_of("vector")
    assert np.isclose(number_at(page, 0, 0), job.tensor(name)[0], rtol=1e-6)
    page.view.get_by_role("button", name=SAYS[language]["step"]).click()
    page.view.get_by_test_id("tensor-step").filter(has_text="3").wait_for()
    page.fresh()
    assert np.isclose(number_at(page, 0, 0), job.tensor(name)[0], rtol=1e-6)


@LANGUAGES
def test_values_stay_while_the_training_runs_and_after_its_end(new_page, server, language):
    source = FakeSource(network=Zoo())
    with FakeAgent(server.debugger_address, source) as agent, stepscope.connect(server.url) as connected:
        job = connected.wait_for_job(60)
        job.run(2)
        assert job.wait(60) == "paused"
        page = Viewing(new_page(language), language).look_at(server.url, job.id, op_of("vector"))
        shown = cell(page, 0, 0)
        source.step_seconds = 30
        job.resume()
        state = page.view.get_by_test_id("tensor-state")
        state.filter(has_text=SAYS[language]["running"]).wait_for()
        assert cell(page, 0, 0) == shown
        expect(page.view.get_by_test_id("table")).to_have_attribute("data-old", "true")
        agent.finish()
        state.filter(has_text=SAYS[language]["ended"]).wait_for()
        assert cell(page, 0, 0) == shown
        page.page.reload()
        page.view.get_by_test_id("guide").get_by_text(SAYS[language]["gone"]).wait_for()
        page.view.get_by_test_id("lineage-figures").get_by_text(SAYS[language]["gone"]).wait_for()
        traces = page.view.get_by_role("button", name=SAYS[language]["trace"])
        expect(traces).to_have_count(2)  # of the guide and of the lineage
        for button in traces.all():
            expect(button).to_be_disabled()


def test_only_the_window_travels(new_page, server, job):
    page = Viewing(new_page())
    sizes: list[int] = []

    def note(answer):
        if "/tensor?" in answer.url:
            sizes.append(int(answer.headers["content-length"]))

    page.page.on("response", note)
    page.look_at(server.url, job.id, op_of("matrix"))
    assert cell(page, 0, 0)
    page.view.get_by_test_id("table").focus()
    page.page.keyboard.press("Control+End")
    page.focused([1023, 1023])
    assert cell(page, 1023, 1023)
    assert sizes
    assert sum(sizes) < 1024 * 1024 * 4 / 8
    assert max(sizes) <= 64 * 32 * 4


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_keeps_anyone_out(look, scheme):
    page = look("holes", scheme=scheme)
    assert cell(page, 0, 0)
    assert not complaints(page.page)
