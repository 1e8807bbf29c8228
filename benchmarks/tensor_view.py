"""How fast the view of a tensor is in headless Chromium, against its budgets. Ends with status 1 where one is missed.

    python benchmarks/tensor_view.py [--runs 5] [--small 4096] [--large 16384]

Square weights of float32, 64 MB and 1 GB unless told otherwise, as recorded files; the real agent in a process of its
own, over real gRPC, a real server. Each run has an agent and a browser without anything kept. Times are taken in the
page, from what a user does until the frame that shows the result is on the screen; medians of the runs. Beside them
stand the times in which numpy works out the same figures in one process. A busy machine makes all of them longer: its
load is printed. Needs free disk and page cache for four times the large tensor.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright
from stats import plain
from tensor_training import STEP, Attached, LargeTensors, name, values

import stepscope
from stepscope.testing.server import ServerThread

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "e2e"))
from browsing import CHROMIUM_ARGUMENTS

CLOCKS = [Path(__file__).with_name(name).read_text() for name in ("page_clock.js", "tensor_clock.js")]
SCROLLS, JUMPS, SETTLE = 20, 12, 400
MB = 1 << 20

FIRST, WITH_FIGURES, SCROLL, FAR, COMPARE = (
    "small: click to the first window",
    "small: the figures after it",
    "small: a notch of the wheel",
    "small: a jump to values not read yet",
    "small: comparison with its figures",
)
OPEN, LARGE_SCROLL, LARGE_COMPARE, MEMORY = (
    "large: opens with its figures",
    "large: a notch of the wheel",
    "large: comparison with its figures",
    "large: memory of the page, after scrolling far",
)
BUDGETS: dict[str, float | None] = {  # milliseconds, and MB for memory; None: only told
    FIRST: 300,
    WITH_FIGURES: None,
    SCROLL: 50,
    FAR: None,
    COMPARE: 700,
    OPEN: 2500,
    LARGE_SCROLL: 50,
    LARGE_COMPARE: None,
    MEMORY: 300,
}

Samples = dict[str, list[float]]


class Run:
    """One browser, from an empty cache."""

    def __init__(self, browser: Any, url: str, job: str, samples: Samples):
        self._browser, self._job, self._samples = browser, job, samples
        self._context = browser.new_context(viewport={"width": 1366, "height": 768}, locale="en-GB")
        for clock in CLOCKS:
            self._context.add_init_script(clock)
        self.page = self._context.new_page()
        self.page.goto(f"{url}/#/job/{job}", wait_until="commit")
        self.page.evaluate("clock.firstPicture()")

    def small(self, tensor: str) -> None:
        self.page.evaluate(f"location.hash = '#/job/{self._job}/node/{tensor}?graph=graph_0'")
        self.page.wait_for_function("tensorClock.isListed()")
        self.page.wait_for_timeout(2 * SETTLE)
        self.measure(FIRST, "click()")
        self.measure(WITH_FIGURES, "figures()")
        self.measure(SCROLL, "scroll()", SCROLLS)
        self.measure(FAR, "jump()", 2)
        self.measure(COMPARE, "compare()")

    def large(self, tensor: str) -> None:
        self.measure(OPEN, f"open('#/job/{self._job}/tensor/{tensor}/0?graph=graph_0', '{tensor}')")
        self.measure(LARGE_SCROLL, "scroll()", SCROLLS)
        for _ in range(JUMPS):
            self.page.evaluate("tensorClock.jump()")
        self.measure(LARGE_COMPARE, "compare()")
        self._samples[MEMORY].append(self.memory())

    def measure(self, what: str, call: str, times: int = 1) -> None:
        """The median where it is done several times."""
        taken = [self.page.evaluate(f"tensorClock.{call}")["ms"] for _ in range(times)]
        self._samples[what].append(statistics.median(taken))
        self.page.wait_for_timeout(SETTLE)

    def memory(self) -> float:
        """MB of the process that runs the page, without what it shares with others: heap, buffers, and all else."""
        session = self._browser.new_browser_cdp_session()
        processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
        session.detach()
        return max(_private_memory(each["id"]) for each in processes if each["type"] == "renderer")

    def close(self) -> None:
        self._context.close()


def _private_memory(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024


def numpys_own(side: int, is_compared: bool) -> list[tuple[str, float]]:
    """Milliseconds in which numpy works out the figures of one value, and those of a comparison."""
    now = values(side, STEP)
    works = [("figures", lambda: [plain(now)])]
    if is_compared:
        before = values(side, STEP - 1)
        works.append(("comparison", lambda: [plain(each) for each in (now, before, now.astype(np.float64) - before)]))
    times = []
    for what, work in works:
        began = time.perf_counter()
        work()
        times.append((what, 1000 * (time.perf_counter() - began)))
    return times


def report(samples: Samples) -> list[str]:
    missed = []
    for what, budget in BUDGETS.items():
        value, unit = statistics.median(samples[what]), "MB" if what == MEMORY else "ms"
        best = f"best {min(samples[what]):6.0f}, worst {max(samples[what]):6.0f}"
        if budget is not None and value > budget:
            missed.append(what)
        verdict = "      " if budget is None else "ok    " if value <= budget else "MISSED"
        limit = f"of {budget:5.0f}" if budget is not None else "        "
        print(f"{verdict} {what:<48} {value:6.0f} {unit} {limit}  {best}", flush=True)
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--small", type=int, default=4096, help="side of the small weight")
    parser.add_argument("--large", type=int, default=16384, help="side of the large one")
    options = parser.parse_args()
    chromium = os.environ.get("STEPSCOPE_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
    samples: Samples = defaultdict(list)
    sides = (options.small, options.large)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        tensors = LargeTensors(Path(folder) / "data", sides)
        with ServerThread(Path(folder) / "workspace") as server, stepscope.connect(server.url) as debugger:
            for number in range(options.runs):
                job_id = f"large-tensors-{number}"
                with Attached(tensors, server.debugger_address, job_id):
                    job = _paused(debugger, job_id)
                    browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_ARGUMENTS)
                    run = Run(browser, server.url, job.id, samples)
                    run.small(name(options.small))
                    run.large(name(options.large))
                    run.close()
                    browser.close()
    print(f"{', '.join(f'{4 * side * side / MB:,.0f} MB' for side in sides)}; {options.runs} runs, "
          f"load {os.getloadavg()[0]:.1f}:")  # fmt: skip
    missed = report(samples)
    for side in sides:
        for what, milliseconds in numpys_own(side, side == options.small):
            print(f"       {f'numpy: {what} of {4 * side * side / MB:,.0f} MB':<48} {milliseconds:6.0f} ms", flush=True)
    print(f"{len(missed)} budgets missed" + (f": {'; '.join(missed)}" if missed else ""))
    return 1 if missed else 0


def _paused(debugger: Any, job_id: str) -> Any:
    """The job, once its training has told where it stands."""
    while True:
        for job in debugger.jobs():
            if job.id == job_id and job.step == STEP and job.wait(60) == "paused":
                return job
        time.sleep(0.05)


if __name__ == "__main__":
    sys.exit(main())
