/**
 * A part of a tensor laid out in rows and columns, and the blocks in which its values are asked for. Pure.
 *
 * Two free dimensions are rows and columns. One is wrapped into rows, as text is; none is one cell.
 */

import { type Part, pieceText, type Range, realIndex } from "./dims";

export interface Sheet {
  part: Part;
  rows: number;
  columns: number;
  /** Cells; fewer than rows × columns where the last wrapped row is not full. */
  count: number;
  isWrapped: boolean;
}

const BLOCK_ROWS = 64;
const BLOCK_COLUMNS = 32;
const BLOCK_RUN = 16_384; // values of a block of a wrapped dimension

/** What a browser can scroll through, and more than anyone does. */
export const SECTION_ROWS = 500_000;
export const SECTION_COLUMNS = 100_000;

export function sheetOf(part: Part): Sheet {
  const [first, second] = part.shape;
  if (first === undefined) return { part, rows: 1, columns: 1, count: 1, isWrapped: false };
  if (second !== undefined) return { part, rows: first, columns: second, count: first * second, isWrapped: false };
  const columns = first <= 1_000 ? 10 : first <= 100_000 ? 100 : 1_000;
  return { part, rows: Math.ceil(first / columns), columns: Math.min(columns, first), count: first, isWrapped: true };
}

/** A piece of a sheet that comes with one answer. */
export interface Block {
  key: string;
  index: string;
}

/** The block that has a cell, and the cell's place in it; null behind the end of a wrapped dimension. */
export function blockOf(sheet: Sheet, row: number, column: number): { key: string; place: number } | null {
  if (sheet.isWrapped) {
    const flat = row * sheet.columns + column;
    return flat < sheet.count ? { key: `${Math.floor(flat / BLOCK_RUN)}`, place: flat % BLOCK_RUN } : null;
  }
  const [down, across] = [Math.floor(row / BLOCK_ROWS), Math.floor(column / BLOCK_COLUMNS)];
  const width = Math.min(BLOCK_COLUMNS, sheet.columns - across * BLOCK_COLUMNS);
  return { key: `${down},${across}`, place: (row - down * BLOCK_ROWS) * width + column - across * BLOCK_COLUMNS };
}

/** Cells from a first row and column to the last ones, those included. */
export interface Window {
  top: number;
  bottom: number;
  left: number;
  right: number;
}

/** The blocks with the cells of a window. */
export function blocksOf(sheet: Sheet, window: Window): Block[] {
  const top = Math.max(0, window.top);
  const bottom = Math.min(sheet.rows - 1, window.bottom);
  const left = Math.max(0, window.left);
  const right = Math.min(sheet.columns - 1, window.right);
  if (bottom < top || right < left) return [];
  return sheet.isWrapped ? runs(sheet, top, bottom) : tiles(sheet, { top, bottom, left, right });
}

function runs(sheet: Sheet, top: number, bottom: number): Block[] {
  const last = Math.floor((Math.min((bottom + 1) * sheet.columns, sheet.count) - 1) / BLOCK_RUN);
  const blocks: Block[] = [];
  for (let at = Math.floor((top * sheet.columns) / BLOCK_RUN); at <= last; at++) {
    const index = pieceText(sheet.part, [at * BLOCK_RUN], [Math.min((at + 1) * BLOCK_RUN, sheet.count)]);
    blocks.push({ key: `${at}`, index });
  }
  return blocks;
}

function tiles(sheet: Sheet, { top, bottom, left, right }: Window): Block[] {
  const blocks: Block[] = [];
  for (let down = Math.floor(top / BLOCK_ROWS); down <= Math.floor(bottom / BLOCK_ROWS); down++) {
    for (let across = Math.floor(left / BLOCK_COLUMNS); across <= Math.floor(right / BLOCK_COLUMNS); across++) {
      const from = [down * BLOCK_ROWS, across * BLOCK_COLUMNS];
      const to = [Math.min((down + 1) * BLOCK_ROWS, sheet.rows), Math.min((across + 1) * BLOCK_COLUMNS, sheet.columns)];
      blocks.push({ key: `${down},${across}`, index: pieceText(sheet.part, from, to) });
    }
  }
  return blocks;
}

/** As far around a window as one scrolls next. */
export function around({ top, bottom, left, right }: Window): Window {
  return { top: top - BLOCK_ROWS, bottom: bottom + BLOCK_ROWS, left: left - BLOCK_COLUMNS, right: right + BLOCK_COLUMNS };
}

/** The position in the part of a cell, which `cellAt` finds again. */
export function positionOf(sheet: Sheet, row: number, column: number): number[] {
  if (sheet.isWrapped) return [row * sheet.columns + column];
  return [row, column].slice(0, sheet.part.shape.length);
}

export function cellAt(sheet: Sheet, position: readonly number[]): { row: number; column: number } {
  const [first = 0, second = 0] = position;
  if (sheet.isWrapped) return { row: Math.floor(first / sheet.columns), column: first % sheet.columns };
  return { row: first, column: second };
}

/** The real index that stands before a row. */
export function rowLabel(sheet: Sheet, row: number): string {
  const [range] = rangesOf(sheet.part);
  return range ? String(realIndex(range, sheet.isWrapped ? row * sheet.columns : row)) : "";
}

/** The real index above a column; of a wrapped dimension what is to be added to that of the row. */
export function columnLabel(sheet: Sheet, column: number): string {
  const [first, second] = rangesOf(sheet.part);
  if (second) return String(realIndex(second, column));
  if (!first) return "";
  const by = first.step * column;
  return by < 0 ? `−${-by}` : `+${by}`;
}

function rangesOf(part: Part): Range[] {
  return part.choices.filter((choice) => choice.kind === "range");
}
