"""How fast the page is in headless Chromium on big graphs, against its budgets. Ends with status 1 where one is missed.

    python benchmarks/page.py [--nodes 20000 100000] [--runs 5]

A real server with a fake agent; graphs are those of a transformer's training. Each run has a browser without anything
kept. Times are taken in the page, from what a user does until the frame that shows the result is on the screen;
medians of the runs. A busy machine makes them longer: its load is printed, and how much the page's thread worked.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from page_training import BLOCKS, BigTraining, block, leaf
from playwright.sync_api import sync_playwright

import stepscope
from stepscope.testing.agent import FakeAgent
from stepscope.testing.server import ServerThread

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "e2e"))
from browsing import CHROMIUM_ARGUMENTS

CLOCK = Path(__file__).with_name("page_clock.js").read_text()
SIZES = (50, 300)  # children of the scopes that are opened
OPTIMIZER = "Default/optimizer-Adam"
MANY = "attention"  # found in many names
SETTLE = 400  # milliseconds between two measurements

LONGEST = "longest task of the page's thread"
BUDGETS = {  # milliseconds, with 20,000 nodes and with 100,000
    "first picture": (1500, 3000),
    "open a scope of 50": (250, 375),
    "open a scope of 300": (700, 1050),
    "jump from the search to a leaf": (500, 750),
    "expand in the list": (100, 100),
    "collapse in the list": (100, 100),
    "filter by name, many found": (100, 100),
    "filter by name, one found": (100, 100),
    "drop the filter": (100, 100),
    "tick a scope with half of all nodes": (100, 100),
    "tick an op": (100, 100),
    LONGEST: (200, 300),
}

Samples = dict[str, list[float]]


class Run:
    """One browser, from an empty cache: measures each thing once."""

    def __init__(self, browser: Any, address: str, times: Samples, tasks: Samples, work: Samples):
        self._times, self._tasks, self._work = times, tasks, work
        self._context = browser.new_context(viewport={"width": 1366, "height": 768}, locale="en-GB")
        self._context.add_init_script(CLOCK)
        self.page = self._context.new_page()
        self._tools = self._context.new_cdp_session(self.page)
        self._tools.send("Performance.enable", {"timeDomain": "threadTicks"})
        self._longest = 0.0
        self.measure("first picture", lambda: self.page.goto(address, wait_until="commit"), "clock.firstPicture()")

    def measure(self, what: str, first: Callable[[], object] | None, script: str) -> None:
        before = 0.0 if first else self._busy()
        if first:
            first()
        taken = self.page.evaluate(script)
        self._times[what].append(taken["ms"])
        self._tasks[what].append(taken["longest"])
        self._work[what].append(self._busy() - before)
        self._longest = max(self._longest, taken["longest"])
        self.page.wait_for_timeout(SETTLE)

    def ask(self, what: str, script: str) -> None:
        self.measure(what, None, script)

    def close(self) -> None:
        self._times[LONGEST].append(self._longest)
        self._context.close()

    def _busy(self) -> float:
        """Milliseconds that the page's thread has worked."""
        metrics = self._tools.send("Performance.getMetrics")["metrics"]
        return 1000 * next(float(each["value"]) for each in metrics if each["name"] == "TaskDuration")


def one_run(run: Run, nodes: int, many: int, watchpoint: int) -> None:
    for path in ("Default", BLOCKS):
        run.page.evaluate(f"clock.expand({path!r})")
        run.page.wait_for_timeout(SETTLE)
    for children in SIZES:
        run.page.evaluate(f"clock.choose({block(children)!r})")
        run.page.wait_for_timeout(SETTLE)
        run.ask(f"open a scope of {children}", f"clock.open({block(children)!r}, {children})")
        run.page.evaluate(f"clock.collapse({block(children)!r})")
        run.page.wait_for_timeout(SETTLE)
    run.page.evaluate(f"clock.collapse({BLOCKS!r})")
    run.page.wait_for_timeout(SETTLE)
    run.ask("expand in the list", f"clock.expand({OPTIMIZER!r})")
    run.ask("collapse in the list", f"clock.collapse({OPTIMIZER!r})")
    run.ask("filter by name, many found", f"clock.filter({MANY!r}, {many})")
    wanted = leaf(nodes)
    part = "/".join(wanted.lower().split("/")[-4:])
    run.ask("filter by name, one found", f"clock.filter({part!r}, 1)")
    run.ask("jump from the search to a leaf", f"clock.jump({wanted!r})")
    run.ask("drop the filter", "clock.clear()")
    run.page.evaluate(f"clock.choosing({watchpoint})")
    run.page.wait_for_timeout(SETTLE)
    run.ask("tick an op", f"clock.tick({wanted!r}, 'false')")
    run.page.evaluate("clock.top()")
    run.page.wait_for_timeout(SETTLE)
    run.ask("tick a scope with half of all nodes", "clock.tick('Default', 'true')")


def report(nodes: int, column: int, times: Samples, tasks: Samples, work: Samples) -> list[str]:
    missed = []
    for what, budgets in BUDGETS.items():
        value, budget = statistics.median(times[what]), budgets[column]
        more = (
            ""
            if what == LONGEST
            else (
                f" best {min(times[what]):5.0f}, longest task {statistics.median(tasks[what]):4.0f},"
                f" page's thread {statistics.median(work[what]):5.0f}"
            )
        )
        within = value <= budget
        if not within:
            missed.append(f"{nodes:,} nodes: {what}")
        print(f"{'ok    ' if within else 'MISSED'} {what:<36} {value:6.0f} ms of {budget:5.0f}{more}", flush=True)
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[20_000, 100_000])
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    chromium = os.environ.get("STEPSCOPE_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
    missed = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_ARGUMENTS)
        for nodes in options.nodes:
            times: Samples = defaultdict(list)
            tasks: Samples = defaultdict(list)
            work: Samples = defaultdict(list)
            with (
                tempfile.TemporaryDirectory() as workspace,
                ServerThread(Path(workspace)) as server,
                FakeAgent(server.debugger_address, BigTraining(nodes, SIZES)),
                stepscope.connect(server.url) as debugger,
            ):
                job = debugger.wait_for_job(60)
                many = len(job.nodes(MANY))
                for _ in range(options.runs):
                    for watchpoint in job.watchpoints():
                        watchpoint.delete()
                    job.use_recommended(False)
                    number = job.watch("tensor_too_large", nodes=[leaf(nodes)], abs_mean_gt=1e9).id
                    run = Run(browser, f"{server.url}/#/job/{job.id}", times, tasks, work)
                    one_run(run, nodes, many, number)
                    run.close()
            print(f"{nodes:,} nodes, {options.runs} runs, load {os.getloadavg()[0]:.1f}:")
            missed += report(nodes, 0 if nodes < 100_000 else 1, times, tasks, work)
        browser.close()
    print(f"{len(missed)} budgets missed" + (f": {'; '.join(missed)}" if missed else ""))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
