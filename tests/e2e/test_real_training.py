"""The page on a real MindSpore training, in both languages: what a user does from connecting to the end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from browsing import Debugger, expect

import stepscope
from stepscope.demo import script
from stepscope.testing.server import ServerThread

pytestmark = pytest.mark.mindspore

COMPILE = 180_000  # milliseconds, on a busy machine
CONV = "Default/network-WithLossCell/_backbone-LeNet/conv1-Conv2d/Conv2D-op0"
BIAS = "Default/network-WithLossCell/_backbone-LeNet/conv1-Conv2d/BiasAdd-op0"


@pytest.fixture
def train(server: ServerThread) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    processes: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        host, _, port = server.debugger_address.rpartition(":")
        environment = {**os.environ, "ENABLE_MS_DEBUGGER": "1", "MS_DEBUGGER_HOST": host, "MS_DEBUGGER_PORT": port}
        command = [sys.executable, str(script("mindspore")), "--epochs", "10000"]
        processes.append(subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.wait()


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_training_from_the_first_step_to_the_last(new_page, server, train, language):
    page = Debugger(new_page(language), language).open(server.url)
    page.page.get_by_role("heading", name=page.text["waiting"]).wait_for()
    process = train()
    page.page.locator("[data-testid=state][data-state=paused]").wait_for(timeout=COMPILE)
    with stepscope.connect(server.url) as debugger:
        (job,) = debugger.jobs()

        # in the list to a Conv2D, and in the graph to its neighbour
        parts = CONV.split("/")
        page.open_scope(*("/".join(parts[:depth]) for depth in range(1, len(parts))))
        page.select(CONV)
        page.box(BIAS).click()
        page.selected(BIAS)
        expect(page.row(BIAS)).to_have_attribute("aria-selected", "true")
        page.select(CONV)

        page.run(3)
        page.step(3)
        page.state("paused")
        page.cell("output-0", 5).get_by_role("button").click()
        shown = np.array(page.grid(), dtype=np.float32)
        np.testing.assert_allclose(shown, job.tensor(CONV)[0, 0], rtol=1e-6)
        page.page.keyboard.press("Escape")
        expect(page.cell("output-0", 6)).to_contain_text("|Δ|")

        page.select(BIAS)
        page.button("run_to").click()
        page.page.locator(f'[role=treeitem][aria-current=step][data-name="{BIAS}"]').wait_for()
        assert job.cursor.node == BIAS
        before = job.execution().nodes[job.cursor.position - 2].node
        page.button("previous").click()
        page.page.locator(f'[role=treeitem][aria-current=step][data-name="{before}"]').wait_for()
        page.selected(before)
        assert job.cursor.node == before

        page.button("resume").click()
        page.state("running")
        page.button("pause").click()
        page.state("paused")
        step = job.step
        assert step > 4

        page.page.reload()
        page.state("paused")
        page.step(step)
        page.selected(before)
        page.row(before).wait_for()

        page.button("terminate").click()
        page.page.get_by_role("dialog").get_by_role("button", name=page.text["terminate"]).click()
        page.banner("terminated")
        page.state("finished")
        assert process.wait(30) is not None

        lost = train()
        page.page.get_by_role("button", name=page.text["open_it"]).click(timeout=COMPILE)
        page.page.locator("[data-testid=state][data-state=paused]").wait_for(timeout=COMPILE)
        page.run(2)
        page.step(2)
        page.state("paused")
        lost.kill()
        expect(page.banner("killed")).to_contain_text("9")
        page.state("lost")
        page.page.reload()
        page.banner("killed")
