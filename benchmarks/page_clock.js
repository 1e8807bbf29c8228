// Put into the page before its own scripts: measures in the page, from what a user does to the frame that shows it.
(() => {
  const long = [];
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) long.push({ startTime, duration });
  }).observe({ type: "longtask", buffered: true });

  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));

  /** Looks after each change of the document; then waits for the frame after the next, when this one is on the screen. */
  async function until(isThere) {
    if (!isThere()) {
      await new Promise((resolve, reject) => {
        const watcher = new MutationObserver(() => {
          if (!isThere()) return;
          watcher.disconnect();
          resolve();
        });
        watcher.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
        setTimeout(() => reject(new Error(`not there: ${isThere}`)), 60_000);
      });
    }
    await frame();
    await frame();
    return performance.now();
  }

  /** Milliseconds, and those of the longest task of the main thread since `began`. */
  const since = async (began, ended) => {
    await new Promise((resolve) => setTimeout(resolve, 300)); // what comes after it counts as well
    const tasks = long.filter(({ startTime, duration }) => startTime + duration >= began);
    return { ms: ended - began, longest: Math.max(0, ...tasks.map(({ duration }) => duration)) };
  };

  const name = (selector, id) => document.querySelector(`${selector}="${CSS.escape(id)}"]`);
  const box = (id) => name(".react-flow__node[data-id", id);
  const row = (id) => name("[role=treeitem][data-name", id);
  const isInSight = (element) => {
    const [inner, outer] = [element.getBoundingClientRect(), document.querySelector(".ssg-canvas").getBoundingClientRect()];
    const [x, y] = [inner.x + inner.width / 2, inner.y + inner.height / 2];
    return x > outer.left && x < outer.right && y > outer.top && y < outer.bottom;
  };
  const search = () => document.querySelector("input[aria-keyshortcuts='/']");
  const type = (text) => {
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
    set.call(search(), text);
    search().dispatchEvent(new Event("input", { bubbles: true }));
  };
  const matches = () => document.querySelector("[data-testid=matches]")?.textContent ?? "";

  async function act(does, isThere) {
    await frame();
    const began = performance.now();
    does();
    return since(began, await until(isThere));
  }

  window.clock = {
    firstPicture: async () => since(0, await until(() => document.querySelector(".react-flow__node .ssg-card"))),
    /** A scope in the graph, with its button. */
    open: (id, children) =>
      act(
        () => box(id).querySelector(".ssg-toggle").click(),
        // Cards out of sight are left out; the overview has them all.
        () => box(id)?.querySelector(".ssg-frame") && document.querySelectorAll(".react-flow__minimap-node").length > children,
      ),
    /** What is typed, until the list has all that it finds. */
    filter: (text, count) => {
      const words = `${count.toLocaleString("en-US")} ${count === 1 ? "match" : "matches"}`;
      return act(() => type(text), () => matches().startsWith(words) && document.querySelector("[role=treeitem]"));
    },
    clear: () => act(() => type(""), () => matches() === "" && document.querySelector("[role=treeitem]")),
    /** From the field with one match to the leaf, drawn in the middle, with its details. */
    jump: (id) =>
      act(
        () => search().dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true })),
        () => {
          const card = box(id)?.querySelector(".ssg-card.is-selected");
          const title = document.querySelector("[data-testid=selected-name]")?.textContent;
          return card && isInSight(card) && title === id && document.querySelector("[data-testid^=tensor-]");
        },
      ),
    /** In the list, which brings it into the middle of the graph. */
    choose: (id) =>
      act(
        () => row(id).click(),
        () => box(id)?.querySelector(".is-selected"),
      ),
    expand: (id) =>
      act(
        () => row(id).querySelector(".ss-caret").click(),
        () => document.querySelector(`[role=treeitem][data-name^="${CSS.escape(id)}/"]`),
      ),
    collapse: (id) =>
      act(
        () => row(id).querySelector(".ss-caret").click(),
        () => !document.querySelector(`[role=treeitem][data-name^="${CSS.escape(id)}/"]`),
      ),
    /** To the top of the list. */
    top: () => act(() => document.querySelector("[role=tree]").scrollTo(0, 0), () => row("Default")),
    /** The nodes of a watchpoint are to be chosen: the rows have boxes. */
    choosing: (watchpoint) =>
      act(
        () => document.querySelector(`[data-testid=watch-${watchpoint}] [data-part=main]`).click(),
        () => document.querySelector("[role=treeitem][aria-checked]"),
      ),
    tick: (id, state) => act(() => row(id).querySelector(".ss-tick").click(), () => row(id).ariaChecked === state),
    longTasks: () => long,
    act,
  };
})();
