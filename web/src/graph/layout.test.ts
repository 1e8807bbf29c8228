import { describe, expect, it } from "vitest";
import type { Cache } from "./arrange";
import { layOut } from "./layout";
import { nest, ROOT } from "./nesting";
import { type Box, type Direction, overlaps, type Scene, type View, type ViewNode } from "./scene";

function node(id: string, more: Partial<ViewNode> = {}): ViewNode {
  const parent = id.includes("/") ? id.slice(0, id.lastIndexOf("/")) : "";
  return {
    id, parent, name: id.slice(id.lastIndexOf("/") + 1), kind: "node", op: "Add", role: "forward", nodes: 1, members: 1,
    parameters: 0, categories: [], badges: [], open: false, total: 0, offset: 0, shown: 0, ...more,
  };
}

function view(nodes: ViewNode[], edges: [string, string, number?][]): View {
  const at = (id: string) => nodes.findIndex((one) => one.id === id);
  return {
    graph: "g", total: nodes.length, offset: 0, shown: nodes.length, nodes, refused: [], full: false,
    edges: edges.map(([source, target, tensors = 1]) => ({
      source: at(source), target: at(target), tensors, control: 0, type: { dtype: "float32", shape: [2, 3] },
    })),
  };
}

function make(shown: View, direction: Direction = "TB", cache: Cache = new Map()): Scene {
  const labels = shown.edges.map((edge) => `${edge.tensors} tensors`);
  return layOut({ view: shown, direction, subtitles: shown.nodes.map(() => ""), labels, font: "" }, cache);
}

const byId = (scene: Scene) => Object.fromEntries(scene.boxes.map((box) => [box.node.id, box])) as Record<string, Box>;

const nested = view(
  [
    node("net", { kind: "scope", open: true, total: 3, shown: 3 }),
    node("loss"),
    node("Gradients", { kind: "scope", role: "gradient", open: true, total: 2, shown: 2 }),
    node("net/a"), node("net/b"), node("net/c"),
    node("Gradients/b", { role: "gradient" }), node("Gradients/a", { role: "gradient" }),
  ],
  [
    ["net/a", "net/b"], ["net/b", "net/c"], ["net/c", "loss"], ["loss", "Gradients/b"], ["Gradients/b", "Gradients/a"],
    ["net/b", "Gradients/b"], ["net/a", "Gradients/a"],
  ],
);

function checkNoOverlap(scene: Scene): void {
  for (const a of scene.boxes)
    for (const b of scene.boxes) {
      if (a === b) continue;
      const around = b.node.id.startsWith(`${a.node.id}/`) || a.node.id.startsWith(`${b.node.id}/`);
      expect(overlaps(a, b), `${a.node.id} and ${b.node.id}`).toBe(around);
    }
}

describe("nesting", () => {
  it("takes each edge to the innermost box around both ends", () => {
    const { pairs, depths } = nest(nested);
    expect(pairs.get(ROOT)).toEqual([
      { source: 0, target: 1, edges: [2] },
      { source: 1, target: 2, edges: [3] },
      { source: 0, target: 2, edges: [5, 6] },
    ]);
    expect(pairs.get(0)).toHaveLength(2);
    expect(depths).toEqual([0, 0, 0, 1, 1, 1, 1, 1]);
  });
});

