import { describe, expect, it } from "vitest";
import { layOut } from "./layout";
import { type Arrow, keyOf, next, stopsOf } from "./moves";

const box = (id: string, slots: number) => ({
  id,
  width: 120,
  slots: Array.from({ length: slots }, (_, slot) => ({ slot, width: 46 })),
});
const line = (source: string, target: string) => ({ source, slot: 0, target });

//   a(0 1)  b(0)
//       c(0)
//      end(–)
const stops = stopsOf(
  layOut([box("a", 2), box("b", 1), box("c", 1), box("end", 0)], [line("a", "c"), line("b", "c"), line("c", "end")], "c").boxes,
);

describe("arrow keys in the lineage", () => {
  it("stop at outputs, and at boxes that have none", () => {
    expect(stops.map(({ key }) => key)).toEqual(["0 a", "1 a", "0 b", "0 c", "-1 end"]);
  });

  it.each<[string, Arrow, string | null]>([
    ["0 a", "ArrowRight", "1 a"],
    ["1 a", "ArrowRight", "0 b"],
    ["0 b", "ArrowRight", null],
    ["0 b", "ArrowLeft", "1 a"],
    ["0 a", "ArrowLeft", null],
    ["0 a", "ArrowDown", "0 c"],
    ["0 c", "ArrowDown", "-1 end"],
    ["-1 end", "ArrowDown", null],
    ["-1 end", "ArrowUp", "0 c"],
  ])("from %s, %s leads to %s", (from, arrow, to) => expect(next(stops, from, arrow)?.key ?? null).toBe(to));

  it("lead up to the nearest one", () => expect(["1 a", "0 b"]).toContain(next(stops, keyOf("c", 0), "ArrowUp")?.key));
  it("begin at the first where nothing is focused", () => expect(next(stops, "gone", "ArrowUp")?.key).toBe("0 a"));
});
