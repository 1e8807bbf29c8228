/** Where the cells of a heat map are: in pixels, in the part shown, and in the whole tensor. */

import { type Range, realIndex } from "../dims";

/** Positions `from` up to, not including, `to`. */
export interface Span {
  from: number;
  to: number;
}

/** The positions that a cell stands for, where `size` positions share `cells` cells. */
export function spanOf(cell: number, cells: number, size: number): Span {
  return { from: Math.floor((cell * size) / cells), to: Math.floor(((cell + 1) * size) / cells) };
}

/** The cell at a distance from the edge. */
export function cellAt(distance: number, length: number, cells: number): number {
  return Math.min(cells - 1, Math.max(0, Math.floor((distance * cells) / length)));
}

/** The position at a distance from the edge: one of those of the cell there. */
export function positionAt(distance: number, length: number, cells: number, size: number): number {
  const cell = cellAt(distance, length, cells);
  const { from, to } = spanOf(cell, cells, size);
  const within = (distance * cells) / length - cell;
  return Math.min(to - 1, Math.max(from, from + Math.floor(within * (to - from))));
}

/** The indices of the tensor that a span stands for: "7", "4…11", with a step "4…16 (+4)". */
export function spanText(range: Range, { from, to }: Span): string {
  if (to - from <= 1) return String(realIndex(range, from));
  const by = range.step === 1 ? "" : ` (${range.step > 0 ? "+" : "−"}${Math.abs(range.step)})`;
  return `${realIndex(range, from)}…${realIndex(range, to - 1)}${by}`;
}

/** Characters of the longest label along a free dimension. */
export function widestLabel(range: Range): number {
  return Math.max(...[0, range.length - 1].map((at) => String(realIndex(range, at)).length));
}

export interface Tick {
  /** Distance of the middle of the position from the edge. */
  at: number;
  label: string;
}

/** Labels along a free dimension, `gap` pixels or more apart, at round positions. */
export function ticksOf(range: Range, pixels: number, gap: number): Tick[] {
  if (range.length === 0 || pixels <= 0) return [];
  const by = roundUp((range.length * gap) / pixels);
  const ticks: Tick[] = [];
  for (let position = 0; position < range.length; position += by) {
    ticks.push({ at: ((position + 0.5) * pixels) / range.length, label: String(realIndex(range, position)) });
  }
  return ticks;
}

/** The next of 1, 2, 5, 10, 20, 50, … */
function roundUp(wanted: number): number {
  let power = 1;
  for (;;) {
    for (const factor of [1, 2, 5]) if (factor * power >= wanted) return factor * power;
    power *= 10;
  }
}

export interface Extent {
  width: number;
  height: number;
}

/** Pixels of a cell at most: a small matrix is drawn small, not stretched over the whole pane. */
const LARGEST_CELL = 56;
/** Of the height of a single row. */
const STRIP = 110;

/** The picture's size in a pane: as large as it gets. */
export function extentOf(rows: number, columns: number, pane: Extent): Extent {
  return {
    width: Math.max(1, Math.min(Math.floor(pane.width), columns * LARGEST_CELL)),
    height: Math.max(1, Math.min(Math.floor(pane.height), rows === 1 ? STRIP : rows * LARGEST_CELL)),
  };
}

/** What the server sends at most. */
const MOST_ROWS = 1024;
const MOST_COLUMNS = 2048;

/** As many cells as there are device pixels for them, or values. */
export function cellsWanted(rows: number, columns: number, extent: Extent, pixelRatio: number): [rows: number, columns: number] {
  const most = (size: number, length: number, limit: number) => Math.max(1, Math.min(size, limit, Math.round(length * pixelRatio)));
  return [most(rows, extent.height, MOST_ROWS), most(columns, extent.width, MOST_COLUMNS)];
}
