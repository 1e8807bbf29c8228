// Put into the page after page_clock.js: what is measured of the view of a tensor.
(() => {
  const { act } = window.clock;
  const table = () => document.querySelector("[data-tensor-view] [data-testid=table]");

  /** Every cell in sight has its value, and it is of now. */
  const isFilled = () => {
    const box = table();
    const cells = box ? [...box.querySelectorAll("[role=gridcell]")] : [];
    return cells.length > 0 && box.dataset.old === "false" && cells.every(({ textContent }) => textContent !== "…");
  };
  /** The table has been drawn where it is scrolled to. */
  const isThere = (top) => {
    const box = table();
    const row = [...box.querySelectorAll("[role=rowheader]")].find((each) => {
      const at = each.getBoundingClientRect().top - box.getBoundingClientRect().top;
      return at > 40 && at < box.clientHeight;
    });
    return Math.abs(box.scrollTop - top) < 1 && row !== undefined && isFilled();
  };
  const isOf = (name) => document.querySelector("[data-testid=tensor-name]")?.title.startsWith(name);
  const hasFigures = (of) => {
    const row = document.querySelector(`[data-tensor-view] [data-testid=figures-${of}]`);
    return row !== null && row.textContent !== "" && !row.textContent.includes("…");
  };
  const scroll = (by) => {
    const end = table().scrollHeight - table().clientHeight;
    const top = Math.floor((table().scrollTop + by) % end);
    return act(() => { table().scrollTop = top; }, () => isThere(top));
  };

  window.tensorClock = {
    isListed: () => document.querySelector("[data-testid=tensor-output-0] .ss-link") !== null,
    /** The first output of the node whose details are shown, with its button. */
    click: () => act(() => document.querySelector("[data-testid=tensor-output-0] .ss-link").click(), isFilled),
    figures: () => act(() => {}, () => hasFigures("current")),
    /** By its address, until values and figures are there. */
    open: (hash, name) => act(() => { location.hash = hash; }, () => isOf(name) && isFilled() && hasFigures("current")),
    /** A notch of the wheel; far: to where nothing has been read yet. */
    scroll: () => scroll(100),
    jump: () => scroll(22 * 1500),
    compare: () =>
      act(
        () => document.querySelector("[data-tensor-view] input[type=radio][value=difference]").click(),
        () => isFilled() && ["current", "previous", "difference"].every(hasFigures),
      ),
  };
})();
