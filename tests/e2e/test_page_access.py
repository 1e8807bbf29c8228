"""Everyone can use the page: axe finds nothing serious in any state, and the keyboard reaches everything."""

from __future__ import annotations

import re

import pytest
from browsing import Debugger, complaints, expect

from stepscope.testing.server import ServerThread

LOSS = "Default/network/loss/SquaredError-op0"


@pytest.mark.parametrize(("language", "scheme"), [("en", "light"), ("zh", "dark")])
def test_axe_finds_nothing_serious(new_page, server, agent, language, scheme):
    page = Debugger(new_page(language, scheme), language)
    page.page.route("**/api/jobs", lambda route: route.fulfill(json={"jobs": []}))
    page.open(server.url)
    page.page.get_by_role("heading", name=page.text["waiting"]).wait_for()
    assert complaints(page.page) == []
    page.page.unroute("**/api/jobs")
    page.page.reload()
    page.state("paused")
    page.run(2)
    page.step(2)
    page.open_scope("Default", "Default/network", "Default/network/loss")
    page.select(LOSS)
    page.value()
    page.page.locator(".ss-canvas").locator("visible=true").first.wait_for()
    assert complaints(page.page) == []
    for tab in ("node", "source"):
        page.page.get_by_role("tab", name=page.text[tab], exact=True).click()
        assert complaints(page.page) == []
    page.page.get_by_label(page.text["search"]).fill("op")
    page.page.locator("[data-testid=matches]").wait_for()
    assert complaints(page.page) == []
    page.page.get_by_label(page.text["search"]).fill("")
    page.button("help").click()
    page.page.get_by_role("dialog").wait_for()
    assert complaints(page.page) == []
    page.page.keyboard.press("Escape")
    page.page.get_by_role("dialog").wait_for(state="hidden")
    page.page.get_by_role("tab", name=page.text["tensors"], exact=True).click()
    page.cell("output-1", 5).get_by_role("button").click()
    page.grid()
    assert complaints(page.page) == []
    page.page.keyboard.press("Escape")
    agent.finish()
    page.banner("ended")
    assert complaints(page.page) == []


@pytest.mark.parametrize(
    ("language", "scheme", "title", "label", "wrong"),
    [
        ("en", "light", "A token is needed", "Token", "That is not the token of this server."),
        ("zh", "dark", "需要令牌", "令牌", "这不是此服务的令牌。"),
    ],
)
def test_without_the_token_one_is_told_what_to_do(new_page, tmp_path, language, scheme, title, label, wrong):
    page = Debugger(new_page(language, scheme), language)
    with ServerThread(tmp_path / "workspace", token="secret") as server:
        page.open(server.url)
        page.page.get_by_role("heading", name=title).wait_for()
        assert complaints(page.page) == []
        field = page.page.get_by_label(label, exact=True)
        field.fill("a guess")
        field.press("Enter")
        page.page.get_by_role("alert").filter(has_text=wrong).wait_for()
        assert complaints(page.page) == []
        field.fill("secret")
        field.press("Enter")
        page.page.get_by_role("heading", name=page.text["waiting"]).wait_for()
        expect(page.page).not_to_have_url(re.compile("secret"))
        page.page.reload()
        page.page.get_by_role("heading", name=page.text["waiting"]).wait_for()


def test_the_keyboard_alone(new_page, server, agent):
    page = Debugger(new_page())
    page.open(server.url).state("paused")
    keyboard = page.page.keyboard
    page.row("Default").wait_for()
    for _ in range(40):  # Tab comes to the tree
        keyboard.press("Tab")
        if page.page.evaluate("document.activeElement.getAttribute('role')") == "tree":
            break
    for key in ("ArrowRight", "ArrowDown", "ArrowRight", "ArrowDown", "ArrowRight", "ArrowDown"):
        keyboard.press(key)
        page.page.locator(".ss-tree", has_not_text="Loading").wait_for()
    keyboard.press("Enter")
    page.selected("Default/network/hidden-Dense/MatMul-op0")
    keyboard.press("ArrowLeft")
    keyboard.press("ArrowLeft")
    page.row("Default/network/hidden-Dense/MatMul-op0").wait_for(state="hidden")


def test_every_button_has_a_name(new_page, server, agent):
    page = Debugger(new_page())
    page.open(f"{server.url}/#/job/fake-1/node/{LOSS}").state("paused")
    page.selected(LOSS)
    nameless = page.page.evaluate(
        "[...document.querySelectorAll('button')]"
        ".filter(b => !b.textContent.trim() && !b.ariaLabel && !b.ariaHidden).length"
    )
    assert nameless == 0
