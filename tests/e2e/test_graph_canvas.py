"""The graph as it is drawn and what can be done with it: menu, stacks, lines, pictures saved, very large scopes."""

from __future__ import annotations

import base64
import struct
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import Debugger, expect
from drawn import CELLS, COUNT, FIRST, NUMBERS, SECOND, WIDE, DrawnTraining, cell

from stepscope.protocol import convert
from stepscope.testing.agent import FakeAgent
from stepscope.testing.server import ServerThread

DENSE = "Default/network/hidden-Dense"
BIAS = f"{DENSE}/BiasAdd-op0"
SVG = "{http://www.w3.org/2000/svg}"
WORDS = {
    "en": {
        "run_to": "Run to this node", "alone": "Open this scope alone", "copy": "Copy name", "list": "Show in list",
        "actions": "Actions for", "svg": "Save as SVG", "png": "Save as PNG",
    },
    "zh": {
        "run_to": "运行到该节点", "alone": "仅展开此作用域", "copy": "复制名称", "list": "在列表中显示",
        "actions": "的操作", "svg": "导出 SVG", "png": "导出 PNG",
    },
}  # fmt: skip
WAYS = pytest.mark.parametrize("way", ["right click", "button"])


class Canvas(Debugger):
    def __init__(self, page: Any, language: str = "en"):
        super().__init__(page, language)
        self.words = WORDS[language]

    def menu(self, name: str, way: str, item: str) -> None:
        """Picks an item of the menu of a box."""
        box = self.box(name)
        if way == "button":
            box.get_by_role("button", name=self.words["actions"]).click()
        else:
            box.locator(".ssg-text, .ssg-header").first.click(button="right")
        self.page.get_by_role("menuitem", name=self.words[item], exact=True).click()

    def toggle(self, name: str) -> None:
        self.box(name).locator(".ssg-toggle").click()

    def drawn(self, scope: str) -> list[str]:
        """What is drawn directly inside a scope, as far as it is in sight."""
        names = self.page.locator(".react-flow__node").evaluate_all("all => all.map(one => one.dataset.id)")
        return sorted(name for name in names if name.rpartition("/")[0] == scope)

    def in_sight(self, name: str) -> bool:
        """Whether a row of the node list can be seen."""
        row = self.row(name).bounding_box()
        tree = self.page.get_by_role("tree").bounding_box()
        return bool(
            row and tree and tree["y"] <= row["y"] and row["y"] + row["height"] <= tree["y"] + tree["height"] + 1
        )


@pytest.fixture
def page(new_page: Callable[..., Any]) -> Canvas:
    return Canvas(new_page())


@pytest.fixture
def drawn(server: ServerThread) -> Iterator[FakeAgent]:
    with FakeAgent(server.debugger_address, DrawnTraining()) as attached:
        yield attached


def at_bias(page: Canvas, server: ServerThread) -> None:
    page.open(f"{server.url}/#/job/fake-1/node/{BIAS}").state("paused")
    page.box(BIAS).locator(".is-selected").wait_for()


# ---------------------------------------------------------------- menu


@WAYS
def test_run_to_a_node_from_the_graph(page, server, agent, job, way):
    at_bias(page, server)
    page.menu(BIAS, way, "run_to")
    page.page.locator("[data-testid=state]", has_text="node 2 of").wait_for()
    command = convert.command_from_proto(agent.commands[-1])
    assert (command.kind, command.node) == ("run_to", BIAS)
    assert job.cursor.node == BIAS
    page.box(BIAS).locator(".is-current").wait_for()


@WAYS
def test_a_scope_is_opened_alone_from_the_graph(page, server, agent, way):
    page.open(server.url).state("paused")
    page.open_scope("Gradients", "Default", "Default/network")
    page.box("Default/network").locator(".ssg-frame").wait_for()
    page.menu("Default/network", way, "alone")
    page.box("Gradients").locator(".ssg-card").wait_for()
    expect(page.row("Gradients")).to_have_attribute("aria-expanded", "false")
    expect(page.row("Default/network")).to_have_attribute("aria-expanded", "true")
    page.box(DENSE).locator(".ssg-card").wait_for()


@WAYS
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_name_is_copied_from_the_graph(new_page, server, agent, language, way):
    page = Canvas(new_page(language), language)
    at_bias(page, server)
    assert page.copied(lambda: page.menu(BIAS, way, "copy")) == BIAS


@WAYS
def test_a_node_of_the_graph_is_shown_in_the_list(page, server, agent, way):
    at_bias(page, server)
    page.page.get_by_label(page.text["search"]).fill("ReluGrad")
    page.row(BIAS).wait_for(state="hidden")
    page.menu(BIAS, way, "list")
    page.row(BIAS).wait_for()
    expect(page.page.get_by_label(page.text["search"])).to_have_value("")
    tree = page.page.get_by_role("tree")
    expect(tree).to_be_focused()
    active = "tree => document.getElementById(tree.getAttribute('aria-activedescendant'))?.dataset.name"
    page.becomes(lambda: tree.evaluate(active), BIAS)


# ---------------------------------------------------------------- stacks and lines


def test_repeated_cells_are_one_stack_until_it_is_opened(page, server, drawn):
    page.open(server.url).state("paused")
    page.open_scope("Default", "Default/net", CELLS)
    stack = page.box(f"{cell(0)}…")
    stack.wait_for()
    expect(stack).to_contain_text("0…5-Cell ×6")
    page.becomes(lambda: page.drawn(CELLS), [f"{cell(0)}…"])
    page.toggle(f"{cell(0)}…")
    page.box(cell(5)).wait_for()
    page.becomes(lambda: page.drawn(CELLS), [cell(0), f"{cell(0)}…", *(cell(number) for number in range(1, 6))])
    page.toggle(f"{cell(0)}…")
    page.box(cell(5)).wait_for(state="hidden")
    page.open_scope(cell(3))  # in the list, which has no stacks
    page.box(f"{cell(3)}/MatMul-op3").wait_for()


