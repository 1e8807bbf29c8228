"""How fast a PyTorch training is stepped from the page, in headless Chromium. Ends with status 1 over budget.

A GPT-like model of 10 million parameters, with more than 2,000 nodes a step, real and attached. Times are taken in the
page, from the click on the button to the frame that shows where the training stands then. Of a whole step, what the
training itself takes for one, run free in the same process, is taken off.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright
from torch_overhead import Training

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "e2e"))
from browsing import CHROMIUM_ARGUMENTS, TEXTS

NODES, STEPS, FREE, SETTLE = 60, 5, 10, 400
NODE_MS, STEP_MS = 50, 1000


def button(name: str) -> str:
    """In the page: the button with a text or label."""
    words = TEXTS["en"][name]
    of = f"each.textContent.trim() === '{words}' || each.ariaLabel === '{words}'"
    return f"[...document.querySelectorAll('button')].find((each) => {of})"


def stands(position: str) -> str:
    """In the page: it is paused, and says so at a node or a step other than before."""
    state = "document.querySelector('[data-testid=state]')"
    return f"() => {state}.dataset.state === 'paused' && {position} !== before"


NODE = "document.querySelector('[data-testid=state]').textContent"
STEP = "document.querySelector('[data-testid=step]').textContent"


PRESS = """async ([before]) => {
    const stands = STANDS;
    const began = performance.now();
    BUTTON.click();
    if (!stands()) {
        await new Promise((done) => {
            const watcher = new MutationObserver(() => stands() && (watcher.disconnect(), done()));
            watcher.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
        });
    }
    // A message sent before a frame is drawn comes when it is on the screen.
    await new Promise((done) => requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = done;
        port2.postMessage(0);
    }));
    return performance.now() - began;
}"""


def milliseconds(page: Any, name: str, of: str) -> float:
    page.wait_for_timeout(SETTLE)
    script = PRESS.replace("STANDS", stands(of)).replace("BUTTON", button(name))
    taken: float = page.evaluate(script, [page.evaluate(of)])
    return taken


def check(what: str, taken: list[float], budget: float) -> bool:
    median = statistics.median(taken)
    word = "ok    " if median <= budget else "MISSED"
    print(f"{word} {what:<44} {median:7.1f} ms of {budget}   ({min(taken):.1f} to {max(taken):.1f})")
    return median > budget


def main() -> int:
    chromium = os.environ.get("STEPSCOPE_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        Training("gpt", Path(folder)) as training,
    ):
        alone = [training.turn(1)["wall"] * 1000 for _ in range(FREE)]
        training.ask(10_000)
        job = training.job
        job.pause()
        job.wait(60)
        print(
            f"       {len(job.nodes()):,} nodes a step, which takes {statistics.median(alone):.0f} ms when it runs free"
        )
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_ARGUMENTS)
        page = browser.new_page(viewport={"width": 1366, "height": 768}, locale="en-GB")
        page.goto(f"{training.url}/#/job/{job.id}")
        page.locator("[data-testid=state][data-state=paused]").wait_for()
        page.wait_for_timeout(1000)
        nodes = [milliseconds(page, "next", NODE) for _ in range(NODES)]
        job.run()  # to the end of this step
        job.wait(60)
        page.wait_for_timeout(1000)
        steps = [milliseconds(page, "ok", STEP) - statistics.median(alone) for _ in range(STEPS)]
        browser.close()
        job.terminate()
    print(f"       load {os.getloadavg()[0]:.1f}")
    return 1 if sum([check("next node", nodes, NODE_MS), check("a step, beyond its own time", steps, STEP_MS)]) else 0


if __name__ == "__main__":
    sys.exit(main())
