import { describe, expect, it } from "vitest";
import type { NodeRow } from "../api/client";
import { foundRows, parentOf, type Pages, type Row, type ScopeView, treeRows } from "./rows";
import { missingSteps } from "./usePages";

const TEXTS = { loading: "loading", moreParameters: "more" };
const SIZE = 2;

type Child = ScopeView["children"][number];

function child(path: string, kind: Child["kind"] = "node", badges: Child["badges"] = []): Child {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return { kind, name, path, op: kind === "node" ? "Add" : "", nodes: 3, categories: {}, inputs: 0, outputs: 0, badges };
}

function pages(path: string, children: Child[], have: number[] = [0]): [string, Pages] {
  const page = (offset: number): [number, ScopeView] => [
    offset,
    { path, total: children.length, offset, nodes: 9, graph_inputs: 0, children: children.slice(offset, offset + SIZE), edges: [] },
  ];
  return [path, new Map(have.map(page))];
}

const shown = (rows: readonly Row[]) => rows.map((row) => `${"  ".repeat(row.depth)}${row.label}`);
const tree = (scopes: Map<string, Pages>, open: string[]) => treeRows("g", scopes, new Set(open), TEXTS, SIZE);

describe("the tree", () => {
  const root = pages("", [child("a", "scope"), child("b", "scope")]);
  const weight = { name: "w", kind: "parameter" as const, input: 0, text: "" };
  const constant = { name: "c", kind: "constant" as const, input: 1, text: "1" };

  it("shows what is open, and what is read there", () => {
    const scopes = new Map([root, pages("a", [child("a/x", "node", [weight, constant]), child("a/y", "node", [weight])])]);
    const rows = tree(scopes, ["a"]);
    expect(shown(rows)).toEqual(["a", "  x", "  y", "  w", "b"]);
    expect(rows.map((row) => row.kind)).toEqual(["scope", "op", "op", "parameter", "scope"]);
    expect(new Set(rows.map((row) => row.key)).size).toBe(rows.length);
    expect(parentOf(rows, 3)).toBe(0);
    expect(parentOf(rows, 4)).toBe(-1);
  });

  it("says so where nothing has come yet", () => {
    expect(shown(tree(new Map(), []))).toEqual(["loading"]);
    expect(shown(tree(new Map([root]), ["a"]))).toEqual(["a", "  loading", "b"]);
  });

  it("has a row for each child that is on a page which has not come", () => {
    const many = Array.from({ length: 5 }, (_, number) => child(`a/${number}`, "node", number === 0 ? [weight] : []));
    const rows = tree(new Map([root, pages("a", many, [0, 4])]), ["a"]);
    expect(shown(rows)).toEqual(["a", "  0", "  1", "  loading", "  loading", "  4", "  w", "  more", "b"]);
    expect(rows[3]!.missing).toEqual({ path: "a", offset: 2 });
    expect(rows[4]!.missing).toEqual({ path: "a", offset: 2 });
    const all = tree(new Map([root, pages("a", many, [0, 2, 4])]), ["a"]);
    expect(shown(all)).toEqual(["a", "  0", "  1", "  2", "  3", "  4", "  w", "b"]);
  });

  it("knows on the way to a name which page is missing", () => {
    const many = Array.from({ length: 5 }, (_, number) => child(`a/${number}`, "scope"));
    const scopes = new Map([root, pages("a", many)]);
    expect(missingSteps("a/4/x", scopes)).toEqual([{ path: "a", child: "a/4" }]);
    expect(missingSteps("a/1/x", scopes)).toEqual([]);
    expect(missingSteps("b/9/x", scopes)).toEqual([]); // nothing of b is there yet: it comes by itself
    expect(missingSteps("nothing", scopes)).toEqual([]); // all of the root is there
  });
});

describe("what a filter found", () => {
  const node = (name: string, graph = "g"): NodeRow => ({ graph, name, op: "Add", kind: "op", categories: [] });
  const found = [node("a/b/x"), node("a/y"), node("a/b/z"), node("w"), node("a/x", "h")];

  it("stands in its scopes, which count it", () => {
    const rows = foundRows(found.slice(0, 4), new Set(), false);
    expect(shown(rows)).toEqual(["a", "  b", "    x", "    z", "  y", "w"]);
    expect(rows.map((row) => row.count)).toEqual([3, 2, 0, 0, 0, 0]);
  });

  it("stands in its graphs, where all are looked through", () => {
    const rows = foundRows(found, new Set(), true);
    expect(shown(rows)).toEqual(["g", "  a", "    b", "      x", "      z", "    y", "  w", "h", "  a", "    x"]);
    expect(rows.filter((row) => row.kind === "graph").map((row) => row.count)).toEqual([4, 1]);
    expect(new Set(rows.map((row) => row.key)).size).toBe(rows.length);
  });

  it("can be closed", () => {
    const rows = foundRows(found, new Set(["g\na/b"]), false);
    expect(shown(rows).slice(0, 3)).toEqual(["a", "  b", "  y"]);
    expect(shown(foundRows(found, new Set(["g"]), true)).slice(0, 2)).toEqual(["g", "h"]);
  });
});
