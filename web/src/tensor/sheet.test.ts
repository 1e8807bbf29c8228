import { describe, expect, it } from "vitest";
import { type Part, partOf } from "./dims";
import { around, blockOf, blocksOf, cellAt, columnLabel, positionOf, rowLabel, sheetOf } from "./sheet";

const sheet = (fields: string[], shape: number[]) => sheetOf(partOf(fields, shape) as Part);

describe("sheets", () => {
  it.each<[string[], number[], number, number]>([
    [[":", ":"], [4096, 100], 4096, 100],
    [["0", "::2", "1:4"], [3, 9, 8], 5, 3],
    [[], [], 1, 1],
    [["1", "2"], [3, 4], 1, 1],
    [[":"], [7], 1, 7],
    [[":"], [84], 9, 10],
    [[":"], [84_000], 840, 100],
    [[":"], [1_000_003], 1001, 1000],
    [["2", ":"], [4, 1000], 100, 10], // a row is wrapped, too
    [[":"], [0], 0, 0],
  ])("of %o in %o", (fields, shape, rows, columns) => {
    const { rows: down, columns: across } = sheet(fields, shape);
    expect([down, across]).toEqual([rows, columns]);
  });

  it("name rows and columns by their real indices", () => {
    const two = sheet(["5:1:-2", "3:"], [9, 9]);
    expect([rowLabel(two, 0), rowLabel(two, 1), columnLabel(two, 0), columnLabel(two, 2)]).toEqual(["5", "3", "3", "5"]);
    const one = sheet(["::2"], [4000]);
    expect([rowLabel(one, 1), columnLabel(one, 0), columnLabel(one, 3)]).toEqual(["200", "+0", "+6"]);
    expect(columnLabel(sheet(["::-1"], [50]), 3)).toBe("−3");
    expect([rowLabel(sheet([], []), 0), columnLabel(sheet([], []), 0)]).toEqual(["", ""]);
  });

  it("find cells by positions and back", () => {
    const one = sheet([":"], [84]);
    expect(positionOf(one, 3, 4)).toEqual([34]);
    expect(cellAt(one, [34])).toEqual({ row: 3, column: 4 });
    const two = sheet(["0", ":", ":"], [2, 8, 8]);
    expect(positionOf(two, 3, 4)).toEqual([3, 4]);
    expect(cellAt(two, [3, 4])).toEqual({ row: 3, column: 4 });
    expect(positionOf(sheet([], []), 0, 0)).toEqual([]);
    expect(cellAt(sheet([], []), [])).toEqual({ row: 0, column: 0 });
  });
});

describe("blocks", () => {
  it("cover a window, and only that", () => {
    const large = sheet([":", ":"], [4096, 4096]);
    expect(blocksOf(large, { top: 0, bottom: 30, left: 0, right: 12 })).toEqual([{ key: "0,0", index: "0:64, 0:32" }]);
    expect(blocksOf(large, { top: 60, bottom: 70, left: 30, right: 40 }).map(({ key }) => key)).toEqual(["0,0", "0,1", "1,0", "1,1"]);
    expect(blocksOf(large, { top: 4090, bottom: 9999, left: -5, right: 3 })).toEqual([{ key: "63,0", index: "4032:4096, 0:32" }]);
    expect(blocksOf(sheet([":", ":"], [0, 3]), { top: 0, bottom: 5, left: 0, right: 5 })).toEqual([]);
  });

  it("follow the steps of the ranges, to the borders of the part", () => {
    const steps = sheet(["1", "::-1", "::3"], [2, 100, 100]);
    expect(blocksOf(steps, { top: 0, bottom: 99, left: 0, right: 99 })).toEqual([
      { key: "0,0", index: "1, 99:35:-1, 0:96:3" },
      { key: "0,1", index: "1, 99:35:-1, 96:102:3" },
      { key: "1,0", index: "1, 35::-1, 0:96:3" },
      { key: "1,1", index: "1, 35::-1, 96:102:3" },
    ]);
  });

  it("are runs of a wrapped dimension", () => {
    const long = sheet([":"], [1_000_003]);
    expect(blocksOf(long, { top: 0, bottom: 29, left: 3, right: 9 })).toEqual([
      { key: "0", index: "0:16384" },
      { key: "1", index: "16384:32768" },
    ]);
    expect(blocksOf(long, { top: 1000, bottom: 1000, left: 0, right: 9 })).toEqual([{ key: "61", index: "999424:1000003" }]);
    expect(blocksOf(sheet([], []), { top: 0, bottom: 9, left: 0, right: 9 })).toEqual([{ key: "0,0", index: "" }]);
  });

  it("have each cell at one place", () => {
    for (const [fields, shape] of [[[":", "::2"], [70, 75]], [[":"], [1234]], [[":", ":"], [3, 2]], [["0"], [3]]] as [string[], number[]][]) {
      const made = sheet(fields, shape);
      const sizes = new Map<string, Set<number>>();
      for (let row = 0; row < made.rows; row++) {
        for (let column = 0; column < made.columns; column++) {
          const found = blockOf(made, row, column);
          if (!found) continue;
          const places = sizes.get(found.key) ?? new Set();
          expect(places.has(found.place)).toBe(false);
          sizes.set(found.key, places.add(found.place));
        }
      }
      let count = 0;
      for (const places of sizes.values()) {
        expect(Math.max(...places)).toBe(places.size - 1); // without gaps, as the bytes come
        count += places.size;
      }
      expect(count).toBe(made.count);
      const keys = blocksOf(made, { top: 0, bottom: made.rows, left: 0, right: made.columns }).map(({ key }) => key);
      expect(new Set(keys)).toEqual(new Set(sizes.keys()));
    }
  });

  it("do not exist behind the end of a wrapped dimension", () => {
    const one = sheet([":"], [84]);
    expect(blockOf(one, 8, 3)).toEqual({ key: "0", place: 83 });
    expect(blockOf(one, 8, 4)).toBeNull();
  });

  it("are asked for a screen around the window", () => {
    expect(around({ top: 0, bottom: 30, left: 5, right: 10 })).toEqual({ top: -64, bottom: 94, left: -27, right: 42 });
  });
});
