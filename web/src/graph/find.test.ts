import { describe, expect, it } from "vitest";
import { boxOf, isWithin, linesAt, placesOf, shiftBetween, step } from "./find";
import type { Box, Line, Scene, ViewNode } from "./scene";

function box(id: string, x: number, y: number, more: Partial<ViewNode> = {}, size: Partial<Box> = {}): Box {
  const parent = id.includes("/") ? id.slice(0, id.lastIndexOf("/")) : "";
  const node: ViewNode = {
    id, parent, name: id.slice(id.lastIndexOf("/") + 1), kind: "node", op: "Add", role: "forward", nodes: 1, members: 1,
    parameters: 0, categories: [], badges: [], open: false, total: 0, offset: 0, shown: 0, ...more,
  };
  return { node, depth: 0, x, y, width: 80, height: 30, ...size };
}

function scene(boxes: Box[], pairs: [string, string][] = []): Scene {
  const at = (id: string) => boxes.findIndex((one) => one.node.id === id);
  const lines = pairs.map(([source, target]): Line => ({
    source: at(source), target: at(target), path: "", label: null, text: "", middle: { x: 0, y: 0 }, control: false,
    isFaint: false, tensors: 1,
  }));
  return { direction: "TB", boxes, lines, x: 0, y: 0, width: 500, height: 500 };
}

const open = scene(
  [
    box("net", 0, 0, { kind: "scope", open: true }, { width: 300, height: 200 }),
    box("loss", 100, 260),
    box("net/a", 20, 40),
    box("net/b", 20, 100),
    box("net/c", 150, 100),
    box("net/layers.0…", 20, 160, { kind: "stack", name: "layers.0…11", parent: "net", op: "" }),
  ],
  [["net/a", "net/b"], ["net/a", "net/c"], ["net/c", "loss"]],
);
const places = placesOf(open);
const idAt = (place: number) => open.boxes[place]?.node.id ?? "";

describe("what stands for a name", () => {
  it.each([
    ["net/b", "net/b"],
    ["net", "net"],
    ["net/b/inside/it", "net/b"],
    ["net/d/e", "net"],
    ["net/layers.7", "net/layers.0…"],
    ["net/layers.7/MatMul", "net/layers.0…"],
    ["net/layers.12/MatMul", "net"],
    ["elsewhere", ""],
  ])("%s is seen as %s", (name, seen) => expect(idAt(boxOf(open, places, name))).toBe(seen));
});

describe("neighbours", () => {
  it("are the lines with one end in a box", () => {
    const { into, out } = linesAt(open, places, places.get("net")!);
    expect([into.length, out.length]).toEqual([0, 1]);
    expect(linesAt(open, places, places.get("net/a")!).out).toHaveLength(2);
  });

  it("knows what lies in what", () => {
    expect(isWithin(open, places, places.get("net/a")!, places.get("net")!)).toBe(true);
    expect(isWithin(open, places, places.get("loss")!, places.get("net")!)).toBe(false);
  });

  it.each([
    ["net/a", "down", "net/b"],
    ["net/b", "up", "net/a"],
    ["net/b", "right", "net/c"],
    ["net/c", "left", "net/b"],
    ["net/c", "down", "loss"],
    ["net/a", "up", "net"],
  ] as const)("from %s %s is %s", (from, side, to) => {
    expect(idAt(step(open, places, places.get(from)!, side))).toBe(to);
  });

  it("goes nowhere where there is nothing", () => {
    expect(step(scene([box("a", 0, 0)]), new Map([["a", 0]]), 0, "down")).toBe(-1);
  });
});

describe("what keeps its place", () => {
  const before = scene([box("a", 10, 10), box("s", 10, 90, { kind: "scope" }), box("z", 10, 170)]);
  const after = scene([box("a", 40, 10), box("s", 15, 95, { kind: "scope", open: true }), box("z", 10, 400)]);
  it("is what was opened", () => expect(shiftBetween(before, after, () => true)).toEqual({ x: 5, y: 5 }));
  it("is what is in sight, where the other is not", () =>
    expect(shiftBetween(before, after, (one) => one.node.id === "z")).toEqual({ x: 0, y: 230 }));
  it("is nothing where nothing is left", () => expect(shiftBetween(before, scene([]), () => true)).toBeNull());
});
