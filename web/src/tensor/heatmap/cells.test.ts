import { describe, expect, it } from "vitest";
import type { Range } from "../dims";
import { cellAt, cellsWanted, extentOf, positionAt, spanOf, spanText, ticksOf } from "./cells";

const range = (length: number, start = 0, step = 1): Range => ({ kind: "range", start, step, length });

describe("cells and positions", () => {
  it("leaves no position out, and has none twice", () => {
    for (const [cells, size] of [[1, 1], [3, 10], [7, 7], [640, 4096], [2048, 1_000_003]] as const) {
      let next = 0;
      for (let cell = 0; cell < cells; cell++) {
        const { from, to } = spanOf(cell, cells, size);
        expect(from).toBe(next);
        expect(to).toBeGreaterThan(from);
        next = to;
      }
      expect(next).toBe(size);
    }
  });

  it("finds a position of the cell under the pointer", () => {
    const [length, cells, size] = [500, 250, 4096];
    for (let distance = 0; distance < length; distance += 0.5) {
      const { from, to } = spanOf(cellAt(distance, length, cells), cells, size);
      const position = positionAt(distance, length, cells, size);
      expect(position).toBeGreaterThanOrEqual(from);
      expect(position).toBeLessThan(to);
    }
    expect(positionAt(-3, length, cells, size)).toBe(0);
    expect(positionAt(501, length, cells, size)).toBe(size - 1);
  });

  it("says the indices of the whole tensor", () => {
    expect(spanText(range(10), { from: 4, to: 5 })).toBe("4");
    expect(spanText(range(10), { from: 4, to: 8 })).toBe("4…7");
    expect(spanText(range(10, 3, 2), { from: 1, to: 4 })).toBe("5…9 (+2)");
    expect(spanText(range(10, 9, -1), { from: 0, to: 3 })).toBe("9…7 (−1)");
  });
});

describe("ticks", () => {
  it("stand at round positions, far enough apart, in the middle of their position", () => {
    const ticks = ticksOf(range(1000), 500, 40);
    expect(ticks.map(({ label }) => label)).toEqual(["0", "100", "200", "300", "400", "500", "600", "700", "800", "900"]);
    expect(ticks[1]!.at).toBe(50.25);
    expect(ticksOf(range(3), 300, 40).map(({ at }) => at)).toEqual([50, 150, 250]);
  });

  it("have the indices of a slice with a step", () => {
    expect(ticksOf(range(4, 10, -3), 400, 40).map(({ label }) => label)).toEqual(["10", "7", "4", "1"]);
  });

  it("are none where there is nothing", () => {
    expect(ticksOf(range(0), 400, 40)).toEqual([]);
    expect(ticksOf(range(5), 0, 40)).toEqual([]);
  });
});

describe("the picture's size", () => {
  it("fills the pane, and keeps a small matrix small", () => {
    expect(extentOf(4096, 4096, { width: 800.6, height: 300 })).toEqual({ width: 800, height: 300 });
    expect(extentOf(5, 3, { width: 800, height: 300 })).toEqual({ width: 168, height: 280 });
    expect(extentOf(1, 1_000_000, { width: 800, height: 300 })).toEqual({ width: 800, height: 110 });
    expect(extentOf(5, 3, { width: -20, height: 0 })).toEqual({ width: 1, height: 1 });
  });

  it("asks for as many cells as there are device pixels or values, within the server's limits", () => {
    expect(cellsWanted(4096, 4096, { width: 800, height: 300 }, 2)).toEqual([600, 1600]);
    expect(cellsWanted(5, 3, { width: 132, height: 220 }, 1)).toEqual([5, 3]);
    expect(cellsWanted(1e6, 1e6, { width: 3000, height: 2000 }, 2)).toEqual([1024, 2048]);
  });
});
