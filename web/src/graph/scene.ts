/** The picture as plain data in absolute coordinates: what the layout makes, what React Flow and the SVG export draw. */

import type { components } from "../api/types";

export type View = components["schemas"]["GraphView"];
export type ViewNode = components["schemas"]["ViewNode"];
export type ViewEdge = components["schemas"]["ViewEdge"];
export type Badge = components["schemas"]["Badge"];

/** Where the forward flow goes: down, or to the right. */
export type Direction = "TB" | "LR";

export interface Point {
  x: number;
  y: number;
}

export interface Rect extends Point {
  width: number;
  height: number;
}

/** A node drawn. Boxes come after the one around them. */
export interface Box extends Rect {
  node: ViewNode;
  /** Open boxes around it. */
  depth: number;
}

export interface Label extends Rect {
  text: string;
}

export interface Line {
  /** Indices into the boxes. */
  source: number;
  target: number;
  /** SVG path data. */
  path: string;
  label: Label | null;
  /** What the label says, also where there was no room for it, and where it would be. */
  text: string;
  middle: Point;
  /** Carries an order of execution only. */
  control: boolean;
  /** One of many from box to box: drawn weakly, so that they don't cover the rest. */
  isFaint: boolean;
  tensors: number;
}

export interface Scene extends Rect {
  direction: Direction;
  boxes: Box[];
  lines: Line[];
}

export const EMPTY: Scene = { direction: "TB", boxes: [], lines: [], x: 0, y: 0, width: 0, height: 0 };

export function overlaps(a: Rect, b: Rect): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}
