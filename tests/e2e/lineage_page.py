"""What the tests do with the lineage of a tensor, the trace to an origin and the tuning guide."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from browsing import expect
from watching import Watching

LINEAGE_WORDS = {
    "en": {
        "trace": "Trace to origin", "end_trace": "End the trace", "back": "Back to the tensor before",
        "forward": "Forward to the next tensor", "open": "Open tensor", "in_graph": "Show in graph",
        "no_fault": "Nothing is wrong with this tensor", "began": "It began here", "fit": "Show all",
        "nothing": "No watchpoint was hit by this tensor, and its values are not conspicuous.",
        "overflow_means": "Some value is NaN or infinite.", "set": "set 0.0001", "not_evaluated": "contains NaN",
    },
    "zh": {
        "trace": "追溯源头", "end_trace": "结束溯源", "back": "返回上一个张量", "forward": "前往下一个张量",
        "open": "打开张量", "in_graph": "在计算图中显示", "no_fault": "该张量没有异常", "began": "源头",
        "fit": "显示全部", "nothing": "该张量没有命中监测点，数值也没有明显异常。",
        "overflow_means": "存在 NaN 或无穷大的值。", "set": "设置值 0.0001", "not_evaluated": "张量中含有 NaN",
    },
}  # fmt: skip


NAMES = "all => all.map(one => one.dataset.name)"


class LineagePage(Watching):
    """The view of a tensor, as far as it tells of other tensors."""

    def __init__(self, page: Any, language: str = "en"):
        super().__init__(page, language)
        self.says = LINEAGE_WORDS[language]

    def go_to(self, url: str, job: str, node: str, slot: int = 0) -> LineagePage:
        """Opens the view of a tensor by its address."""
        self.page.goto(f"{url}/#/job/{job}/tensor/{quote(node)}/{slot}")
        self.shows(node, slot)
        return self

    def shows(self, node: str, slot: int = 0) -> None:
        """Waits until a tensor is the one that the view shows."""
        self.slot(node, slot).and_(self.page.locator("[aria-current=true]")).wait_for()
        expect(self.page).to_have_url(re.compile(re.escape(f"/tensor/{quote(node)}/{slot}") + r"\b"))

    @property
    def lineage(self) -> Any:
        return self.page.get_by_test_id("lineage")

    @property
    def trace(self) -> Any:
        return self.page.get_by_test_id("trace")

    @property
    def guide(self) -> Any:
        return self.page.get_by_test_id("guide")

    @property
    def figures(self) -> Any:
        return self.page.get_by_test_id("lineage-figures")

    def slot(self, node: str, slot: int = 0) -> Any:
        return self.page.locator(f'[data-testid=lineage-slot][data-tensor="{node}:{slot}"]')

    def button_of(self, part: Any, word: str) -> Any:
        return part.get_by_role("button", name=self.says[word], exact=True)

    def rests(self, button: Any) -> None:
        """Waits until a button can't be pressed."""
        button.and_(self.page.locator(":disabled")).wait_for()

    def drawn(self) -> set[str]:
        """Names of the nodes in the drawing."""
        return set(self.lineage.get_by_test_id("lineage-node").evaluate_all(NAMES))

    def draws(self, *names: str) -> None:
        """Waits until nodes are in the drawing."""
        for name in names:
            self.page.locator(f'[data-testid=lineage-node][data-name="{name}"]').wait_for()

    def more_hops(self, side: str) -> None:
        self.page.get_by_test_id(f"hops-{side}").get_by_role("button").last.click()

    def numbered(self) -> list[str]:
        """The nodes of the marked path, from its origin on."""
        nodes = self.lineage.locator("[data-testid=lineage-node][data-step]")
        steps = nodes.evaluate_all("all => all.map(one => [Number(one.dataset.step), one.dataset.name])")
        return [name for _, name in sorted(steps)]

    def listed(self) -> list[str]:
        """The steps of the trace."""
        self.trace.get_by_test_id("trace-step").first.wait_for()
        names: list[str] = self.trace.get_by_test_id("trace-step").evaluate_all(NAMES)
        return names

    def facts(self) -> list[str]:
        self.guide.get_by_test_id("fact").first.wait_for()
        return [" ".join(fact.split()) for fact in self.guide.get_by_test_id("fact").all_inner_texts()]
