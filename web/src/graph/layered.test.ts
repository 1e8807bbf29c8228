import { describe, expect, it } from "vitest";
import { inLayers, type Layered } from "./layered";
import { assignLayers, inOrder, type Part, type Tie } from "./layers";
import { overlaps, type Point, type Rect } from "./scene";

/** The same numbers each time. */
function random(seed: number): (below: number) => number {
  let state = seed * 2654435761 + 1;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state % below;
  };
}

const part = (breadth = 120, length = 44): Part => ({ breadth, length });

function made(seed: number, count: number, backs: boolean): { parts: Part[]; ties: Tie[] } {
  const next = random(seed);
  const parts = Array.from({ length: count }, () => part(96 + next(200), 30 + next(80)));
  const ties: Tie[] = [];
  for (let target = 1; target < count; target++)
    for (let tie = next(3); tie >= 0; tie--) ties.push({ source: Math.max(0, target - 1 - next(next(4) === 0 ? 12 : 4)), target });
  if (backs) for (let tie = 0; tie < count / 8; tie++) ties.push({ source: next(count), target: next(count) });
  const seen = new Set<string>();
  return { parts, ties: ties.filter(({ source, target }) => !seen.has(`${source} ${target}`) && seen.add(`${source} ${target}`)) };
}

const boxes = (parts: readonly Part[], { at }: Layered): Rect[] =>
  parts.map(({ breadth, length }, index) => ({ ...at[index]!, width: breadth, height: length }));

function touches(box: Rect, { x, y }: Point): boolean {
  return x > box.x && x < box.x + box.width && (Math.abs(y - box.y) < 0.01 || Math.abs(y - box.y - box.height) < 0.01);
}

/** A piece of a way, a little thinner than it is, so that it may run along a border. */
function thin(a: Point, b: Point): Rect {
  return {
    x: Math.min(a.x, b.x) + 0.5,
    y: Math.min(a.y, b.y) + 0.5,
    width: Math.abs(a.x - b.x) - 1,
    height: Math.abs(a.y - b.y) - 1,
  };
}

function check(parts: readonly Part[], ties: readonly Tie[], laid: Layered): void {
  const placed = boxes(parts, laid);
  placed.forEach((box, index) => {
    expect(Math.min(box.x, box.y)).toBeGreaterThanOrEqual(0);
    expect(box.x + box.width).toBeLessThanOrEqual(laid.width + 0.01);
    expect(box.y + box.height).toBeLessThanOrEqual(laid.height + 0.01);
    for (let other = 0; other < index; other++) expect(overlaps(box, placed[other]!), `${index} on ${other}`).toBe(false);
  });
  ties.forEach(({ source, target }, index) => {
    const way = laid.ways[index]!;
    expect(touches(placed[source]!, way[0]!), `tie ${source} ${target} leaves`).toBe(true);
    expect(touches(placed[target]!, way.at(-1)!), `tie ${source} ${target} arrives`).toBe(true);
    way.slice(1).forEach((to, corner) => {
      const from = way[corner]!;
      expect(from.x === to.x || from.y === to.y, "straight").toBe(true);
      const piece = thin(from, to);
      const over = placed.findIndex((box) => overlaps({ ...piece, width: Math.max(piece.width, 0.01), height: Math.max(piece.height, 0.01) }, box));
      expect(over, `tie ${source} ${target} over`).toBe(-1);
      expect(Math.min(from.x, from.y)).toBeGreaterThanOrEqual(0);
    });
  });
}

describe("layers", () => {
  it("are as early as can be, sources beside their readers", () => {
    const ties = [
      { source: 0, target: 2 },
      { source: 2, target: 3 },
      { source: 1, target: 3 },
      { source: 3, target: 0 }, // back
    ];
    expect(assignLayers([part(), part(), part(), part()], ties)).toEqual([0, 1, 1, 2]);
  });

  it("have gates at the ends", () => {
    const gates: Part[] = [{ ...part(), gate: "in" }, part(), part(), { ...part(), gate: "out" }];
    const ties = [
      { source: 0, target: 2 },
      { source: 1, target: 3 },
    ];
    expect(assignLayers(gates, ties)).toEqual([0, 1, 1, 2]);
  });
});

