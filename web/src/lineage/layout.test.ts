import { describe, expect, it } from "vitest";
import { overlaps } from "../graph/scene";
import { type Layout, layOut, type Line, NODE_HEIGHT, type Sized } from "./layout";

const box = (id: string, slots = 1, width = 100): Sized => ({
  id,
  width: Math.max(width, slots * 50),
  slots: Array.from({ length: slots }, (_, slot) => ({ slot, width: 46 })),
});
const line = (text: string): Line => {
  const [, source = "", slot = "", target = ""] = /^(\w+):(\d)>(\w+)$/.exec(text)!;
  return { source, slot: Number(slot), target };
};
const laid = (boxes: Sized[], lines: string[], centre: string): Layout => layOut(boxes, lines.map(line), centre);
const at = (layout: Layout, id: string) => layout.boxes.find((each) => each.id === id)!;
const ends = (way: string) => way.match(/-?[\d.]+/g)!.map(Number);

describe("the drawing of a lineage", () => {
  it("has producers above and consumers below", () => {
    const layout = laid(["p", "q", "c", "r"].map((id) => box(id)), ["p:0>c", "q:0>c", "c:0>r"], "c");
    expect(["p", "q", "c", "r"].map((id) => at(layout, id).row)).toEqual([0, 0, 1, 2]);
    expect(at(layout, "p").y).toBeLessThan(at(layout, "c").y);
  });

  it("puts what another producer reads above that one", () => {
    const layout = laid(["a", "b", "c"].map((id) => box(id)), ["a:0>b", "a:0>c", "b:0>c"], "c");
    expect(["a", "b", "c"].map((id) => at(layout, id).row)).toEqual([0, 1, 2]);
  });

  it("puts a producer that only the last one reads near it, not at the top", () => {
    const layout = laid(["a", "b", "w", "c"].map((id) => box(id)), ["a:0>b", "b:0>c", "w:0>c"], "c");
    expect(at(layout, "w").row).toBe(at(layout, "b").row);
  });

  it("lets lines leave from the middle of their slot and arrive at the top of the box", () => {
    const layout = laid([box("p", 3), box("c"), box("d")], ["p:0>c", "p:2>d"], "p");
    const slot = at(layout, "p").slots[2]!;
    const [x1, y1] = ends(layout.ways[1]!);
    expect([x1, y1]).toEqual([expect.closeTo(slot.x + slot.width / 2, -1), slot.y + slot.height]);
    expect(ends(layout.ways[1]!).at(-1)).toBe(at(layout, "d").y);
    expect(slot.y).toBe(at(layout, "p").y + NODE_HEIGHT);
  });

  it("keeps boxes apart, and lines that pass a row off its boxes", () => {
    const boxes = ["a", "b1", "b2", "b3", "c"].map((id) => box(id, 1, 120));
    const layout = laid(boxes, ["a:0>b1", "a:0>b2", "a:0>b3", "a:0>c", "b1:0>c", "b2:0>c", "b3:0>c"], "c");
    for (const one of layout.boxes) for (const other of layout.boxes) if (one !== other) expect(overlaps(one, other)).toBe(false);
    const passing = Number(/ V(?:[\d.]+)/.test(layout.ways[3]!) && /C[\d.]+ [\d.]+ [\d.]+ [\d.]+ ([\d.]+)/.exec(layout.ways[3]!)![1]);
    for (const id of ["b1", "b2", "b3"]) {
      const { x, width } = at(layout, id);
      expect(passing < x || passing > x + width).toBe(true);
    }
  });

  it("stands lines in a circle: a weight that its optimizer writes", () => {
    const layout = laid(["w", "m", "g", "o"].map((id) => box(id)), ["w:0>m", "m:0>g", "g:0>w"], "m");
    expect(layout.boxes).toHaveLength(4);
    for (const way of layout.ways) expect(way).not.toMatch(/NaN|undefined/);
  });

  it("is as large as what is in it", () => {
    const layout = laid([box("a"), box("b", 1, 180), box("c")], ["a:0>b", "c:0>b"], "b");
    for (const { x, y, width, height } of layout.boxes) {
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x + width).toBeLessThanOrEqual(layout.width + 1);
      expect(y + height).toBeLessThanOrEqual(layout.height);
    }
  });

  it("draws a single box", () => expect(laid([box("a")], [], "a")).toMatchObject({ ways: [], width: 100 }));

  it("draws a chain of 200", () => {
    const names = Array.from({ length: 200 }, (_, place) => `n${place}`);
    const layout = laid(names.map((id) => box(id)), names.slice(1).map((id, place) => `n${place}:0>${id}`), "n199");
    expect(layout.boxes.map(({ row }) => row)).toEqual(names.map((_, place) => place));
  });
});
