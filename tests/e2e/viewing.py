"""What the tests of the tensor view's pictures, jumps and downloads do with the page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from browsing import Debugger, expect

from stepscope.testing.zoo import PARAMETERS

WORDS = {
    "en": {
        "table": "Table", "heatmap": "Heat map", "histogram": "Histogram", "current": "Current",
        "previous": "Previous", "difference": "Comparison", "go": "Go to", "download": "Download",
        "reduce": "A cell shows", "max": "maximum", "nonfinite": "Next NaN or Inf", "whole": "Whole tensor (.npy)",
        "part": "Part shown", "picture": "Picture (.png)", "none": "No NaN or Inf in this tensor.",
        "elsewhere": "now another part is shown", "logarithmic": "Logarithmic", "overlay": "With the previous step",
        "largest": "Largest value",
    },
    "zh": {
        "table": "表格", "heatmap": "热力图", "histogram": "直方图", "current": "当前轮次", "previous": "上一轮次",
        "difference": "对比结果", "go": "跳转", "download": "下载", "reduce": "单元格显示", "max": "最大值",
        "nonfinite": "下一个 NaN 或 Inf", "whole": "完整张量 (.npy)", "part": "当前部分", "picture": "图片 (.png)",
        "none": "该张量没有 NaN 或 Inf。", "elsewhere": "已切换到另一部分", "logarithmic": "对数坐标",
        "overlay": "叠加上一轮次", "largest": "最大的值",
    },
}  # fmt: skip


def op_of(name: str) -> str:
    """The op whose output is the zoo's parameter of this name."""
    return f"Default/zoo-Zoo/Identity-op{list(PARAMETERS).index(name)}"


class Viewing(Debugger):
    """The view of one tensor of the zoo."""

    def __init__(self, page: Any, language: str = "en"):
        super().__init__(page, language)
        self.words = WORDS[language]

    def look_at(self, url: str, job: str, node: str, slot: int = 0) -> Viewing:
        self.open(f"{url}/#/job/{job}/tensor/{quote(node)}/{slot}?graph=zoo")
        self.view.wait_for()
        return self

    @property
    def view(self) -> Any:
        return self.page.locator("[data-tensor-view]")

    def show(self, mode: str) -> None:
        """Table, heat map or histogram; this step, the one before, or the comparison."""
        self.view.locator(".ss-tools label", has_text=re.compile(f"^{self.words[mode]}$")).click()
        expect(self.view.locator(".ss-tools").get_by_role("radio", name=self.words[mode], exact=True)).to_be_checked()

    @property
    def heatmap(self) -> Any:
        found = self.view.get_by_test_id("heatmap")
        found.wait_for()
        self.settled()
        return found

    def settled(self) -> None:
        """Waits until what is wanted has come."""
        self.view.locator("[aria-busy=true]").wait_for(state="detached")

    def fresh(self) -> None:
        """Waits until the values in the table are those of this pause."""
        expect(self.view.get_by_test_id("table")).to_have_attribute("data-old", "false")
        self.settled()

    def figured(self) -> None:
        """Waits until the figures of the whole tensor are known."""
        figures = self.view.get_by_test_id("figures")
        figures.wait_for()
        expect(figures).not_to_contain_text("…")

    def whole(self) -> None:
        """Waits until all that is around the values has come, too."""
        self.settled()
        self.figured()
        self.view.get_by_test_id("guide").wait_for()
        expect(self.view.locator(".ss-guide-wait")).to_have_count(0)
        self.view.get_by_test_id("lineage-node").first.wait_for()
        self.view.locator(".ss-lin-stats").wait_for()

    def focused(self, place: Sequence[int] | None = None) -> list[int]:
        """Waits until the table has its focus on a cell, by row and column as drawn; that cell."""
        self.settled()
        at = "" if place is None else f'[data-row="{place[0]}"][data-column="{place[1]}"]'
        cell = self.view.locator(f".ss-cell-focus{at}")
        cell.wait_for()
        return [int(cell.get_attribute("data-row")), int(cell.get_attribute("data-column"))]

    def fields(self) -> list[str]:
        """The chosen indices, by dimension."""
        values: list[str] = self.view.locator(".ss-fields input").evaluate_all("all => all.map(one => one.value)")
        return values

    def reading(self) -> str:
        """The line below a picture."""
        return str(self.view.locator("output").inner_text())

    def counts(self) -> dict[str, int]:
        """The histogram as those are told who don't see it: bin → count."""
        table = self.view.get_by_test_id("histogram-bins")
        table.wait_for(state="attached")
        self.settled()
        rows = table.locator("tbody tr").evaluate_all(
            "rows => rows.map(row => [...row.children].map(e => e.textContent))"
        )
        return {name: int(count.replace(",", "")) for name, count in rows}

    def figure(self, name: str) -> str:
        """A figure beside the histogram."""
        row = self.view.get_by_test_id("histogram-figures").locator("tr", has_text=re.compile(f"^{re.escape(name)}"))
        return str(row.locator("td").first.inner_text())

    def said(self, words: str) -> None:
        self.view.get_by_role("status").filter(has_text=words).wait_for()

    def save(self, item: str, folder: Path) -> Path:
        """Downloads by an entry of the menu; the file, under the name that it comes with."""
        self.view.get_by_role("button", name=self.words["download"], exact=True).click()
        with self.page.expect_download() as download:
            self.page.get_by_role("menuitem", name=self.words[item]).click()
        target = folder / download.value.suggested_filename
        download.value.save_as(target)
        return target
