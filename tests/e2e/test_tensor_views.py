"""Heat map, histogram, jumps to values and downloads in the view of a tensor."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterator

import numpy as np
import pytest
from browsing import complaints, expect
from viewing import Viewing, op_of

import stepscope
from stepscope.core.ports import Tensor, TensorKey
from stepscope.testing.agent import FakeAgent
from stepscope.testing.source import FakeSource
from stepscope.testing.zoo import Zoo

LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])
HIDDEN_NAN = (1, 2, 0, 3, 4)


class HiddenNan(Zoo):
    """With a NaN where the tensor of five axes does not open."""

    def tensor(self, key: TensorKey) -> Tensor:
        found = super().tensor(key)
        if key.node != op_of("five_axes"):
            return found
        array = found.array.copy()
        array[HIDDEN_NAN] = np.nan
        return dataclasses.replace(found, array=array)


@pytest.fixture
def job(server) -> Iterator[stepscope.Job]:
    """Paused after its second step."""
    source = FakeSource(network=HiddenNan())
    with FakeAgent(server.debugger_address, source), stepscope.connect(server.url) as connected:
        job = connected.wait_for_job(60)
        job.run(2)
        assert job.wait(60) == "paused"
        yield job


@pytest.fixture
def look(new_page, server, job):
    def at(name: str, language: str = "en", scheme: str = "light") -> Viewing:
        return Viewing(new_page(language, scheme), language).look_at(server.url, job.id, op_of(name))

    return at


@LANGUAGES
def test_a_cell_of_the_heat_map_says_what_it_is_and_leads_to_the_table(look, job, language):
    page = look("conv.weight", language)
    page.show("heatmap")
    values = job.tensor(op_of("conv.weight"), index="0, 0")
    page.heatmap.focus()
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowDown"):
        page.page.keyboard.press(key)
    expect(page.view.locator("output")).to_contain_text("[0, 0, 1, 2]")
    place, value = page.reading().split("  ")
    assert place == "[0, 0, 1, 2]"
    assert np.isclose(float(value), values[1, 2], rtol=1e-5)
    page.page.keyboard.press("Enter")
    page.focused([1, 2])


def test_a_click_on_a_cell_of_many_values_goes_to_the_one_that_it_shows(look, job):
    page = look("matrix")
    page.show("heatmap")
    page.heatmap.hover()
    page.view.get_by_label(page.words["reduce"]).select_option(label=page.words["max"])
    page.heatmap.hover()
    place = page.reading().split("  ")[0]
    rows, column = place.strip("[]").split(", ")
    first, last = map(int, rows.split("…"))
    page.page.mouse.down()  # there, and not where the middle of the picture is by now
    page.page.mouse.up()
    values = job.tensor(op_of("matrix"), index=f"{first}:{last + 1}, {column}")
    assert page.focused() == [first + int(values.argmax()), int(column)]


@LANGUAGES
def test_jumps_go_to_what_is_not_finite_and_to_the_largest(look, job, language):
    page = look("holes", language)
    page.focused([0, 0])
    for place in ([3, 17], [3, 18], [5, 2], [9, 40], [3, 17]):
        page.page.keyboard.press("n")
        page.focused(place)
    values = job.tensor(op_of("holes"))
    page.view.get_by_role("button", name=page.words["go"], exact=True).click()
    page.page.get_by_role("menuitem", name=page.words["largest"]).click()
    finite = np.where(np.isfinite(values), values, -np.inf)
    page.focused(list(np.unravel_index(finite.argmax(), values.shape)))


@LANGUAGES
def test_a_jump_shows_another_part_where_the_one_shown_has_none(look, language):
    page = look("five_axes", language)
    page.focused([0, 0])
    page.page.keyboard.press("n")
    page.said(page.words["elsewhere"])
    page.focused(HIDDEN_NAN[-2:])
    page.becomes(lambda: page.fields()[:3], [str(each) for each in HIDDEN_NAN[:3]])
    page.show("heatmap")
    page.page.keyboard.press("n")  # the table comes back
    page.focused(HIDDEN_NAN[-2:])


def test_a_jump_does_not_wait_for_the_figures(new_page, server, job):
    page = new_page("en")
    page.route("**/stats?*", lambda route: None)  # they never come
    page.route("**/compare?*", lambda route: None)
    page = Viewing(page, "en").look_at(server.url, job.id, op_of("five_axes"))
    page.focused([0, 0])
    page.page.keyboard.press("n")
    page.said(page.words["elsewhere"])
    page.focused(HIDDEN_NAN[-2:])


@LANGUAGES
def test_a_jump_says_that_there_is_nothing(look, language):
    page = look("half", language)
    page.focused([0, 0])
    page.page.keyboard.press("n")
    page.said(page.words["none"])
    page.focused([0, 0])


@LANGUAGES
def test_the_histogram_has_the_counts_of_numpy(look, job, language):
    page = look("holes", language)
    page.show("histogram")
    values = job.tensor(op_of("holes"))
    finite = values[np.isfinite(values)].astype(np.float64)
    assert list(page.counts().values()) == np.histogram(finite, 60)[0].tolist()
    page.becomes(lambda: [page.figure(name) for name in ("NaN", "+Inf", "−Inf")], ["2", "1", "1"])
    page.view.get_by_label(page.words["logarithmic"]).check()
    page.view.get_by_label(page.words["overlay"]).check()
    page.view.locator(".ss-histogram-other").wait_for()
    page.view.get_by_test_id("histogram").focus()
    page.page.keyboard.press("End")
    page.becomes(lambda: page.reading().count("["), 2)  # of both steps


def test_the_histogram_of_whole_numbers_and_of_changes(look, job):
    page = look("whole")
    page.show("histogram")
    values = job.tensor(op_of("whole"))
    counts = page.counts()
    assert sum(counts.values()) == values.size
    borders = [[int(each) for each in name.split("…")] for name in counts]
    inside = [int(((values >= each[0]) & (values <= each[-1])).sum()) for each in borders]
    assert inside == list(counts.values())
    page.show("difference")
    change = values.astype(np.int64) - job.tensor(op_of("whole"), when="previous")
    figures = page.view.get_by_test_id("histogram-figures")
    figures.filter(has_text=str(change.min())).wait_for()
    page.becomes(lambda: page.figure("max"), str(change.max()))


@LANGUAGES
def test_downloads_are_what_is_shown(look, job, tmp_path, language):
    page = look("five_axes", language)
    node = op_of("five_axes")
    whole = page.save("whole", tmp_path)
    assert whole.suffix == ".npy"
    np.testing.assert_array_equal(np.load(whole), job.tensor(node))
    part = page.save("part", tmp_path)
    np.testing.assert_array_equal(np.load(part), job.tensor(node, index="0, 0, 0"))
    page.show("previous")
    page.focused([0, 0])
    np.testing.assert_array_equal(np.load(page.save("whole", tmp_path)), job.tensor(node, when="previous"))


@LANGUAGES
@pytest.mark.parametrize("mode", ["heatmap", "histogram"])
def test_the_picture_is_a_file(look, tmp_path, language, mode):
    page = look("holes", language)
    page.show(mode)
    canvas = page.view.locator("canvas").first
    canvas.wait_for()
    page.settled()
    head = page.save("picture", tmp_path).read_bytes()[:24]
    assert head.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", head[16:])
    box = canvas.bounding_box()
    assert width > box["width"] > 200
    assert height > box["height"] > 100


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_is_wrong_for_those_who_see_badly(look, scheme):
    page = look("holes", "en", scheme)
    for mode in ("heatmap", "histogram"):
        page.show(mode)
        page.view.locator("canvas").first.wait_for()
        page.settled()
        assert complaints(page.page) == []
