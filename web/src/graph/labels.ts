/** Places for labels: beside their lines, where they cover no box and no other label, and no other line if that can be. */

import { HEADER, labelSize } from "./sizes";
import { type Box, type Label, type Line, overlaps, type Point, type Rect } from "./scene";

const CELL = 160; // pixels of the grid that what is taken is looked up in
const GAP = 3; // between two labels, at least
const BESIDE = 4; // between a line and its label
const SHORT = 14; // pixels of a line that are too few for a label beside it

type Size = { width: number; height: number };

/** Where the corner of a label of that size could be, the best place first. */
export type Spots = (size: Size) => Iterable<Point>;

export class Room {
  private taken = new Grid();
  private ways = new Grid();

  /** Boxes are taken; of open ones, their headers, while their borders are lines. */
  constructor(boxes: readonly Box[]) {
    for (const { node, x, y, width, height } of boxes) {
      this.taken.add({ x, y, width, height: node.open ? HEADER : height });
      const [right, bottom] = [x + width, y + height];
      if (node.open) this.addWay([{ x, y }, { x, y: bottom }, { x: right, y: bottom }, { x: right, y }]);
    }
  }

  /** A line, straight from corner to corner. */
  addWay(points: readonly Point[]): void {
    points.slice(1).forEach((point, index) => {
      const from = points[index]!;
      this.ways.add({
        x: Math.min(from.x, point.x),
        y: Math.min(from.y, point.y),
        width: Math.abs(from.x - point.x) + 1,
        height: Math.abs(from.y - point.y) + 1,
      });
    });
  }

  /** The first spot that is free becomes taken; null where there is none. */
  place(text: string, spots: Spots): Label | null {
    const size = labelSize(text);
    let found: Label | null = null;
    for (const spot of spots(size)) {
      const label = { text, ...size, ...spot };
      const around = { x: spot.x - GAP, y: spot.y - GAP, width: size.width + 2 * GAP, height: size.height + 2 * GAP };
      if (this.taken.touches(around)) continue;
      found ??= label;
      if (this.ways.touches(label)) continue;
      found = label;
      break;
    }
    if (found) this.taken.add(found);
    return found;
  }
}

/** Beside the last part of a way, which it shares with the fewest others, then beside the longest ones. */
export function alongWay(points: readonly Point[]): Spots {
  const parts = points.slice(1).map((to, index) => ({ from: points[index]!, to, length: length(points[index]!, to) }));
  const last = parts.pop()!;
  parts.sort((a, b) => b.length - a.length);
  return function* (size) {
    for (const { from, to, length } of [last, ...parts.slice(0, 2)]) {
      if (length < SHORT) continue;
      for (const share of [0.5, 0.3, 0.7]) {
        const at = { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
        if (Math.abs(to.y - from.y) > Math.abs(to.x - from.x)) {
          yield { x: at.x + BESIDE, y: at.y - size.height / 2 };
          yield { x: at.x - BESIDE - size.width, y: at.y - size.height / 2 };
        } else if (size.width < length) {
          yield { x: at.x - size.width / 2, y: at.y - size.height - 1 };
          yield { x: at.x - size.width / 2, y: at.y + 2 };
        }
      }
    }
  };
}

/** On a curve that leaves and arrives across the flow; above or below it where another line runs beside it. */
export function alongCurve(from: Point, to: Point): Spots {
  return function* (size) {
    for (const shift of [0, -1, 1])
      for (const share of [0.5, 0.35, 0.65, 0.8, 0.2]) {
        const bend = share * share * (3 - 2 * share);
        yield {
          x: from.x + (to.x - from.x) * share - size.width / 2,
          y: from.y + (to.y - from.y) * bend - size.height / 2 + shift * (size.height / 2 + GAP),
        };
      }
  };
}

/** The labels of lines that stand out: their own, and for those that have none one in the middle, where no other is. */
export function labelsOf(lines: readonly Line[], all: readonly Line[]): (Label | null)[] {
  const taken = all.flatMap(({ label }) => (label ? [label] : []));
  return lines.map(({ label, text, middle }) => {
    if (label || !text) return label;
    const size = labelSize(text);
    const made = { text, ...size, x: middle.x - size.width / 2, y: middle.y - size.height / 2 };
    if (taken.some((other) => overlaps(made, other))) return null;
    taken.push(made);
    return made;
  });
}

function length(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** Rectangles by where they are. */
class Grid {
  private cells = new Map<string, Rect[]>();

  add(rect: Rect): void {
    for (const key of cellsOf(rect)) {
      const known = this.cells.get(key);
      if (known) known.push(rect);
      else this.cells.set(key, [rect]);
    }
  }

  touches(rect: Rect): boolean {
    return cellsOf(rect).some((key) => this.cells.get(key)?.some((other) => overlaps(rect, other)));
  }
}

function cellsOf({ x, y, width, height }: Rect): string[] {
  const keys: string[] = [];
  for (let column = Math.floor(x / CELL); column <= Math.floor((x + width) / CELL); column++)
    for (let row = Math.floor(y / CELL); row <= Math.floor((y + height) / CELL); row++) keys.push(`${column} ${row}`);
  return keys;
}
