import { expect, test } from "vitest";
import { rowAt, rowCount, rowOfHit } from "./groups";

const GROUPS = [{ graph: "a", total: 2 }, { graph: "b", total: 1 }, { graph: "c", total: 3 }];

test("the hits of each graph stand below its name", () => {
  const rows = Array.from({ length: rowCount(GROUPS) }, (_, row) => rowAt(GROUPS, row));
  expect(rows.map((row) => (row.kind === "graph" ? row.group.graph : row.at))).toEqual(["a", 0, 1, "b", 2, "c", 3, 4, 5]);
});

test("one graph needs no name", () => {
  expect(rowCount([{ graph: "a", total: 4 }])).toBe(4);
  expect(rowAt([{ graph: "a", total: 4 }], 3)).toEqual({ kind: "hit", at: 3 });
  expect(rowCount([])).toBe(0);
});

test("a hit is found in its row", () => {
  for (let at = 0; at < 6; at++) expect(rowAt(GROUPS, rowOfHit(GROUPS, at))).toEqual({ kind: "hit", at });
  expect(rowOfHit([{ graph: "a", total: 4 }], 2)).toBe(2);
});
