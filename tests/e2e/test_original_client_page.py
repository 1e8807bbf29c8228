"""The page with a training of MindSpore's own debugger client: the whole road, as far as its device goes."""

from __future__ import annotations

import numpy as np
import pytest
from browsing import complaints, expect
from viewing import Viewing
from watching import Watching

import stepscope
from stepscope.core.ports import TensorKey
from stepscope.testing.network import FORWARD, Network
from stepscope.testing.original_client import OriginalClient
from stepscope.testing.original_flavours import Flavour

DENSE = f"{FORWARD}/hidden-Dense"
MATMUL = f"{DENSE}/MatMul-op0"
RELU = f"{FORWARD}/relu-ReLU/ReLU-op0"
BOUND = {
    "en": {"GPU": "goes forward only", "Ascend": "whole steps only"},
    "zh": {"GPU": "只能向前执行", "Ascend": "只能在整个轮次结束后停下"},
}


def client(server, version: str, device: str) -> OriginalClient:
    return OriginalClient(server.debugger_address, Flavour(version, device))


def opened(new_page, server, language: str, device: str) -> Watching:
    """The page of a training that stands before its first step, the offer of watchpoints answered."""
    page = Watching(new_page(language), language)
    page.open(server.url).state("paused")
    page.answer("not_now")
    page.page.locator(".ss-bound", has_text=BOUND[language][device]).wait_for()
    expect(page.button("previous")).to_be_disabled()
    return page


def sheet(page: Watching) -> list[list[float]]:
    """The values in the view of a tensor."""
    return [[float(text) for text in row] for row in page.grid()]


def shows(page: Watching, training: OriginalClient, node: str) -> None:
    """The values of an output of the step in which the training stands, as they are."""
    true = training.network.tensor(TensorKey(Network.graph_name, node)).array
    np.testing.assert_allclose(sheet(page), true, rtol=1e-3, atol=1e-6)


def stands_at(page: Watching, node: str) -> None:
    page.page.locator(f'[role=treeitem][data-name="{node}"][aria-current=step]').first.wait_for()


def watch_and_recheck(page: Watching) -> None:
    """A hit with its details, which a new threshold outdates, and a check of the same step."""
    page.new("too_large")
    page.field("abs_mean_gt").fill("1e-9")
    page.accept()
    page.press("done")
    page.run(1)
    page.page.locator("[data-testid=state]", has_text=page.words["paused_by_hit"]).wait_for()
    node = str(page.hits.first.get_attribute("data-node"))
    page.hit_of(node).click()
    page.selected(node)
    expect(page.hit_of(node).get_by_test_id("hit-check")).to_contain_text("1e-9")
    page.page.get_by_test_id("advice").wait_for()
    page.menu(1, "edit")
    page.field("abs_mean_gt").fill("1e9")
    page.accept()
    page.press("check_again", page.page.get_by_test_id("outdated"))
    page.page.get_by_text(page.words["nothing"]).first.wait_for()
    expect(page.hits).to_have_count(0)


def terminate(page: Watching, training: OriginalClient) -> None:
    page.button("terminate").click()
    page.page.get_by_role("dialog").get_by_role("button", name=page.text["terminate"]).click()
    page.banner("terminated")
    training.join()
    assert training.exited


@pytest.mark.parametrize(("version", "language"), [("1.2.0", "en"), ("1.3.0", "zh"), ("2.0.0", "en")])
def test_on_gpu_node_by_node(new_page, server, version, language):
    with client(server, version, "GPU") as training:
        page = opened(new_page, server, language, "GPU")
        page.open_scope("Default", FORWARD, DENSE)
        page.button("next").click()
        stands_at(page, MATMUL)
        page.select(MATMUL)
        page.page.get_by_test_id("tensor-output-0").get_by_role("button", name=page.text["view"]).click()
        shows(page, training, MATMUL)
        page.page.keyboard.press("Escape")
        page.open_scope(f"{FORWARD}/relu-ReLU")
        page.select(RELU)
        page.button("run_to").click()
        stands_at(page, RELU)
        watch_and_recheck(page)
        assert complaints(page.page) == []
        terminate(page, training)


@pytest.mark.parametrize(("version", "language"), [("1.2.0", "en"), ("1.9.0", "zh")])
def test_on_ascend_by_whole_steps(new_page, server, version, language):
    with client(server, version, "Ascend") as training:
        page = opened(new_page, server, language, "Ascend")
        page.open_scope("Default", FORWARD, DENSE)
        page.select(MATMUL)
        expect(page.button("next")).to_be_disabled()
        expect(page.button("run_to")).to_be_disabled()
        page.run(2)
        page.step(2)
        page.page.get_by_test_id("tensor-output-0").get_by_role("button", name=page.text["view"]).click()
        shows(page, training, MATMUL)
        page.page.keyboard.press("Escape")
        watch_and_recheck(page)
        view = Viewing(page.page, language)
        with stepscope.connect(server.url) as debugger:
            job = debugger.jobs()[0]
            page.open(f"{server.url}/#/job/{job.id}/tensor/hidden.bias/0?graph={Network.graph_name}")
            view.show("difference")
            change = job.tensor("hidden.bias") - job.tensor("hidden.bias", when="previous")
        np.testing.assert_allclose(np.ravel(sheet(page)), change, rtol=1e-3, atol=1e-6)
        page.page.keyboard.press("Escape")
        terminate(page, training)
