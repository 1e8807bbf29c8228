"""The page of a training that stands still within a step: the side of a node, and the stack with its variables."""

from __future__ import annotations

import re

import pytest
from browsing import Debugger, complaints, expect

from stepscope.core.ports import Report, State
from stepscope.testing.agent import FakeAgent
from stepscope.testing.live_source import FakeLiveSource
from stepscope.testing.network import FORWARD, OPTIMIZER

MATMUL = f"{FORWARD}/hidden-Dense/MatMul-op0"
UPDATE = f"{OPTIMIZER}/ApplyMomentum-op0"
AS_IN = {"en": "as in step 3", "zh": "轮次 3 的值"}
WORDS = {
    "en": ("before the node", "after the node", "has not run yet", "Stack", "Variables of forward"),
    "zh": ("节点执行前", "节点执行后", "尚未执行", "调用栈", "forward 的变量"),
}


@pytest.fixture
def agent(server):
    with FakeAgent(server.debugger_address, FakeLiveSource()) as attached:
        yield attached


@pytest.mark.parametrize("language", ["en", "zh"])
def test_before_and_after_a_node_with_the_stack(new_page, server, agent, language):
    before, after, words, stack, variables = WORDS[language]
    # As a part of its own: the Chinese words also begin those for a training before its first step.
    not_yet = f" · {words}"
    page = Debugger(new_page(language), language).open(server.url)
    page.state("paused")
    page.page.get_by_text(before, exact=True).click()
    page.open_scope("Default", FORWARD, f"{FORWARD}/hidden-Dense")
    page.select(MATMUL)
    page.button("run_to").click()
    page.page.locator("[data-testid=state]", has_text=not_yet).wait_for()
    assert agent.commands[-1].before
    page.page.get_by_role("tab", name=stack).click()
    table = page.page.get_by_role("table", name=variables)
    table.wait_for()
    row = table.get_by_role("row").nth(2)
    expect(row).to_have_text(re.compile(r"^\s*x\s+Tensor\D*8\D+4\D*$"), use_inner_text=True)
    page.page.get_by_text(after, exact=True).click()
    page.button("next").click()
    page.page.locator("[data-testid=state]").filter(has_not_text=not_yet).wait_for()
    page.until(lambda: not agent.commands[-1].before)
    expect(page.page.get_by_role("tab", name=stack)).to_have_attribute("aria-selected", "true")
    assert complaints(page.page) == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_attributes_are_those_of_the_pause_or_say_of_which_step_they_are(new_page, server, agent, language):
    page = Debugger(new_page(language), language).open(server.url)
    page.state("paused")
    page.run(2)
    page.step(2)
    page.open_scope("Default", OPTIMIZER)
    page.select(UPDATE)
    page.page.get_by_role("tab", name=page.text["node"], exact=True).click()
    attributes, origin = page.page.locator(".ss-attributes"), page.page.get_by_test_id("attributes-origin")
    expect(attributes).to_contain_text("0.25")
    expect(origin).to_have_count(0)
    page.run(1)
    page.step(3)
    expect(attributes).to_contain_text("0.125")
    expect(origin).to_have_count(0)
    page.button("next").click()
    page.step(4)
    page.selected(MATMUL)
    expect(attributes).to_contain_text("0.0625")
    page.select(UPDATE)
    expect(origin).to_have_text(AS_IN[language])
    expect(attributes).to_contain_text("0.125")  # it has not run in step 4
    assert complaints(page.page) == []


def test_a_recorded_training_has_neither(new_page, server):
    with FakeAgent(server.debugger_address):
        page = Debugger(new_page()).open(server.url)
        page.state("paused")
        page.open_scope("Default", FORWARD, f"{FORWARD}/hidden-Dense")
        page.select(MATMUL)
        page.button("run_to").wait_for()  # beside which it would stand
        expect(page.page.get_by_text("before the node", exact=True)).to_have_count(0)
        page.page.get_by_role("tab", name=page.text["source"]).wait_for()
        expect(page.page.get_by_role("tab", name="Stack")).to_have_count(0)


SKIPPED = {"en": "The optimizer's update was left out in this step", "zh": "本轮次的优化器更新已跳过"}
EAGERLY = {"en": "Code of torch.compile runs operation by operation", "zh": "torch.compile 编译的代码改为逐个算子执行"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_is_special_about_a_step(new_page, server, agent, language):
    page = Debugger(new_page(language), language).open(server.url)
    page.state("paused")
    banner = page.page.locator(".ss-banner-warn")
    agent.report(Report(State.PAUSED, 3, "step", notes=("update_skipped", "compiled_eagerly"), skipped_updates=2))
    banner.filter(has_text=EAGERLY[language]).wait_for()
    expect(banner.filter(has_text=SKIPPED[language])).to_contain_text("2")
    assert complaints(page.page) == []
    agent.report(Report(State.PAUSED, 4, "step", notes=("compiled_eagerly",), skipped_updates=2))
    banner.filter(has_text=SKIPPED[language]).wait_for(state="detached")