def test_an_order_of_execution_is_dashed(page, server, drawn):
    page.open(server.url).state("paused")
    page.open_scope("Default", "Default/order")
    page.box(SECOND).wait_for()
    orders = page.page.locator(".ssg-lines:not(.ssg-highlights) path.is-control")
    expect(orders).to_have_count(1)
    expect(orders.locator("title")).to_have_text("order of execution only")
    expect(orders).to_have_css("stroke-dasharray", "5px, 4px")
    others = page.page.locator(".ssg-lines:not(.ssg-highlights) path[marker-end]:not(.is-control)")
    dashes = "lines => lines.map(line => getComputedStyle(line).strokeDasharray)"
    page.becomes(lambda: set(others.evaluate_all(dashes)), {"none"})
    page.box(FIRST).locator(".ssg-text").click()
    expect(page.page.locator(".ssg-highlights path.is-control")).to_have_css("stroke-dasharray", "5px, 4px")


# ---------------------------------------------------------------- pictures


def saved(page: Canvas, format: str, folder: Path) -> Path:
    with page.page.expect_download() as download:
        page.page.get_by_role("button", name=page.words[format]).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_the_graph_is_saved_as_svg(page, server, agent, tmp_path):
    at_bias(page, server)
    path = saved(page, "svg", tmp_path)
    assert path.name == "train.py-graph_0.svg"
    root = ElementTree.fromstring(path.read_text())
    words = [text.text for text in root.iter(f"{SVG}text")]
    for name in ("BiasAdd-op0", "MatMul-op0", "hidden-Dense", "Gradients", "hidden.bias"):
        assert name in words
    assert "float32 8×3" in words
    assert all(line.get("d") for line in root.iter(f"{SVG}path"))
    boxes = page.page.locator(".react-flow__node").count()
    assert len(list(root.iter(f"{SVG}rect"))) > boxes
    left, top, width, height = map(float, root.get("viewBox").split())
    for rect in root.iter(f"{SVG}rect"):
        x, y, across, along = (float(rect.get(key)) for key in ("x", "y", "width", "height"))
        assert left <= x <= x + across <= left + width
        assert top <= y <= y + along <= top + height


def test_the_graph_is_saved_as_png(page, server, agent, tmp_path):
    at_bias(page, server)
    svg = ElementTree.fromstring(saved(page, "svg", tmp_path).read_text())
    path = saved(page, "png", tmp_path)
    assert path.suffix == ".png"
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    assert abs(width - 2 * float(svg.get("width"))) <= 2
    assert abs(height - 2 * float(svg.get("height"))) <= 2
    colours = page.page.evaluate(COLOURS, base64.b64encode(data).decode())
    assert len(colours) > 20  # boxes, lines and letters with soft edges
    assert [217, 72, 15] in colours  # the border of what is selected


COLOURS = """async (data) => {
  const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
  context.drawImage(image, 0, 0);
  const pixels = context.getImageData(0, 0, image.width, image.height).data;
  const colours = new Set();
  for (let at = 0; at < pixels.length; at += 4) colours.add(pixels.slice(at, at + 3).join());
  return [...colours].map((colour) => colour.split(",").map(Number));
}"""


# ---------------------------------------------------------------- values


def test_whole_numbers_are_shown_to_the_last_digit(page, server, drawn):
    page.open(f"{server.url}/#/job/drawn-1/node/{COUNT}").state("paused")
    page.cell("output-0", 5).get_by_role("button").click()
    assert page.grid() == [[str(value) for value in row] for row in NUMBERS.tolist()]


# ---------------------------------------------------------------- very large scopes


def test_a_scope_of_thousands_can_be_gone_through(page, server):
    with FakeAgent(server.debugger_address, DrawnTraining(wide=6100)):
        page.open(server.url).state("paused")
        page.open_scope("Default", WIDE)
        page.row(f"{WIDE}/Add-op0").wait_for()
        tree = page.page.get_by_role("tree")
        page.until(lambda: tree.evaluate("tree => tree.scrollHeight") > 6100 * 20)  # as long as it will be
        tree.focus()
        tree.press("End")
        last = page.row(f"{WIDE}/Mul-op6099")
        last.wait_for()
        page.until(lambda: page.in_sight(f"{WIDE}/Mul-op6099"))
        tree.press("Home")
        page.row("Default").wait_for()

        # found by its name and shown in the list, where nobody has come yet
        middle = f"{WIDE}/Mul-op3333"
        page.page.get_by_label(page.text["search"]).fill("op3333")
        page.row(middle).click()
        page.selected(middle)
        page.page.get_by_label(page.text["search"]).fill("")
        page.row(f"{WIDE}/Add-op3332").wait_for()
        page.until(lambda: page.in_sight(middle))
        expect(page.row(middle)).to_have_attribute("aria-selected", "true")

        # in the graph, page by page
        pages = page.box(f"{WIDE}/Mul-op1…").locator(".ssg-pages")
        expect(pages).to_contain_text("1,501–1,800 of 3,050")
        pages.get_by_role("button", name="more").dispatch_event("click")  # far from what is selected
        pages.filter(has_text="1,801–2,100 of 3,050").wait_for()
