import { expect, test } from "vitest";
import type { Row, RowKind } from "../tree/rows";
import { combined, foundScopes, keyOf, type Mark, tickedInFound, tickedInTree } from "./ticks";

function row(kind: RowKind, name: string, depth: number, graph = "g"): Row {
  return { key: name, kind, label: name, name, graph, depth, isOpen: kind === "scope", count: 1, op: "" };
}

const ROWS = [
  row("scope", "a", 0),
  row("scope", "a/b", 1),
  row("op", "a/b/x", 2),
  row("parameter", "w", 2),
  row("note", "", 2),
  row("op", "a/y", 1),
  row("scope", "ab", 0),
];
const scope = (path: string) => keyOf("g", path, true);
const node = (path: string) => keyOf("g", path, false);

function untouched(): Map<string, Mark> {
  return new Map<string, Mark>([
    [scope("a"), 0], [scope("a/b"), 0], [node("a/b/x"), 0], [node("w"), 0], [node("a/y"), 0], [scope("ab"), 0],
    [node("ab/z"), 0],
  ]); // prettier-ignore
}

test("a scope takes with it all below, and nothing of a neighbour with a longer name", () => {
  const marks = tickedInTree(untouched(), ROWS, 0, true);
  for (const key of [scope("a"), scope("a/b"), node("a/b/x"), node("w"), node("a/y")]) expect(marks.get(key)).toBe(1);
  expect(marks.get(scope("ab"))).toBe(0);
  expect(marks.get(node("ab/z"))).toBe(0);
});

test("what is in a closed scope is ticked as well, where it is known", () => {
  const closed = [row("scope", "a", 0), row("scope", "ab", 0)];
  expect(tickedInTree(untouched(), closed, 0, true).get(node("a/b/x"))).toBe(1);
});

test("the scopes above are half ticked, and ticked with the last one in them", () => {
  const one = tickedInTree(untouched(), ROWS, 2, true);
  expect(one.get(scope("a/b"))).toBe(2);
  expect(one.get(scope("a"))).toBe(2);
  const two = tickedInTree(one, ROWS, 3, true);
  expect(two.get(scope("a/b"))).toBe(1);
  expect(two.get(scope("a"))).toBe(2);
  const all = tickedInTree(two, ROWS, 5, true);
  expect(all.get(scope("a"))).toBe(1);
  expect(tickedInTree(all, ROWS, 1, false).get(scope("a"))).toBe(2);
  expect(tickedInTree(all, ROWS, 0, false).get(node("w"))).toBe(0);
});

test("what has nothing to watch is never ticked", () => {
  const marks = untouched().set(node("a/b/x"), -1);
  const next = tickedInTree(marks, ROWS, 0, true);
  expect(next.get(node("a/b/x"))).toBe(-1);
  expect(tickedInTree(marks, ROWS, 3, true).get(scope("a/b"))).toBe(1);
});

test("children together", () => {
  expect(combined([1, 1, -1])).toBe(1);
  expect(combined([0, -1])).toBe(0);
  expect(combined([-1, -1])).toBe(-1);
  expect(combined([0, 1])).toBe(2);
  expect(combined([1, undefined])).toBe(2);
  expect(combined([undefined])).toBeUndefined();
});

test("in what a filter found, a scope stands for what was found in it", () => {
  const nodes = ["a/b/x", "a/c/x", "ab/x", "w"].map((name) => ({ graph: "g", name }));
  const before = new Map<string, Mark>(nodes.map(({ name }) => [node(name), 0]));
  const next = tickedInFound(before, nodes, row("scope", "a", 0), true);
  expect([...next.values()]).toEqual([1, 1, 0, 0]);
  const scopes = foundScopes(next, nodes);
  expect(scopes.get(scope("a"))).toBe(1);
  expect(scopes.get(scope("ab"))).toBe(0);
  expect(scopes.get(scope(""))).toBe(2);
  expect([...tickedInFound(next, nodes, null, true).values()]).toEqual([1, 1, 1, 1]);
  expect([...tickedInFound(next, nodes, row("graph", "", 0, "other"), false).values()]).toEqual([1, 1, 0, 0]);
});

test("a tick among 20,000 nodes takes no time that anybody notices", () => {
  const rows = [row("scope", "a", 0)];
  const marks = new Map<string, Mark>([[scope("a"), 0]]);
  for (let number = 0; number < 20_000; number++) {
    rows.push(row("op", `a/op${number}`, 1));
    marks.set(node(`a/op${number}`), 0);
  }
  expect(tickedInTree(marks, rows, 0, true).get(node("a/op19999"))).toBe(1);
  expect(tickedInTree(marks, rows, 20_000, true).get(scope("a"))).toBe(2);
});
