import { describe, expect, it } from "vitest";
import { alongCurve, alongWay, labelsOf, Room } from "./labels";
import { mark, useMarks } from "./marks";
import { type Box, type Label, type Line, overlaps, type Scene, type ViewNode } from "./scene";
import { labelSize } from "./sizes";

function box(id: string, x: number, y: number, width = 120, height = 44): Box {
  const node: ViewNode = {
    id, parent: "", name: id, kind: "node", op: "Add", role: "forward", nodes: 1, members: 1, parameters: 0, categories: [],
    badges: [], open: false, total: 0, offset: 0, shown: 0,
  };
  return { node, depth: 0, x, y, width, height };
}

function line(source: number, target: number, more: Partial<Line> = {}): Line {
  return { source, target, path: "M0,0 L1,1", label: null, text: "", middle: { x: 0, y: 0 }, control: false, isFaint: false, tensors: 1, ...more };
}

function apart(labels: readonly (Label | null)[]): void {
  const there = labels.filter((label) => label !== null);
  there.forEach((one, index) => {
    for (let other = 0; other < index; other++) expect(overlaps(one, there[other]!), `${one.text} on ${there[other]!.text}`).toBe(false);
  });
}

describe("labels", () => {
  it("of two lines between the same boxes don't touch", () => {
    const boxes = [box("a", 0, 0), box("b", 260, 0)];
    const room = new Room(boxes);
    const labels = [
      room.place("2,450 tensors", alongCurve({ x: 120, y: 15 }, { x: 260, y: 15 })),
      room.place("2,296 tensors", alongCurve({ x: 260, y: 30 }, { x: 120, y: 30 })),
    ];
    expect(labels.every(Boolean)).toBe(true);
    apart(labels);
    for (const label of labels) for (const each of boxes) expect(overlaps(label!, each)).toBe(false);
  });

  it("stand beside their lines, and not on others where that can be", () => {
    const room = new Room([box("a", 0, 0), box("b", 0, 100)]);
    const [left, right] = [[{ x: 50, y: 44 }, { x: 50, y: 100 }], [{ x: 64, y: 44 }, { x: 64, y: 100 }]]; // prettier-ignore
    room.addWay(left!);
    room.addWay(right!);
    const labels = [room.place("float32 2×3", alongWay(left!)), room.place("float32 2×3", alongWay(right!))];
    expect(labels[0]!.x + labels[0]!.width).toBeLessThan(50);
    expect(labels[1]!.x).toBeGreaterThan(64);
  });

  it("are left out where there is no room at all", () => {
    const wall = Array.from({ length: 20 }, (_, row) => box(`w${row}`, -500, row * 40 - 200, 1200, 40));
    expect(new Room(wall).place("13 tensors", alongWay([{ x: 0, y: 0 }, { x: 0, y: 80 }]))).toBeNull(); // prettier-ignore
  });

  it("of lines that stand out don't lie on each other either", () => {
    const own = { text: "first", ...labelSize("first"), x: 0, y: 0 };
    const lines = [
      line(0, 1, { text: "first", label: own }),
      line(0, 1, { text: "on the first", middle: { x: 5, y: 5 } }),
      line(0, 1, { text: "free", middle: { x: 300, y: 5 } }),
      line(0, 1, { text: "on the free one", middle: { x: 310, y: 8 } }),
      line(0, 1, { control: true }),
    ];
    const labels = labelsOf(lines, lines.slice(0, 1));
    expect(labels.map((label) => label?.text ?? null)).toEqual(["first", null, "free", null, null]);
    apart(labels);
  });
});

describe("lines that stand out", () => {
  const boxes = [box("a", 0, 0), ...Array.from({ length: 900 }, (_, index) => box(`b${index}`, 0, 100 * (index + 1)))];
  const lines = boxes.slice(1).map((_, index) => line(0, index + 1, { isFaint: true }));
  const scene: Scene = { direction: "TB", boxes, lines: [...lines, line(1, 2, { isFaint: true })], x: 0, y: 0, width: 1, height: 1 };
  const places = new Map(boxes.map((each, place) => [each.node.id, place]));
  const nothing = { cursor: null, hovered: null, current: null, hits: new Set<string>(), hitBoxes: new Set<number>(), badge: "" };

  it("are all of what is selected, also the faint ones", () => {
    mark(scene, places, { ...nothing, cursor: "a" });
    expect(useMarks.getState().lines).toHaveLength(900);
    expect(useMarks.getState().lines.every(({ kind }) => kind === "out")).toBe(true);
  });

  it("are those of what the pointer is over", () => {
    mark(scene, places, { ...nothing, hovered: "b0" });
    expect(useMarks.getState().lines.map(({ kind }) => kind)).toEqual(["hover", "hover"]);
  });
});
