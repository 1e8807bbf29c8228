"""Pictures of the page in every state, in both languages, light and dark, in two sizes: `make screenshots`.

    python scripts/screenshots.py [FOLDER]

Where MindSpore is installed the training is the demo's; elsewhere it is the fake one of the tests.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from picturing import COMPILE, SETTLE, new_context, reach, stage, training  # isort: skip  (makes `browsing` importable)
from lineage_page import LineagePage
from viewing import Viewing, op_of
from watching import Watching

import stepscope
from stepscope.testing.agent import FakeAgent
from stepscope.testing.server import ServerThread
from stepscope.testing.source import FakeSource
from stepscope.testing.zoo import GRADIENTS, LAYERS, LOG, NETWORK, Zoo

SIZES = ((1366, 768), (1920, 1080))
LOOKS = tuple((language, scheme) for language in ("zh", "en") for scheme in ("light", "dark"))


class Album:
    """One page for each language, colour scheme and size; a picture is taken of all of them."""

    def __init__(self, browser: Any, folder: Path):
        self._folder = folder
        self._count = 0
        self.pages: list[tuple[str, Watching]] = []
        for language, scheme in LOOKS:
            context = new_context(browser, language, scheme)
            for width, height in SIZES:
                page = context.new_page()
                page.set_viewport_size({"width": width, "height": height})
                self.pages.append((f"{language}-{scheme}-{width}", Watching(page, language)))

    def each(self, act: Callable[[Watching], object]) -> None:
        for _, page in self.pages:
            act(page)

    def take(self, name: str) -> None:
        self._count += 1
        self.each(lambda page: page.page.locator("[aria-busy=true]").first.wait_for(state="hidden"))
        self.pages[0][1].page.wait_for_timeout(SETTLE)
        for look, page in self.pages:
            page.page.screenshot(path=self._folder / f"{self._count:02}-{name}-{look}.png")
        print(name, flush=True)


def of_one_training(album: Album, debugger: stepscope.Debugger, server: ServerThread) -> set[str]:
    album.each(lambda page: page.open(server.url))
    album.each(lambda page: page.page.get_by_role("heading", name=page.text["waiting"]).wait_for())
    album.take("waiting")
    with training(server):
        job = reach(debugger, "paused", set())
        album.each(lambda page: page.state("paused"))
        album.take("graph")
        job.run(2)
        job.wait(COMPILE)
        node = next(iter(job.nodes("Conv2D-op") or job.nodes("MatMul-op")))
        album.each(lambda page: page.open(f"{server.url}/#/job/{job.id}/node/{node}"))
        album.each(lambda page: page.cell("output-0", 5).get_by_role("button").wait_for())
        album.take("node")
        album.each(lambda page: page.page.get_by_role("tab", name=page.text["source"], exact=True).click())
        album.take("source")
        album.each(lambda page: page.page.get_by_role("tab", name=page.text["node"], exact=True).click())
        album.take("attributes")
        album.each(lambda page: page.page.get_by_role("tab", name=page.text["tensors"], exact=True).click())
        album.each(lambda page: page.cell("output-0", 5).get_by_role("button").click())
        album.each(lambda page: page.grid())
        of_a_tensor(album)
        album.each(lambda page: page.page.keyboard.press("Escape"))
        album.each(lambda page: page.page.get_by_label(page.text["search"]).fill("matmul"))
        album.each(lambda page: page.page.get_by_label(page.text["search"]).press("Enter"))
        album.take("search")
        album.each(lambda page: page.page.get_by_label(page.text["search"]).fill(""))
        album.each(lambda page: page.button("help").click())
        album.take("help")
        album.each(lambda page: page.page.keyboard.press("Escape"))
        album.each(lambda page: page.page.evaluate("document.activeElement.blur()"))
        job.run_to(node)
        job.wait(COMPILE)
        job.next_node()
        job.wait(COMPILE)
        album.take("current-node")
        album.each(lambda page: page.button("terminate").click())
        album.take("terminate")
        album.each(lambda page: page.page.keyboard.press("Escape"))
        job.terminate()
        album.each(lambda page: page.banner("terminated"))
        album.take("terminated")
    return {job.id}


def of_a_tensor(album: Album) -> None:
    """The view of a tensor, which is open and stays so: each way to show it, the comparison, a wrong slice."""
    views = [Viewing(page.page, look[:2]) for look, page in album.pages]
    album.take("values")
    for mode in ("heatmap", "histogram"):
        for view in views:
            view.show(mode)
            view.settled()
        album.take(mode)
    for view in views:
        view.show("table")
        view.show("difference")
        view.settled()
    album.take("comparison")
    for view in views:
        view.show("current")
        view.page.mouse.move(0, 0)  # the fields have come to lie under it
        view.view.get_by_test_id("dimension-0").fill("x")
        view.view.get_by_test_id("dimension-0").press("Enter")
    album.take("wrong-slice")
    for view in views:
        view.view.get_by_test_id("dimension-0").press("Escape")  # takes back what was typed


def of_odd_tensors(album: Album, debugger: stepscope.Debugger, server: ServerThread, known: set[str]) -> set[str]:
    """Of a made-up training: types and shapes that a network rarely has, what the guide says, the way to an origin."""
    with FakeAgent(server.debugger_address, FakeSource(network=Zoo())):
        job = reach(debugger, "paused", known)
        for watchpoint in ("tensor_overflow", "tensor_all_zero"):
            job.watch(watchpoint)
        job.run(1)
        job.wait(COMPILE)
        album.each(lambda page: page.button("open_it").click())
        views = [Viewing(page.page, look[:2]) for look, page in album.pages]
        for name in ("scalar", "empty", "words", "logical", "large_whole", "waves", "holes"):
            for view in views:
                view.look_at(server.url, job.id, op_of(name))
            album.take(f"tensor-{name}")
        for view in views:
            view.show("difference")
        album.take("tensor-with-nothing-to-compare")
        job.run(1)
        job.wait(COMPILE)
        album.take("tensor-holes-comparison")
        pages = [LineagePage(page.page, look[:2]) for look, page in album.pages]
        for name, node in (("guide", LOG), ("guide-of-a-gradient", f"{GRADIENTS}/1-Dense/MatMul-op{LAYERS + 2}")):
            for page in pages:
                page.go_to(server.url, job.id, node)
                page.facts()
            album.take(name)
        for page in pages:
            page.go_to(server.url, job.id, f"{NETWORK}/loss/ReduceMean-op0")
            page.button_of(page.lineage, "trace").click()
            page.listed()
        album.take("origin")
        job.terminate()
        album.each(lambda page: page.banner("terminated"))
        album.take("tensor-terminated")
    return {*known, job.id}


def of_watchpoints(album: Album, debugger: stepscope.Debugger, server: ServerThread, known: set[str]) -> set[str]:
    """One page makes and changes the watchpoints; the others show the same."""
    with training(server):
        job = reach(debugger, "paused", known)
        album.each(lambda page: page.open(f"{server.url}/#/job/{job.id}"))
        album.each(lambda page: page.offer.wait_for())
        album.take("recommended")
        job.use_recommended()
        album.each(lambda page: page.watchpoint(1).wait_for())
        album.take("watchpoints")
        album.each(lambda page: page.new("range"))
        album.take("new-watchpoint")
        for parameter, typed in (
            ("range_start_inclusive", "1"),
            ("range_end_inclusive", "-1"),
            ("range_percentage_lt", "1e3"),
            ("max_min_lt", "0"),
        ):
            album.each(lambda page, of=parameter, text=typed: page.field(of).fill(text))
        album.each(lambda page: page.press("ok", page.dialog))
        album.take("mistakes")
        album.each(lambda page: page.page.keyboard.press("Escape"))
        node = next(iter(job.nodes("ReLU-op") or job.nodes("MatMul-op")))
        album.each(lambda page: page.open(f"{server.url}/#/job/{job.id}/node/{node}"))
        album.each(lambda page: page.choose_nodes(2))
        album.take("ticks")
        album.each(lambda page: page.press("done"))
        job.watch("tensor_too_large", name="mine", abs_mean_gt=1e-9)
        job.resume()
        job.wait(COMPILE)
        album.each(lambda page: page.hits.first.wait_for())
        album.take("hits")
        album.each(lambda page: page.hits.nth(1).click())
        album.each(lambda page: page.page.get_by_test_id("tensor-hits").first.wait_for())
        album.take("hit")
        album.each(lambda page: page.page.get_by_test_id("tensor-hits").get_by_role("button").first.click())
        album.each(lambda page: page.grid())
        album.take("tensor-of-a-hit")
        album.each(lambda page: page.page.keyboard.press("Escape"))
        job.watchpoints()[-1].disable()
        album.each(lambda page: page.page.get_by_test_id("outdated").wait_for())
        album.take("outdated")
        album.each(lambda page: page.menu(1, "delete_one"))
        album.take("delete-watchpoint")
        album.each(lambda page: page.page.keyboard.press("Escape"))
        job.terminate()
        album.each(lambda page: page.banner("terminated"))
    return {*known, job.id}


def of_a_lost_one(album: Album, debugger: stepscope.Debugger, server: ServerThread, known: set[str]) -> None:
    with training(server) as kill:
        job = reach(debugger, "paused", known)
        album.take("second-training")
        job.run(3)
        job.wait(COMPILE)
        album.each(lambda page: page.open(f"{server.url}/#/job/{job.id}"))
        album.each(lambda page: page.state("paused"))
        job.resume()
        album.each(lambda page: page.state("running"))
        album.take("running")
        kill()
        album.each(lambda page: page.banner("killed"))
        album.take("lost")
        album.each(lambda page: page.open(f"{server.url}/#/"))
        album.each(lambda page: page.page.get_by_role("heading", name=page.text["waiting"]).wait_for())
        album.take("earlier-trainings")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("build/screenshots"))
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    with stage() as (server, debugger, browser):
        album = Album(browser, folder)
        known = of_one_training(album, debugger, server)
        known = of_odd_tensors(album, debugger, server, known)
        known = of_watchpoints(album, debugger, server, known)
        of_a_lost_one(album, debugger, server, known)
    print(folder)


if __name__ == "__main__":
    main()
