"""What the tests of the page do with a browser, and the page's texts as they look for them.

The page changes when an answer comes, which may be a moment after what a test has just waited for. So nothing of it is
asserted as it is at once: `expect` waits for it, `until` and `becomes` wait for what no `expect` can say. What is read
of several elements is read in one go.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

PATIENCE = 60_000  # milliseconds
LOOK_AGAIN = 20  # milliseconds

T = TypeVar("T")

CHROMIUM_ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip

TEXTS = {
    "en": {
        "waiting": "Waiting for a training", "ok": "OK", "resume": "Continue", "pause": "Pause",
        "terminate": "Terminate", "next": "Next node", "previous": "Previous node", "current": "Current node",
        "run_to": "Run to node", "running": "running", "paused": "paused", "finished": "finished", "lost": "lost",
        "steps": "Steps", "nodes": "Node list", "search": "Name of a node", "line": "Source line, such as net.py:12",
        "category": "Node type", "gradient": "Gradients", "terminated": "The training was terminated.",
        "ended": "The training has finished.", "killed": "The training is lost.",
        "broken": "The connection to the training is broken.", "source": "Source", "node": "Node", "view": "View",
        "one_line": "All nodes of this line", "help": "Help and keys", "values": "Values", "copy": "Copy",
        "open_it": "Open it", "tensors": "Tensors",
    },
    "zh": {
        "waiting": "等待训练连接", "ok": "确定", "resume": "继续", "pause": "暂停", "terminate": "结束",
        "next": "下一个节点", "previous": "上一个节点", "current": "当前节点", "run_to": "运行到该节点",
        "running": "运行中", "paused": "已暂停", "finished": "已结束", "lost": "已断开", "steps": "轮次",
        "nodes": "节点列表", "search": "请输入节点名称", "line": "源码行，如 net.py:12", "category": "节点类型",
        "gradient": "梯度节点", "terminated": "训练已被终止。", "ended": "训练已结束。", "killed": "训练已异常断开。",
        "broken": "与训练的连接已中断。", "source": "源码", "node": "节点属性", "view": "查看",
        "one_line": "该行的所有节点", "help": "帮助与快捷键", "values": "数值", "copy": "复制", "open_it": "打开",
        "tensors": "张量信息",
    },
}  # fmt: skip


def expect(what: Any) -> Any:
    """Playwright's assertions, which wait. Not everyone who collects these tests has Playwright."""
    from playwright import sync_api

    return sync_api.expect(what)


class Debugger:
    """The page as a user sees it: what is on it, by the words on it."""

    def __init__(self, page: Any, language: str = "en"):
        self.page = page
        self.text = TEXTS[language]

    def open(self, url: str) -> Debugger:
        self.page.goto(url)
        return self

    def button(self, name: str) -> Any:
        return self.page.get_by_role("button", name=self.text[name], exact=True)

    def until(self, condition: Callable[[], T], why: Callable[[], str] = lambda: "it did not come about") -> T:
        """
        Waits for a condition to hold; returns what it gave. Waits in Playwright: the page's requests pass through this
        thread, and a sleep would hold them up.
        """
        deadline = time.monotonic() + PATIENCE / 1000
        while not (value := condition()):
            assert time.monotonic() < deadline, why()
            self.page.wait_for_timeout(LOOK_AGAIN)
        return value

    def becomes(self, read: Callable[[], T], wanted: T) -> None:
        """Waits until what is read of the page is what it shall be."""
        self.until(lambda: read() == wanted, lambda: f"{read()} has not become {wanted}")

    def at(self, end: str) -> None:
        """Waits until the page's address ends so."""
        expect(self.page).to_have_url(re.compile(f"{re.escape(end)}$"))

    def copied(self, press: Callable[[], None]) -> str:
        """What is on the clipboard after something was pressed; nothing of what was there before."""
        self.page.evaluate("navigator.clipboard.writeText('')")
        press()
        return str(self.until(lambda: self.page.evaluate("navigator.clipboard.readText()")))

    def state(self, name: str) -> None:
        """Waits until the training is in a state, as the page says it."""
        self.page.locator(f"[data-testid=state][data-state={name}]", has_text=self.text[name]).wait_for()

    def step(self, number: int) -> None:
        expect(self.page.get_by_test_id("step")).to_have_text(f"{number:,}")

    def run(self, steps: int) -> None:
        self.page.get_by_label(self.text["steps"], exact=True).fill(str(steps))
        self.button("ok").click()

    def row(self, name: str) -> Any:
        """A row of the node list, by full name."""
        return self.page.locator(f'[role=treeitem][data-name="{name}"]').first

    def open_scope(self, *names: str) -> None:
        for name in names:
            row = self.row(name)
            row.wait_for()
            if row.get_attribute("aria-expanded") != "true":
                row.locator(".ss-caret").click()
            expect(row).to_have_attribute("aria-expanded", "true")

    def select(self, name: str) -> None:
        self.row(name).click()
        self.selected(name)

    def box(self, name: str) -> Any:
        """A node or scope on the canvas, by full name."""
        return self.page.locator(f'.react-flow__node[data-id="{name}"]')

    def selected(self, name: str) -> None:
        """Waits until a node's details are shown."""
        self.page.locator("[data-testid=selected-name]", has_text=name).wait_for()

    def cell(self, row: str, column: int) -> Any:
        """A cell of the tensor table: `row` as "output-0"; columns 2 step, 3 type, 4 shape, 5 value, 6 change."""
        return self.page.locator(f"[data-testid=tensor-{row}] td").nth(column)

    def value(self, row: str = "output-0") -> str:
        """The value of a scalar."""
        found = self.page.locator(f"[data-testid=tensor-{row}] [data-testid=value]")
        found.filter(has_text=".").wait_for()
        return str(found.inner_text())

    def grid(self) -> list[list[str]]:
        """The values in the view of a small tensor."""
        self.page.locator(".ss-sheet-box .ss-cell").first.wait_for()
        self.page.locator("[data-tensor-view] [aria-busy=true]").wait_for(state="detached")
        expect(self.page.locator(".ss-sheet-box .ss-cell", has_text="…")).to_have_count(0)
        rows: list[list[str]] = self.page.locator(".ss-sheet-row").evaluate_all(
            "rows => rows.map(row => [...row.querySelectorAll('.ss-cell')].map(cell => cell.innerText))"
        )
        return rows

    def banner(self, name: str) -> Any:
        found = self.page.locator("[data-testid=end-banner]", has_text=self.text[name])
        found.wait_for()
        return found


def axe_script() -> str:
    """axe-core, which a Python package ships as data."""
    spec = find_spec("axe_playwright_python")
    assert spec is not None, "pip install axe-playwright-python"
    assert spec.origin is not None
    return (Path(spec.origin).parent / "axe.min.js").read_text()


def complaints(page: Any) -> list[str]:
    """What axe finds serious or critical on the page as it is."""
    page.evaluate(axe_script())
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{violation['id']}: {node['target']} {node.get('failureSummary', '')}"
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]
