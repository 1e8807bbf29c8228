/** Groups for which no solver is needed: nodes without lines in rows, a long chain folded into columns. */

import type { Child, Flow, Link } from "./arrange";
import type { Point } from "./scene";
import { labelSize } from "./sizes";

export interface Placed {
  width: number;
  height: number;
  at: Map<number, Point>;
  /** By link, the corners of its way. */
  routes: Map<number, Point[]>;
  entries: Map<number, Point[]>;
  exits: Map<number, Point[]>;
}

const NONE = { entries: new Map<number, Point[]>(), exits: new Map<number, Point[]>() };

const SPACE = 26;
const TURN = 22; // room for a line that goes on in the next column
const COLUMN_GAP = 64;
const LONG = 12; // a chain from which on it is folded

/** Rows of about the same width, in order. */
export function inRows(children: readonly Child[], members: readonly number[], aspect: number): Placed {
  const area = members.reduce((sum, index) => {
    const { width, height } = children[index]!;
    return sum + (width + SPACE) * (height + SPACE);
  }, 0);
  const widest = members.reduce((width, index) => Math.max(width, children[index]!.width), 0);
  const room = Math.max(widest, Math.sqrt(area * aspect));
  const at = new Map<number, Point>();
  let [x, y, rowHeight, width] = [0, 0, 0, 0];
  for (const index of members) {
    const child = children[index]!;
    if (x > 0 && x + child.width > room) [x, y, rowHeight] = [0, y + rowHeight + SPACE, 0];
    at.set(index, { x, y });
    x += child.width + SPACE;
    rowHeight = Math.max(rowHeight, child.height);
    width = Math.max(width, x - SPACE);
  }
  return { width, height: y + rowHeight, at, routes: new Map(), ...NONE };
}

/** The links of a long chain through all members, in order; null where they are anything else. */
export function chainOf(links: readonly Link[], members: readonly number[], inside: readonly number[]): number[] | null {
  if (members.length < LONG || inside.length !== members.length - 1) return null;
  const outOf = new Map<number, number>();
  const targets = new Set<number>();
  for (const index of inside) {
    const { source, target } = links[index]!;
    if (outOf.has(source) || targets.has(target)) return null;
    outOf.set(source, index);
    targets.add(target);
  }
  let at = members.find((index) => !targets.has(index));
  const chain: number[] = [];
  while (at !== undefined && outOf.has(at) && chain.length < inside.length) {
    const index: number = outOf.get(at)!;
    chain.push(index);
    at = links[index]!.target;
  }
  return chain.length === inside.length ? chain : null;
}

/** A chain in columns along the flow, so that the whole is about as wide as high. */
export function inColumns(children: readonly Child[], links: readonly Link[], chain: readonly number[], flow: Flow): Placed {
  const isVertical = flow === "DOWN" || flow === "UP";
  const length = (index: number) => (isVertical ? children[index]!.height : children[index]!.width);
  const breadth = (index: number) => (isVertical ? children[index]!.width : children[index]!.height);
  const gap = isVertical ? 44 : Math.max(44, ...chain.map((index) => labelSize(links[index]!.text).width + 26));
  const order = [links[chain[0]!]!.source, ...chain.map((index) => links[index]!.target)];
  const columns = intoColumns(order, length, breadth, gap, isVertical ? 1.4 : 1 / 1.8);
  const margin = columns.length > 1 ? TURN : 0;
  const broad = columns.map((column) => Math.max(...column.map(breadth)));
  const long = Math.max(...columns.map((column) => column.reduce((sum, index) => sum + length(index) + gap, -gap)));
  const total = { along: long + 2 * margin, across: broad.reduce((sum, one) => sum + one + COLUMN_GAP, -COLUMN_GAP) };
  const toPoint = (along: number, across: number): Point => {
    const flowed = flow === "DOWN" || flow === "RIGHT" ? along : total.along - along;
    return isVertical ? { x: across, y: flowed } : { x: flowed, y: across };
  };

  const at = new Map<number, Point>();
  const spots = new Map<number, { begin: number; end: number; middle: number; column: number; right: number }>();
  let left = 0;
  columns.forEach((column, number) => {
    let along = margin;
    for (const index of column) {
      const middle = left + broad[number]! / 2;
      const corner = toPoint(flow === "DOWN" || flow === "RIGHT" ? along : along + length(index), middle - breadth(index) / 2);
      at.set(index, corner);
      spots.set(index, { begin: along, end: along + length(index), middle, column: number, right: left + broad[number]! });
      along += length(index) + gap;
    }
    left += broad[number]! + COLUMN_GAP;
  });

  const routes = new Map<number, Point[]>();
  chain.forEach((index) => {
    const { source, target } = links[index]!;
    const [from, to] = [spots.get(source)!, spots.get(target)!];
    if (from.column === to.column) {
      routes.set(index, [toPoint(from.end, from.middle), toPoint(to.begin, to.middle)]);
      return;
    }
    const between = from.right + COLUMN_GAP / 2;
    const turns: [number, number][] = [
      [from.end, from.middle],
      [long + margin + TURN / 2, from.middle],
      [long + margin + TURN / 2, between],
      [margin - TURN / 2, between],
      [margin - TURN / 2, to.middle],
      [to.begin, to.middle],
    ];
    routes.set(
      index,
      turns.map(([along, across]) => toPoint(along, across)),
    );
  });
  const [first, last] = [order[0]!, order[order.length - 1]!];
  const [begin, end] = [spots.get(first)!, spots.get(last)!];
  const entries = new Map([[first, [toPoint(0, begin.middle), toPoint(begin.begin, begin.middle)]]]);
  const exits = new Map([[last, [toPoint(end.end, end.middle), toPoint(total.along, end.middle)]]]);
  return isVertical
    ? { width: total.across, height: total.along, at, routes, entries, exits }
    : { width: total.along, height: total.across, at, routes, entries, exits };
}

function intoColumns(
  order: readonly number[],
  length: (index: number) => number,
  breadth: (index: number) => number,
  gap: number,
  aspect: number,
): number[][] {
  const whole = order.reduce((sum, index) => sum + length(index) + gap, 0);
  const broad = order.reduce((sum, index) => sum + breadth(index), 0) / order.length + COLUMN_GAP;
  const longest = Math.max(...order.map(length));
  const room = Math.max(longest, Math.sqrt((whole * broad) / aspect));
  const columns: number[][] = [[]];
  let used = 0;
  for (const index of order) {
    const needed = length(index) + gap;
    if (used > 0 && used + needed - gap > room) {
      columns.push([]);
      used = 0;
    }
    columns[columns.length - 1]!.push(index);
    used += needed;
  }
  return columns;
}
