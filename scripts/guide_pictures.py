"""The pictures of the user guide and of the README, from the demo on the real MindSpore, in both languages:
`make pictures`.

    python scripts/guide_pictures.py [FOLDER]

One picture a panel, light, taken from a window of 1366x768. What the guide tells of the demo's faults is what is done
here: a fault that is not found any more fails the command.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from picturing import COMPILE, SETTLE, Stage, new_context, reach, stage, training  # isort: skip
from lineage_page import LineagePage
from watching import Watching

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
SIZE = {"width": 1366, "height": 768}
LARGEST = 150_000  # bytes
LENET = "Default/network-WithLossCell/_backbone-LeNet"
LOSS = "Default/network-WithLossCell/_loss_fn-NaiveCrossEntropy"
CONV = f"{LENET}/conv1-Conv2d/Conv2D-op0"
LOG = f"{LOSS}/Log-op0"
TOOL, FIT, COLLAPSE = ".ssg-toolbar button", 2, 3

Area = str | Callable[[Watching], Any]  # a part of the page, as a selector or as it is found


class Camera:
    """A page for each language; a picture is taken of both."""

    def __init__(self, set_up: Stage, folder: Path):
        self.server, self.debugger, browser = set_up
        self._folder = folder
        self.known: set[str] = set()  # ids of the trainings that were
        self.pages: list[LineagePage] = []
        self._languages = ("en", "zh")
        for language in self._languages:
            page = new_context(browser, language, "light").new_page()
            page.set_viewport_size(SIZE)
            self.pages.append(LineagePage(page, language))

    def each(self, act: Callable[[LineagePage], object]) -> None:
        for page in self.pages:
            act(page)

    def take(self, name: str, *areas: Area, margin: int = 0) -> None:
        """What all the areas together take up, and pixels around it; the whole page where none is given."""
        self.each(lambda page: page.page.locator("[aria-busy=true]").first.wait_for(state="hidden"))
        self.pages[0].page.wait_for_timeout(SETTLE)
        for language, page in zip(self._languages, self.pages, strict=True):
            found = [page.page.locator(area).first if isinstance(area, str) else area(page) for area in areas]
            clip = around([each.bounding_box() for each in found], margin) if found else {"x": 0, "y": 0, **SIZE}
            path = self._folder / f"{name}-{language}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            save(page.page.screenshot(clip=clip), path)
            if path.stat().st_size > LARGEST:
                raise SystemExit(f"{path} has {path.stat().st_size} bytes, more than {LARGEST}")
        print(name, flush=True)

    def rest(self) -> None:
        """Nothing under the mouse, nothing with the focus, no tooltip."""
        for page in self.pages:
            page.page.mouse.move(SIZE["width"] / 2, 60)
            page.page.evaluate("document.activeElement.blur()")

    def start(self) -> Any:
        """The training that has just begun, on both pages; as in the demo, it has made one step."""
        job = reach(self.debugger, "paused", self.known)
        self.known.add(job.id)
        job.run(1)
        job.wait(COMPILE)
        self.each(lambda page: page.open(f"{self.server.url}/#/job/{job.id}"))
        self.each(lambda page: page.page.reload())  # it says no more that this training has connected
        self.each(lambda page: page.state("paused"))
        return job

    def go(self, job: Any, node: str) -> None:
        """To a node, whose values are there."""
        self.each(lambda page: page.open(f"{self.server.url}/#/job/{job.id}/node/{node}"))
        self.each(lambda page: page.selected(node))
        self.each(lambda page: page.page.locator("[data-testid=tensor-output-0] .ss-col-change span").first.wait_for())


def save(png: bytes, path: Path) -> None:
    """With 256 colours, which hardly anyone can tell from all of them, at a third of the size."""
    from PIL import Image  # MindSpore brings it

    image = Image.open(io.BytesIO(png)).convert("RGB")
    few = image.quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def around(boxes: list[Any], margin: int) -> dict[str, float]:
    """The smallest rectangle that has all of them, within the window."""
    left = max(0, min(box["x"] for box in boxes) - margin)
    top = max(0, min(box["y"] for box in boxes) - margin)
    right = min(SIZE["width"], max(box["x"] + box["width"] for box in boxes) + margin)
    bottom = min(SIZE["height"], max(box["y"] + box["height"] for box in boxes) + margin)
    return {"x": left, "y": top, "width": right - left, "height": bottom - top}


# ---------------------------------------------------------------- panels


def waiting(camera: Camera) -> None:
    camera.each(lambda page: page.open(camera.server.url))
    camera.each(lambda page: page.page.get_by_role("heading", name=page.text["waiting"]).wait_for())
    camera.take("guide/waiting", ".ss-topbar", ".ss-waiting section", margin=20)


def panels(camera: Camera, job: Any) -> None:
    """Of a training that is paused after its second step."""
    camera.go(job, CONV)
    camera.rest()
    camera.take("page")
    camera.take("guide/top-bar", ".ss-header")
    camera.take("guide/control", ".ss-control")
    camera.take("guide/details-tensors", ".ss-details")
    for name, tab in (("node", "node"), ("source", "source")):
        camera.each(lambda page, tab=tab: page.page.get_by_role("tab", name=page.text[tab], exact=True).click())
        camera.rest()
        camera.take(f"guide/details-{name}", ".ss-details")
    camera.each(lambda page: page.page.locator(".ss-tabs [role=tab]").first.click())
    camera.each(lambda page: page.cell("output-0", 5).get_by_role("button").click())
    camera.each(lambda page: page.grid())
    camera.rest()
    camera.take("guide/values", ".ss-tensor")
    camera.each(lambda page: page.page.keyboard.press("Escape"))
    camera.each(lambda page: page.page.locator(".ss-tensor").wait_for(state="detached"))
    camera.each(lambda page: page.box(CONV).click(button="right"))
    camera.take("guide/graph-menu", ".ss-canvas")
    camera.each(lambda page: page.page.keyboard.press("Escape"))
    graph(camera)
    camera.each(lambda page: page.page.get_by_label(page.text["search"], exact=True).fill("conv2"))
    camera.each(lambda page: page.page.get_by_label(page.text["search"], exact=True).press("Enter"))
    camera.rest()
    camera.take("guide/node-list", ".ss-left-tabs")
    camera.each(lambda page: page.page.get_by_label(page.text["search"], exact=True).fill(""))
    camera.each(lambda page: page.button("help").click())
    camera.take("guide/keys", "[role=dialog]")
    camera.each(lambda page: page.page.keyboard.press("Escape"))


def graph(camera: Camera) -> None:
    """With the scopes open that a reader of the script knows, all of it in a window that has no other panel below."""
    camera.each(lambda page: page.page.locator(".ss-details .ss-hide").click())
    camera.each(lambda page: page.page.locator(TOOL).nth(COLLAPSE).click())
    camera.each(lambda page: page.open_scope(*above(f"{LENET}/")))
    camera.each(lambda page: page.box(f"{LENET}/conv1-Conv2d").wait_for())
    camera.each(lambda page: page.page.locator(TOOL).nth(FIT).click())
    camera.rest()
    camera.take("guide/graph", ".ss-canvas")
    camera.each(lambda page: page.page.locator(".ss-handle-bottom").click())


def above(name: str) -> list[str]:
    """The scopes that a node lies in, from the outside."""
    parts = name.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts))]


# ---------------------------------------------------------------- watchpoints


def dialog(camera: Camera) -> None:
    """Filled in, with a mistake, and given up again."""
    camera.each(lambda page: page.new("range", "tensors"))
    camera.each(lambda page: page.field("range_percentage_lt").fill("90"))
    camera.each(lambda page: page.field("range_start_inclusive").fill("-1"))
    camera.each(lambda page: page.press("ok", page.dialog))
    camera.take("guide/watch-dialog", "[role=dialog]")
    camera.each(lambda page: page.press("cancel", page.dialog))
    camera.each(lambda page: page.dialog.wait_for(state="hidden"))


def grow(page: Watching, by: int) -> None:
    """Makes the list of watchpoints higher, in steps of 16 pixels."""
    page.page.locator(".ss-left .ss-splitter-y").focus()
    for _ in range(abs(by) // 16):
        page.page.keyboard.press("ArrowUp" if by > 0 else "ArrowDown")


def ticks(camera: Camera, job: Any) -> None:
    """One on part of the network."""
    made = job.watch("tensor_too_large", scope=f"{LENET}/conv1-Conv2d", abs_mean_gt=100)
    made.untick(nodes=CONV)
    camera.each(lambda page: page.choose_nodes(made.id))
    camera.each(lambda page: page.ticked(CONV, "false"))
    camera.rest()
    camera.take("guide/ticks", ".ss-left-tabs", ".ss-watch")
    made.delete()
    camera.each(lambda page: page.page.get_by_test_id("tickbar").wait_for(state="hidden"))


def of_nan(camera: Camera) -> None:
    """The tour, on the training whose loss becomes NaN."""
    with training(camera.server, "nan") as kill:
        job = camera.start()
        camera.each(lambda page: page.offer.wait_for())
        camera.take("guide/offer", ".ss-watch")
        camera.pages[0].answer("use")
        last = job.watchpoints()[-1].id
        camera.each(lambda page: page.watchpoint(last).wait_for())
        camera.each(lambda page: grow(page, 80))
        camera.rest()
        camera.take("guide/watchpoints", ".ss-watch")
        camera.each(lambda page: grow(page, -80))
        job.run(1)
        job.wait(COMPILE)
        expect(job, "step", 2)
        panels(camera, job)
        dialog(camera)
        ticks(camera, job)

        job.resume()
        job.wait(COMPILE)
        expect(job, "watchpoint", 33, LOG)
        camera.each(lambda page: page.hit_of(LOG).click())
        camera.each(lambda page: page.page.get_by_test_id("tensor-hits").first.wait_for())
        camera.rest()
        camera.take("guide/fault-nan")
        camera.take("guide/hits", ".ss-left-tabs")
        camera.take("guide/details-hit", ".ss-details")
        origin(camera, job)
        camera.each(lambda page: page.page.get_by_text(page.words["kind_error"], exact=True).first.click())
        camera.each(lambda page: page.page.locator("[data-testid=hit-reason]").first.wait_for())
        camera.rest()
        camera.take("guide/not-evaluated", ".ss-left-tabs")
        camera.each(lambda page: page.page.locator(".ss-hits").get_by_text(page.words["kind_all"], exact=True).click())
        job.watchpoints()[-1].disable()
        camera.each(lambda page: page.page.get_by_test_id("outdated").wait_for())
        camera.rest()
        camera.take("guide/outdated", ".ss-left-tabs")

        camera.each(lambda page: page.button("terminate").click())
        camera.take("guide/terminate", "[role=dialog]")
        camera.each(lambda page: page.page.keyboard.press("Escape"))
        kill()
        camera.each(lambda page: page.banner("killed"))
        camera.rest()
        camera.take("guide/lost", ".ss-header", "[data-testid=end-banner]")


def origin(camera: Camera, job: Any) -> None:
    """From the loss back to the logarithm, in the view of the tensor."""
    loss = [hit.node for hit in job.hits() if hit.node.startswith(LOSS)][-1]
    camera.each(lambda page: page.go_to(camera.server.url, job.id, loss))
    camera.each(lambda page: page.button_of(page.lineage, "trace").click())
    for page in camera.pages:
        if page.listed()[0] != LOG:
            raise SystemExit(f"the guide says that the trace leads to {LOG}, and it is {page.listed()}")
    camera.rest()
    camera.take("guide/origin", ".ss-tensor")
    camera.each(lambda page: page.page.keyboard.press("Escape"))
    camera.each(lambda page: page.page.locator(".ss-tensor").wait_for(state="detached"))


def expect(job: Any, reason: str, step: int, first: str | None = None) -> None:
    """What the guide says has come true."""
    found = job.hits()
    seen = (job.reason, job.step, found[0].node if found else None)
    if seen != (reason, step, first):
        raise SystemExit(f"the guide says {(reason, step, first)}, and it is {seen}")


# ---------------------------------------------------------------- the other faults


def of_fault(camera: Camera, bug: str, first: str) -> None:
    """One that shows in the first step, which is checked again with the recommended watchpoints."""
    with training(camera.server, bug):
        job = camera.start()
        camera.pages[0].answer("use")
        camera.pages[0].press("recheck")
        camera.each(lambda page: page.hits.first.wait_for())
        expect(job, "watchpoint", 1, first)
        camera.each(lambda page: page.hit_of(first).click())
        camera.each(lambda page: page.page.get_by_test_id("tensor-hits").first.wait_for())
        camera.rest()
        camera.take(f"guide/fault-{bug}")
        job.terminate()
        camera.each(lambda page: page.banner("terminated"))


def of_the_end(camera: Camera) -> None:
    with training(camera.server, "none", epochs=1):
        job = camera.start()
        camera.pages[0].answer("not_now")
        job.resume()
        job.wait(COMPILE)
        camera.each(lambda page: page.banner("ended"))
        camera.rest()
        camera.take("guide/finished", ".ss-header", "[data-testid=end-banner]")
    camera.each(lambda page: page.open(f"{camera.server.url}/#/"))
    camera.each(lambda page: page.page.get_by_role("heading", name=page.text["waiting"]).wait_for())
    camera.each(lambda page: page.page.reload())
    camera.each(lambda page: page.page.locator(".ss-earlier").wait_for())
    camera.take("guide/earlier", "section[aria-labelledby=earlier-title]", margin=16)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=IMAGES)
    folder = parser.parse_args().folder
    if find_spec("mindspore") is None:
        raise SystemExit("the guide shows the demo on the real MindSpore, which is not installed in this Python")
    with stage() as set_up:
        camera = Camera(set_up, folder)
        waiting(camera)
        of_nan(camera)
        of_fault(camera, "frozen", "conv2.weight")
        of_fault(camera, "exploding", "fc3.bias")
        of_fault(camera, "dead-relu", f"{LENET}/relu-ReLU/ReLU-op2")
        of_the_end(camera)
    print(folder)


if __name__ == "__main__":
    main()
