"""What the tests of watchpoints do with the page: list, dialog, boxes in the node list, list of hits."""

from __future__ import annotations

from typing import Any

from browsing import Debugger, expect

WORDS = {
    "en": {
        "add": "New watchpoint", "recheck": "Check this step again", "clear": "Delete all watchpoints", "ok": "OK",
        "cancel": "Cancel", "delete": "Delete", "use": "Use them", "not_now": "Not now", "edit": "Edit…",
        "duplicate": "Duplicate", "delete_one": "Delete…", "switch_off": "Switch off", "done": "Done", "all": "All",
        "none": "None", "condition": "Condition", "name": "Name", "weights": "Weights", "tensors": "Tensors",
        "gradients": "Gradients", "late": "Use the recommended watchpoints", "too_large": "Tensor above threshold",
        "overflow": "Tensor overflow", "range": "Tensor value range", "zeros": "Whether tensor values are all 0",
        "unchanged": "Unchanged weight", "initial": "Initial weight value", "max_gt": "max >",
        "paused_by_hit": "a watchpoint was hit", "not_a_number": "Enter a number, such as 0.5 or 1e-9.",
        "missing": "Enter a number.", "out_of_range": "Allowed: 0 to 100 %.", "no_check": "Choose at least one check.",
        "companion": "The check above needs this number, too.",
        "start_after_end": "The upper end must not be below the lower end.", "always": "This always hits.",
        "never": "This can never hit.",
        "nan": "not evaluated: contains NaN",
        "no_previous": "no value of the step before",
        "old_set": "Watchpoints have changed.", "old_step": "These are hits of step",
        "kind_all": "All", "kind_error": "Not evaluated", "kind_hit": "Hit",
        "nothing": "was checked again: nothing is hit", "hits": "Hits", "selected_node": "The selected node",
        "selected_scope": "The selected scope", "check_again": "Check again", "no_hits": "No hits yet.",
    },
    "zh": {
        "add": "新建监测点", "recheck": "重新检查本轮次", "clear": "清空监测点", "ok": "确定", "cancel": "取消",
        "delete": "删除", "use": "使用", "not_now": "暂不使用", "edit": "编辑…", "duplicate": "复制一份",
        "delete_one": "删除…", "switch_off": "停用", "done": "完成", "all": "全选", "none": "取消全选",
        "condition": "条件", "name": "名称", "weights": "检查权重", "tensors": "检查张量", "gradients": "检查梯度",
        "late": "使用推荐监测点", "too_large": "检查过大张量", "overflow": "检查张量溢出", "range": "检查张量值范围",
        "zeros": "检查张量是否全为0", "unchanged": "检查未变化权重", "initial": "检查权重初始值", "max_gt": "max >",
        "paused_by_hit": "命中监测点", "not_a_number": "请输入数值，例如 0.5 或 1e-9。", "missing": "请输入数值。",
        "out_of_range": "允许的取值：0 至 100 %。", "no_check": "请至少选择一项检查。",
        "companion": "上述检查还需要此数值。", "start_after_end": "上界不能小于下界。", "always": "该条件总会命中。",
        "never": "该条件不可能命中。", "nan": "无法检查: 张量中含有 NaN", "no_previous": "没有上一轮次的值",
        "old_set": "检查之后监测点有改动", "old_step": "以下为轮次",
        "kind_all": "全部", "kind_error": "无法检查", "kind_hit": "命中",
        "nothing": "没有命中。", "hits": "命中的监测点", "selected_node": "当前选中的节点",
        "selected_scope": "当前选中的作用域", "check_again": "重新检查", "no_hits": "暂无命中。",
    },
}  # fmt: skip


class Watching(Debugger):
    """The page, with watchpoints."""

    def __init__(self, page: Any, language: str = "en"):
        super().__init__(page, language)
        self.words = WORDS[language]

    def press(self, name: str, of: Any = None) -> None:
        """A button by its word."""
        (of or self.page).get_by_role("button", name=self.words[name], exact=True).click()

    # ------------------------------------------------------------ list

    @property
    def offer(self) -> Any:
        return self.page.get_by_test_id("offer")

    def answer(self, name: str) -> None:
        self.press(name, self.offer)
        self.offer.wait_for(state="hidden")

    @property
    def watch_row(self) -> Any:
        """Each watchpoint's number and text."""
        return self.page.locator(".ss-watch-main")

    def watch_rows(self) -> list[str]:
        """Numbers and texts of the watchpoints, as listed."""
        return [" ".join(text.split()) for text in self.watch_row.all_inner_texts()]

    def watchpoint(self, number: int) -> Any:
        return self.page.get_by_test_id(f"watch-{number}")

    def covers(self, number: int, nodes: int) -> None:
        """Waits until a watchpoint covers so many nodes."""
        expect(self.watchpoint(number).get_by_test_id("watched")).to_have_text(f"{nodes:,}")

    def menu(self, number: int, item: str) -> None:
        self.watchpoint(number).locator('[data-part="menu"]').click()
        self.page.get_by_role("menuitem", name=self.words[item], exact=True).click()

    def choose_nodes(self, number: int) -> None:
        """Begins to tick."""
        main = self.watchpoint(number).locator(".ss-watch-main")
        if main.get_attribute("aria-pressed") != "true":
            main.click()
        self.page.get_by_test_id("tickbar").wait_for()

    # ------------------------------------------------------------ dialog

    @property
    def dialog(self) -> Any:
        return self.page.get_by_role("dialog")

    def new(self, condition: str | None = None, collection: str | None = None) -> Any:
        """Opens the dialog with a condition chosen."""
        self.press("add")
        self.dialog.wait_for()
        return self.choose(condition, collection)

    def choose(self, condition: str | None = None, collection: str | None = None) -> Any:
        if collection:
            self.dialog.get_by_text(self.words[collection], exact=True).click()
        if condition:
            self.dialog.get_by_role("combobox", name=self.words["condition"]).click()
            self.page.get_by_role("option", name=self.words[condition], exact=True).click()
        return self.dialog

    def field(self, parameter: str) -> Any:
        return self.dialog.locator(f'input[name="{parameter}"]')

    def complains(self, parameter: str, word: str) -> None:
        """Waits until a mistake is told at a field."""
        expect(self.dialog.get_by_test_id(f"error-{parameter}")).to_have_text(self.words[word])

    def accept(self) -> None:
        self.press("ok", self.dialog)
        self.dialog.wait_for(state="hidden")

    # ------------------------------------------------------------ ticks

    def ticked(self, name: str, state: str) -> None:
        """Waits until the box of a row is "true", "false" or "mixed"."""
        self.page.locator(f'[role=treeitem][data-name="{name}"][aria-checked="{state}"]').first.wait_for()

    def tick(self, name: str) -> None:
        self.row(name).locator(".ss-tick").click()

    # ------------------------------------------------------------ hits

    @property
    def hits(self) -> Any:
        """The hits in sight, as far as they are loaded."""
        return self.page.locator("[data-testid=hit][data-node]")

    def hit_of(self, node: str) -> Any:
        return self.page.locator(f'[data-testid=hit][data-node="{node}"]').first

    def tab(self, name: str) -> Any:
        return self.page.get_by_role("tab", name=name)
