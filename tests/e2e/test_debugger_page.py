"""The page from waiting to the end of a training, with a fake agent behind a real server."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from browsing import Debugger, expect

import stepscope
from stepscope.core.ports import Farewell
from stepscope.testing.agent import FakeAgent
from stepscope.testing.server import ServerThread

DENSE = "Default/network/hidden-Dense"
MATMUL = f"{DENSE}/MatMul-op0"
LOSS = "Default/network/loss/SquaredError-op0"
LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])


@pytest.fixture
def page(new_page):
    return Debugger(new_page())


@LANGUAGES
def test_waiting_says_what_to_type_and_becomes_the_debugger(new_page, server, language):
    page = Debugger(new_page(language), language).open(server.url)
    page.page.get_by_role("heading", name=page.text["waiting"]).wait_for()
    port = server.debugger_address.rpartition(":")[2]
    expect(page.page.locator("pre").nth(1)).to_contain_text(re.compile(f"export MS_DEBUGGER_PORT={port}\n"))
    assert page.copied(page.button("copy").first.click).startswith("stepscope run ")
    with FakeAgent(server.debugger_address):
        page.state("paused")
        page.page.get_by_role("tree", name=page.text["nodes"]).wait_for()
        page.at("#/job/fake-1")


@LANGUAGES
def test_values_are_those_of_the_python_client(new_page, server, job, language):
    page = Debugger(new_page(language), language).open(server.url)
    page.state("paused")
    page.run(3)
    page.step(3)
    page.state("paused")
    page.open_scope("Default", "Default/network", DENSE)
    page.select(MATMUL)
    page.cell("output-0", 5).get_by_role("button").click()
    expected = job.tensor(MATMUL)
    np.testing.assert_allclose(np.array(page.grid(), dtype=np.float32), expected, rtol=1e-6)
    page.page.keyboard.press("Escape")
    page.open_scope("Default/network/loss")
    page.select(LOSS)
    assert np.isclose(float(page.value()), job.tensor(LOSS), rtol=1e-6)


def test_control_by_buttons(page, server, agent, job):
    page.open(server.url).state("paused")
    page.run(2)
    page.step(2)
    page.button("next").click()
    page.step(3)
    page.selected("MatMul-op0")  # the cursor is followed
    page.button("next").click()
    page.selected("BiasAdd-op0")
    page.button("previous").click()
    page.selected("MatMul-op0")
    page.open_scope("Default/network/loss")
    page.select(LOSS)
    page.button("run_to").click()
    page.page.locator("[data-testid=state]", has_text="node 5 of 13").wait_for()
    assert job.cursor.node == LOSS
    page.open_scope("Default/network/relu-ReLU")
    page.select("Default/network/relu-ReLU/ReLU-op0")
    page.button("current").click()
    page.selected(LOSS)
    agent.source.step_seconds = 0.02
    page.button("resume").click()
    page.state("running")
    page.button("pause").click()
    page.state("paused")
    assert job.info["reason"] == "pause"


def test_what_is_asked_while_a_command_is_on_its_way_is_not_lost(page, server, agent, job):
    """The news of a step can come before the answer to the command that made it."""
    held, sent = [], []
    page.page.on(
        "request", lambda one: sent.append(one.post_data_json["kind"]) if one.url.endswith("/commands") else None
    )
    page.open(server.url).state("paused")
    page.page.keyboard.press("F10")
    page.selected("MatMul-op0")
    page.page.route("**/commands", lambda route: held.append(route) if not held else route.continue_())
    page.page.keyboard.press("F10")  # within the step that has run: the training does not run for it
    page.page.locator("button:disabled", has_text=page.text["resume"]).wait_for()  # nothing was answered yet
    agent.source.step_seconds = 0.02
    page.page.keyboard.press("F5")
    page.page.keyboard.press("F5")  # no second one
    page.page.keyboard.press("F10")  # not possible any more when its turn comes
    held[0].continue_()
    page.state("running")
    page.page.keyboard.press("F6")
    page.state("paused")
    assert not page.page.locator("[role=alert]").all()
    assert sent == ["next_node", "next_node", "resume", "pause"]


def test_a_terminate_waits_for_nothing(page, server, agent, job):
    held = []
    page.page.route("**/commands", lambda route: held.append(route) if not held else route.continue_())
    page.open(server.url).state("paused")
    page.page.keyboard.press("F10")
    page.page.locator("button:disabled", has_text=page.text["resume"]).wait_for()
    page.page.keyboard.press("Shift+F5")
    page.page.get_by_role("dialog").get_by_role("button", name=page.text["terminate"]).click()
    page.banner("terminated")
    held[0].abort()


def test_a_terminate_that_is_refused_leaves_the_buttons_as_they_were(page, server, job):
    held = []
    page.page.route("**/commands", lambda route: held.append(route))
    page.open(server.url).state("paused")
    page.page.keyboard.press("Shift+F5")
    page.page.get_by_role("dialog").get_by_role("button", name=page.text["terminate"]).click()
    page.page.locator("button:disabled", has_text=page.text["resume"]).wait_for()
    held[0].fulfill(status=409, content_type="application/problem+json", body='{"kind": "conflict", "detail": "no"}')
    expect(page.button("resume")).to_be_enabled()


def test_control_by_keys(page, server, agent, job):
    page.open(server.url).state("paused")
    keyboard = page.page.keyboard
    keyboard.press("F10")
    page.step(1)
    page.selected("MatMul-op0")
    keyboard.press("F10")
    page.selected("BiasAdd-op0")
    keyboard.press("Shift+F10")
    page.selected("MatMul-op0")
    page.open_scope("Default/network/loss")
    page.select(LOSS)
    keyboard.press("Control+F10")
    page.page.locator("[data-testid=state]", has_text="node 5 of 13").wait_for()
    agent.source.step_seconds = 0.02
    keyboard.press("F5")
    page.state("running")
    keyboard.press("F6")
    page.state("paused")
    keyboard.press("?")
    dialog = page.page.get_by_role("dialog", name=page.text["help"])
    dialog.wait_for()
    keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    keyboard.press("/")
    keyboard.type("relu?")  # no help while one types
    expect(page.page.get_by_label(page.text["search"])).to_have_value("relu?")
    keyboard.press("Escape")
    keyboard.press("Shift+F5")
    page.page.get_by_role("dialog").get_by_role("button", name=page.text["terminate"]).click()
    page.banner("terminated")


@LANGUAGES
def test_terminate_asks_once(new_page, server, job, language):
    page = Debugger(new_page(language), language).open(server.url)
    page.state("paused")
    page.run(1)
    page.step(1)
    page.button("terminate").click()
    dialog = page.page.get_by_role("dialog")
    dialog.wait_for()
    page.page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    assert job.state == "paused"
    page.button("terminate").click()
    dialog.get_by_role("button", name=page.text["terminate"]).click()
    page.banner("terminated")
    page.state("finished")
    expect(page.button("resume")).to_be_disabled()


@LANGUAGES
def test_the_end_stays_open_for_review(new_page, server, agent, job, language):
    page = Debugger(new_page(language), language).open(server.url)
    page.state("paused")
    page.run(2)
    page.step(2)
    agent.finish(Farewell("lost", "killed", exit_status=-9))
    banner = page.banner("killed")
    expect(banner).to_contain_text("9")
    expect(banner).to_contain_text("2")
    page.state("lost")
    page.open_scope("Default", "Default/network", DENSE)
    page.select(MATMUL)
    expect(page.cell("output-0", 4)).to_have_text("[8, 3]")


def test_a_broken_connection_is_not_the_end(page, server, agent, job):
    page.open(server.url).state("paused")
    agent.die()
    said = page.banner("broken")
    expect(said).not_to_contain_text("process broke")  # the server's words for it, which are not the page's language
    expect(said).to_have_attribute("title", "the connection to the training process broke")
    agent.attach()
    page.state("paused")
    page.page.locator("[data-testid=end-banner]").wait_for(state="hidden")
    page.run(1)
    page.step(1)


def test_filters(page, server, job):
    page.open(server.url).state("paused")
    found = page.page.locator("[data-testid=matches]")
    search = page.page.get_by_label(page.text["search"])
    search.fill("matmul")
    found.filter(has_text="5 matches").wait_for()
    names = job.nodes("matmul")
    search.press("Enter")
    page.selected(names[0])
    search.press("Enter")
    page.selected(names[1])
    found.filter(has_text="2 of 5").wait_for()
    search.press("Shift+Enter")
    page.selected(names[0])
    search.fill("")
    page.page.get_by_role("combobox", name=page.text["category"]).click()
    page.page.get_by_role("option", name=page.text["gradient"]).click()
    found.filter(has_text="5 matches").wait_for()
    search.fill("no such thing")
    page.page.get_by_text("No node matches.").wait_for()


def test_source_lines(page, server, job):
    page.open(f"{server.url}/#/job/fake-1/node/{MATMUL}").state("paused")
    page.page.get_by_role("tab", name=page.text["source"]).click()
    frame = page.page.locator("[data-testid=user-frame]")
    expect(frame).to_contain_text("/home/me/train.py:12")
    expect(frame).to_contain_text("out = MatMul(x)")
    page.button("one_line").click()
    page.page.locator("[data-testid=matches]", has_text="1 of 1").wait_for()
    expect(page.page.get_by_label(page.text["line"])).to_have_value("/home/me/train.py:12")


def test_neighbours_are_links_and_the_browser_goes_back(page, server, job):
    page.open(f"{server.url}/#/job/fake-1/node/{MATMUL}").state("paused")
    page.selected(MATMUL)
    page.page.get_by_role("tab", name=page.text["node"], exact=True).click()
    page.page.get_by_role("button", name=f"{DENSE}/BiasAdd-op0").click()
    page.selected("BiasAdd-op0")
    page.at(f"#/job/fake-1/node/{DENSE}/BiasAdd-op0?graph=graph_0")
    page.page.go_back()
    page.selected(MATMUL)
    page.page.go_forward()
    page.selected("BiasAdd-op0")
    page.page.reload()
    page.selected("BiasAdd-op0")
    page.row(f"{DENSE}/BiasAdd-op0").wait_for()  # the list is open to there


def test_several_pages_agree(new_page, server, job):
    one, other = Debugger(new_page("en"), "en"), Debugger(new_page("zh"), "zh")
    for page in (one, other):
        page.open(server.url).state("paused")
    one.run(3)
    for page in (one, other):
        page.step(3)
    other.button("next").click()
    for page in (one, other):
        page.step(4)
        page.selected("MatMul-op0")
    other.button("terminate").click()
    other.page.get_by_role("dialog").get_by_role("button", name=other.text["terminate"]).click()
    one.banner("terminated")


def test_languages_and_colours_switch_in_place(page, server, job):
    page.open(server.url).state("paused")
    page.page.evaluate("window.same = true")
    page.page.get_by_text("中", exact=True).click()
    chinese = Debugger(page.page, "zh")
    chinese.state("paused")
    root = page.page.locator("html")
    expect(root).to_have_attribute("lang", "zh-CN")
    page.page.get_by_role("button", name="深色主题").click()
    expect(root).to_have_attribute("data-mantine-color-scheme", "dark")
    assert page.page.evaluate("window.same")
    page.page.reload()
    chinese.state("paused")
    expect(root).to_have_attribute("data-mantine-color-scheme", "dark")


def test_a_server_that_comes_back_is_followed(page, tmp_path):
    with ServerThread(tmp_path / "workspace") as first, FakeAgent(first.debugger_address) as agent:
        port = int(first.url.rpartition(":")[2])
        page.open(first.url).state("paused")
        agent.finish()
        page.banner("ended")
    said = page.page.get_by_text("The server does not answer")  # wherever something has been asked for
    page.page.get_by_role("status").filter(has=said).first.wait_for()
    page.row("Default").locator(".ss-caret").click()  # shown open from now on, in the graph too
    page.page.get_by_label(page.text["nodes"]).get_by_role("alert").filter(has=said).wait_for()
    page.page.get_by_text("The graph can't be drawn: The server does not answer.").wait_for()
    with ServerThread(tmp_path / "workspace", port=port):
        expect(said).to_have_count(0)
        page.banner("ended")
        page.row("Default/network").wait_for()
        page.box("Default/network").wait_for()


def test_a_token_is_enough(page, tmp_path):
    with ServerThread(tmp_path / "workspace", token="secret") as server:
        page.open(f"{server.url}/?token=secret")
        page.page.get_by_role("heading", name=page.text["waiting"]).wait_for()
        expect(page.page).not_to_have_url(re.compile("secret"))
        with FakeAgent(server.debugger_address, token="secret"):
            page.state("paused")


@pytest.mark.parametrize(
    ("language", "code", "said"),
    [
        ("en", "", "the training is running"),
        ("en", "not_paused", "Possible only while the training is paused: pause it first."),
        ("zh", "not_paused", "仅在训练暂停时可用，请先暂停。"),
    ],
)
def test_refusals_are_shown(new_page, server, job, language, code, said):
    page = Debugger(new_page(language), language).open(server.url)
    page.state("paused")
    problem = {"kind": "conflict", "detail": "the training is running", "status": 409, "code": code}
    page.page.route("**/commands", lambda route: route.fulfill(
        status=409, content_type="application/problem+json", body=json.dumps(problem)))  # fmt: skip
    page.button("next").click()
    page.page.get_by_text(said).wait_for()


def test_an_unknown_training(page, server):
    page.open(f"{server.url}/#/job/nobody")
    page.page.get_by_role("button", name="To the start page").click()
    page.page.get_by_role("heading", name=page.text["waiting"]).wait_for()


def test_an_unknown_node_is_named_with_those_that_come_near(page, server, job):
    right = next(iter(job.nodes("MatMul-op")))
    page.open(f"{server.url}/#/job/{job.id}/node/{right}x")
    said = page.page.get_by_role("alert").filter(has_text=f"There is no node, scope or graph of this name. {right}x")
    said.get_by_text(right[right.rindex("/") + 1 :], exact=False).last.click()
    page.selected(right)


def test_a_second_training_is_announced(page, server, job):
    page.open(server.url).state("paused")
    from dataclasses import replace

    from stepscope.testing.source import INFO, FakeSource

    with FakeAgent(server.debugger_address, FakeSource(replace(INFO, job_id="fake-2", pid=4243))):
        page.page.get_by_role("button", name="Open it").click()
        expect(page.page).to_have_url(re.compile("fake-2"))
        page.state("paused")
    with stepscope.connect(server.url) as debugger:
        assert len(debugger.jobs()) == 2