describe("the order", () => {
  it("puts each part after what it reads, whatever ran first", () => {
    expect(inOrder(3, [{ source: 2, target: 0 }, { source: 1, target: 2 }])).toEqual([1, 2, 0]); // prettier-ignore
    expect(inOrder(3, [])).toEqual([0, 1, 2]);
  });
  it("begins circles with what runs first", () => {
    const circle = [{ source: 0, target: 1 }, { source: 1, target: 2 }, { source: 2, target: 0 }]; // prettier-ignore
    expect(inOrder(3, circle)).toEqual([0, 1, 2]);
  });
});

describe("a group in layers", () => {
  it.each(Array.from({ length: 24 }, (_, seed) => seed))("covers nothing, and its lines run round all parts (%i)", (seed) => {
    const { parts, ties } = made(seed, 4 + seed * 3, seed % 2 === 1);
    const proper = ties.filter(({ source, target }) => source !== target);
    check(parts, proper, inLayers(parts, proper, 44, seed % 3 === 0 ? 0.5 : 1.4));
  });

  it("runs down", () => {
    const { parts, ties } = made(3, 12, false);
    const { at } = inLayers(parts, ties, 44, 0.01); // not cut into columns
    for (const { source, target } of ties) expect(at[source]!.y + parts[source]!.length).toBeLessThan(at[target]!.y);
  });

  it("cuts a strip into columns", () => {
    const parts = Array.from({ length: 80 }, () => part());
    const ties = parts.slice(1).flatMap((_, index) => [
      { source: index, target: index + 1 },
      ...(index % 9 === 0 && index + 4 < 80 ? [{ source: index, target: index + 4 }] : []),
    ]);
    const laid = inLayers(parts, ties, 44, 1.4);
    check(parts, ties, laid);
    expect(laid.width / laid.height).toBeGreaterThan(0.7);
    expect(laid.width / laid.height).toBeLessThan(2.8);
  });

  it("lets what goes back run round", () => {
    const parts = Array.from({ length: 5 }, () => part());
    const ties = [...parts.slice(1).map((_, index) => ({ source: index, target: index + 1 })), { source: 4, target: 1 }];
    const laid = inLayers(parts, ties, 44, 1.4);
    check(parts, ties, laid);
    const back = laid.ways[4]!;
    expect(back[0]!.y).toBe(laid.at[4]!.y + 44); // out below
    expect(back.at(-1)!.y).toBe(laid.at[1]!.y); // and in from above
    expect(Math.max(...back.map(({ x }) => x))).toBeGreaterThan(laid.at[4]!.x + 120);
  });

  it("lets lines of one part run along each other", () => {
    const parts = Array.from({ length: 40 }, () => part());
    const chain = parts.slice(1).map((_, index) => ({ source: index, target: index + 1 }));
    const hub = parts.slice(2).map((_, index) => ({ source: 0, target: index + 2 }));
    const laid = inLayers(parts, [...chain, ...hub], 44, 0.01);
    check(parts, [...chain, ...hub], laid);
    expect(laid.width).toBeLessThan(400); // 38 lanes of their own would need more
  });

  it("puts what no line holds together beside each other", () => {
    const parts = Array.from({ length: 50 }, () => part());
    const laid = inLayers(parts, [], 44, 1.4);
    check(parts, [], laid);
    expect(laid.width / laid.height).toBeGreaterThan(0.9);
    expect(laid.width / laid.height).toBeLessThan(2.2);
  });

  it("leaves out a line from a part to itself", () => {
    expect(inLayers([part(), part()], [{ source: 0, target: 0 }, { source: 0, target: 1 }], 44, 1).ways[0]).toBeNull();
  });

  it("is there at once also for hundreds of parts", () => {
    const { parts, ties } = made(7, 600, true);
    const proper = ties.filter(({ source, target }) => source !== target);
    const laid = inLayers(parts, proper, 44, 1.4);
    expect(laid.at).toHaveLength(600);
    expect(laid.ways.every((way) => way && way.length > 1)).toBe(true);
  });
});
