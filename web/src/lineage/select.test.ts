import { describe, expect, it } from "vitest";
import { type Extent, type Fold, type Lineage, MOST_BESIDE, select, type Step } from "./select";

const NOBODY: ReadonlySet<string> = new Set();

/** A lineage from lines as "a:0>b". */
function lineage(centre: string, distances: Record<string, number>, lines: string[]): Lineage {
  return {
    name: centre,
    slot: 0,
    truncated: false,
    nodes: Object.entries(distances).map(([name, distance]) => ({ name, op: name.toUpperCase(), kind: "op", distance, categories: [] })),
    edges: lines.map((line, input) => {
      const [, source = "", slot = "", target = ""] = /^(\w+):(\d)>(\w+)$/.exec(line)!;
      return { source, slot: Number(slot), target, input };
    }),
  };
}

const CHAIN = lineage("c", { a: -2, b: -1, c: 0, d: 1, e: 2 }, ["a:0>b", "b:1>c", "c:0>d", "d:0>e"]);
const hops = (up: number, down: number, more: Partial<Extent> = {}): Extent => ({ up, down, unfolded: NOBODY, first: NOBODY, ...more });
const names = (of: Lineage, extent: Extent, path: Step[] = []) => select(of, extent, path).nodes.map(({ id }) => id);

describe("what is drawn", () => {
  it("is so many hops each way", () => {
    expect(names(CHAIN, hops(1, 1))).toEqual(["b", "c", "d"]);
    expect(names(CHAIN, hops(2, 0))).toEqual(["a", "b", "c"]);
    expect(names(CHAIN, hops(0, 2))).toEqual(["c", "d", "e"]);
  });

  it("says how many nodes one hop more would show", () => {
    expect(select(CHAIN, hops(1, 1), []).more).toEqual({ up: 1, down: 1 });
    expect(select(CHAIN, hops(2, 2), []).more).toEqual({ up: 0, down: 0 });
  });

  it("has lines from slots, one for all inputs that read the same tensor", () => {
    const twice = lineage("c", { b: -1, c: 0 }, ["b:1>c", "b:1>c", "b:0>c"]);
    const { nodes, lines } = select(twice, hops(1, 1), []);
    expect(lines.map(({ source, slot, target, inputs }) => [source, slot, target, inputs])).toEqual([
      ["b", 1, "c", [0, 1]],
      ["b", 0, "c", [2]],
    ]);
    expect(nodes[0]).toMatchObject({ id: "b", slots: [0, 1] });
    expect(nodes[1]).toMatchObject({ id: "c", slots: [0] });
  });

  it("has the lines among what one node reads, too", () => {
    const triangle = lineage("c", { a: -1, b: -1, c: 0 }, ["a:0>b", "a:0>c", "b:0>c"]);
    expect(select(triangle, hops(1, 0), []).lines).toHaveLength(3);
  });
});

describe("very many neighbours", () => {
  const readers = Array.from({ length: 40 }, (_, at) => `r${at}`);
  const hub = lineage(
    "c",
    { c: 0, ...Object.fromEntries(readers.map((name) => [name, 1])) },
    readers.map((name) => `c:0>${name}`),
  );
  const foldOf = (extent: Extent) => select(hub, extent, []).nodes.find((node) => node.kind === "fold") as Fold | undefined;

  it("are folded into one box that counts them", () => {
    expect(foldOf(hops(1, 1))).toMatchObject({ side: "down", count: 40 - (MOST_BESIDE - 1) });
    expect(select(hub, hops(1, 1), []).lines.at(-1)).toMatchObject({ source: "c", slot: 0, target: foldOf(hops(1, 1))!.id });
  });

  it("are all drawn once it is opened", () => {
    const opened = hops(1, 1, { unfolded: new Set([foldOf(hops(1, 1))!.id]) });
    expect(foldOf(opened)).toBeUndefined();
    expect(names(hub, opened)).toHaveLength(41);
  });

  it("are drawn first where they were hit, or are on the path", () => {
    const drawn = names(hub, hops(1, 1, { first: new Set(["r30"]) }), [{ node: "r35", slot: 0, op: "R" }]);
    expect(drawn).toEqual(expect.arrayContaining(["r30", "r35"]));
    expect(drawn).toHaveLength(1 + MOST_BESIDE);
  });

  it("stay folded where very many were hit", () => {
    expect(names(hub, hops(1, 1, { first: new Set(readers) }))).toHaveLength(1 + MOST_BESIDE);
  });

  it("of a node that is read are folded above it", () => {
    const sum = lineage("c", { ...Object.fromEntries(readers.map((name) => [name, -1])), c: 0 }, readers.map((name) => `${name}:0>c`));
    const { nodes, lines } = select(sum, hops(1, 1), []);
    expect(nodes.at(-1)).toMatchObject({ kind: "fold", side: "up", count: 33 });
    expect(lines.at(-1)).toMatchObject({ target: "c", slot: -1 });
  });
});

describe("the path of a trace", () => {
  const step = (node: string): Step => ({ node, slot: 0, op: node.toUpperCase() });

  it("is drawn beyond the hops, and its lines are numbered", () => {
    const { nodes, lines } = select(CHAIN, hops(1, 0), [step("x"), step("a"), { ...step("b"), slot: 1 }, step("c")]);
    expect(nodes.map(({ id }) => id)).toEqual(["x", "a", "b", "c"]);
    expect(lines.filter(({ piece }) => piece >= 0).map(({ source, target, piece }) => [source, target, piece])).toEqual([
      ["a", "b", 1],
      ["b", "c", 2],
      ["x", "a", 0],
    ]);
  });
});