describe("layout", () => {
  it.each<Direction>(["TB", "LR"])("puts children inside, and nothing over anything else (%s)", (direction) => {
    const scene = make(nested, direction);
    checkNoOverlap(scene);
    const boxes = byId(scene);
    for (const box of scene.boxes) {
      const outer = boxes[box.node.parent];
      if (!outer) continue;
      expect(box.x).toBeGreaterThan(outer.x);
      expect(box.y).toBeGreaterThan(outer.y);
      expect(box.x + box.width).toBeLessThan(outer.x + outer.width);
      expect(box.y + box.height).toBeLessThan(outer.y + outer.height);
    }
    expect(scene.lines).toHaveLength(nested.edges.length);
    for (const line of scene.lines) expect(line.path).not.toContain("NaN");
  });

  it("lets the forward flow go down, and the gradients beside it back up", () => {
    const boxes = byId(make(nested));
    expect(boxes["net/a"]!.y).toBeLessThan(boxes["net/b"]!.y);
    expect(boxes["net/c"]!.y).toBeLessThan(boxes["loss"]!.y);
    expect(boxes["Gradients"]!.x).toBeGreaterThan(boxes["net"]!.x + boxes["net"]!.width);
    expect(boxes["Gradients/b"]!.y).toBeGreaterThan(boxes["Gradients/a"]!.y);
  });

  it("lets it go to the right where that is wanted", () => {
    const boxes = byId(make(nested, "LR"));
    expect(boxes["net/a"]!.x).toBeLessThan(boxes["net/b"]!.x);
    expect(boxes["Gradients"]!.y).toBeGreaterThan(boxes["net"]!.y + boxes["net"]!.height);
  });

  it("lays out boxes that are alike once", () => {
    const layers = ["l0", "l1", "l2", "l3"];
    const shown = view(
      layers.flatMap((id) => [node(id, { kind: "scope", open: true, total: 2, shown: 2 }), node(`${id}/a`), node(`${id}/b`)]),
      layers.map((id) => [`${id}/a`, `${id}/b`]),
    );
    const cache: Cache = new Map();
    make(shown, "TB", cache);
    expect(cache.size).toBe(2); // a layer, and the root
    checkNoOverlap(make(shown, "TB", cache));
    expect(cache.size).toBe(2);
  });

  it("does not let labels cover boxes", () => {
    const scene = make(nested);
    const leaves = scene.boxes.filter((box) => !box.node.open);
    const labels = scene.lines.flatMap((line) => (line.label ? [line.label] : []));
    expect(labels.length).toBeGreaterThan(3);
    for (const label of labels) for (const leaf of leaves) expect(overlaps(label, leaf)).toBe(false);
  });

  it.each<Direction>(["TB", "LR"])("folds a long chain (%s)", (direction) => {
    const ids = Array.from({ length: 120 }, (_, index) => `n${index}`);
    const chain = view(ids.map((id) => node(id)), ids.slice(1).map((id, index) => [ids[index]!, id]));
    const scene = make(chain, direction);
    checkNoOverlap(scene);
    expect(scene.lines).toHaveLength(119);
    const [first, second] = [scene.boxes[0]!, scene.boxes[1]!];
    if (direction === "TB") expect(second.y).toBeGreaterThan(first.y + first.height);
    else expect(second.x).toBeGreaterThan(first.x + first.width);
    expect(Math.max(scene.width / scene.height, scene.height / scene.width)).toBeLessThan(4);
  });

  it("puts nodes without lines in rows", () => {
    const scene = make(view(Array.from({ length: 50 }, (_, index) => node(`n${index}`)), []));
    checkNoOverlap(scene);
    expect(scene.width / scene.height).toBeGreaterThan(1);
    expect(scene.width / scene.height).toBeLessThan(3);
  });

  it("lets a folded chain of gradients go up", () => {
    const ids = Array.from({ length: 15 }, (_, index) => `g${index}`);
    const scene = make(
      view(ids.map((id) => node(id, { role: "gradient" })), ids.slice(1).map((id, index) => [ids[index]!, id])),
    );
    checkNoOverlap(scene);
    expect(scene.boxes[1]!.y).toBeLessThan(scene.boxes[0]!.y);
    for (const { x, y, height } of scene.boxes) {
      expect(Math.min(x, y)).toBeGreaterThanOrEqual(0);
      expect(y + height).toBeLessThanOrEqual(scene.height + 1);
    }
  });

  it("lays an empty view out", () => {
    const scene = make(view([], []));
    expect([scene.boxes, scene.lines, scene.width]).toEqual([[], [], 0]);
  });
});
