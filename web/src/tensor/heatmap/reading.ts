/** What a cell of a heat map says, in words. */

import type { Heatmap, Reduce } from "../../api/views";
import type { Texts } from "../../i18n";
import { real } from "../../i18n/numbers";
import { NAN, NEGATIVE_INF, POSITIVE_INF } from "../colours";
import type { Part, Range } from "../dims";
import { type Span, spanOf, spanText } from "./cells";

export interface Cell {
  row: number;
  column: number;
}

const ONE: Range = { kind: "range", start: 0, step: 1, length: 1 };

/** The rows and the columns of the picture of a part; what it lacks is one position. */
export function axesOf({ choices }: Part): [rows: Range, columns: Range] {
  const free = choices.filter((each) => each.kind === "range");
  return free.length > 1 ? [free[0]!, free[1]!] : [ONE, free[0] ?? ONE];
}

/** A position in the picture, as one in the part. */
export function inPart({ free }: Part, [row, column]: readonly [number, number]): number[] {
  return [row, column].slice(2 - free.length);
}

export function spansOf({ row, column }: Cell, { rows, columns, shape }: Heatmap): [rows: Span, columns: Span] {
  return [spanOf(row, rows, shape[0]), spanOf(column, columns, shape[1])];
}

/** The indices of the whole tensor that a cell stands for: "[0, 3, 4…7]". */
export function placeText(cell: Cell, heatmap: Heatmap, part: Part): string {
  const spans = spansOf(cell, heatmap).slice(2 - part.free.length);
  let at = 0;
  const pieces = part.choices.map((each) => (each.kind === "one" ? String(each.at) : spanText(each, spans[at++]!)));
  return `[${pieces.join(", ")}]`;
}

export function standsForOne({ rows, columns, shape }: Heatmap): boolean {
  return rows === shape[0] && columns === shape[1];
}

/** Integers from here on may not be what a 32-bit float says they are. */
const EXACT = 2 ** 24;

export function valueText({ row, column }: Cell, heatmap: Heatmap, reduce: Reduce, text: Texts): string {
  const at = row * heatmap.columns + column;
  const [value, flag] = [heatmap.values[at]!, heatmap.flags[at]!];
  const specials = specialText(flag);
  if (standsForOne(heatmap) && flag) return specials;
  const figure = Number.isNaN(value) ? "" : figureText(value, heatmap.dtype);
  const reduced = standsForOne(heatmap) || !figure ? "" : ` (${text.views.cellMean[reduce]})`;
  const also = specials && text.views.contains(specials);
  return [figure + reduced, also].filter(Boolean).join(" · ");
}

function figureText(value: number, dtype: string): string {
  if (dtype === "bool" && (value === 0 || value === 1)) return value ? "True" : "False";
  const isRounded = /^u?int/.test(dtype) && Math.abs(value) >= EXACT;
  return isRounded ? `≈ ${real(value, 7)}` : real(value);
}

function specialText(flag: number): string {
  const words = [flag & NAN && "NaN", flag & POSITIVE_INF && "Inf", flag & NEGATIVE_INF && "-Inf"];
  return words.filter(Boolean).join(", ");
}
