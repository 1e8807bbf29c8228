/** The bins of a histogram: where they begin and end, what they say, and where they are drawn. */

import type { Schemas } from "../../api/client";
import { real } from "../../i18n/numbers";

export interface Bins {
  /** Borders of the first and the last bin; of whole numbers half-way between two of them. */
  start: number;
  end: number;
  counts: readonly number[];
  isWhole: boolean;
  /** So close to each other for numbers of their size that their borders say nothing: `start` and `end` count bins. */
  isTight: boolean;
  /** The smallest and the largest value. */
  low: number;
  high: number;
}

/** Null where no value is finite. */
export function binsOf(view: Pick<Schemas["HistogramView"], "low" | "high" | "start" | "end" | "counts">): Bins | null {
  const { low, high, start, end, counts } = view;
  if (typeof low !== "number" || typeof high !== "number" || typeof start !== "number" || typeof end !== "number") return null;
  if (counts.length === 0) return null;
  const width = (end / 2 - start / 2) / counts.length;
  if (counts.length > 1 && !(start / 2 + width > start / 2 && end / 2 - width < end / 2)) {
    return { start: 0, end: counts.length, counts, isWhole: false, isTight: true, low, high };
  }
  const isWhole = end > high; // behind the last one: the server's way with integers and booleans
  const shift = isWhole ? 0.5 : 0;
  return { start: start - shift, end: end - shift, counts, isWhole, isTight: false, low, high };
}

/** Where bin `at` begins; of the bin behind the last one: where the last one ends. */
function edgeOf({ start, end, counts }: Bins, at: number): number {
  const share = at / counts.length;
  return start * (1 - share) + end * share;
}

/** What is in a bin: "[0.1, 0.2)"; of integers "3" or "3…5"; of booleans the word; else which one of how many it is. */
export function binText(bins: Bins, at: number, dtype: string): string {
  const { low, high, isWhole, counts } = bins;
  if (bins.isTight) return `${real(low)} (${at + 1}/${counts.length})`;
  const [from, to] = [edgeOf(bins, at), edgeOf(bins, at + 1)];
  if (dtype === "bool") return at === 0 ? "False" : "True";
  if (isWhole) {
    const [first, last] = [Math.ceil(from), Math.min(high, Math.ceil(to) - 1)];
    return first >= last ? String(first) : `${first}…${last}`;
  }
  if (low === high) return real(low);
  return `[${real(from)}, ${real(to)}${at === counts.length - 1 ? "]" : ")"}`;
}

/** The same values in bins as wide as those of `like`: what two histograms need to be comparable; null if they can't be. */
export function scaledTo(bins: Bins, like: Bins): Bins | null {
  if (bins.isTight || like.isTight) return null;
  const width = ({ start, end, counts }: Bins) => (end / 2 - start / 2) / counts.length;
  const factor = width(bins) > 0 && width(like) > 0 ? width(like) / width(bins) : 1;
  return { ...bins, counts: bins.counts.map((count) => count * factor) };
}

/** The values between the left and the right edge of the drawing. */
export interface Frame {
  low: number;
  high: number;
}

export function frameOf(bins: Bins, other: Bins | null): Frame {
  const low = Math.min(bins.start, other?.start ?? Infinity);
  const high = Math.max(bins.end, other?.end ?? -Infinity);
  if (low < high) return { low, high };
  const room = Math.abs(low) / 10 || 1;
  return { low: Math.max(-Number.MAX_VALUE, low - room), high: Math.min(Number.MAX_VALUE, high + room) };
}

/** From 0 at the left edge to 1 at the right one; in halves, since the distance of two finite numbers may be none. */
export function shareOf(value: number, { low, high }: Frame): number {
  return (value / 2 - low / 2) / (high / 2 - low / 2);
}

/** Half the share of the drawing that a bin of no width, of one value, takes. */
const THIN = 0.02;

/** The edges of the bins as shares of the drawing. */
export function drawnEdges(bins: Bins, frame: Frame): number[] {
  if (bins.start === bins.end) {
    const middle = shareOf(bins.start, frame);
    return [Math.max(0, middle - THIN), Math.min(1, middle + THIN)];
  }
  return Array.from({ length: bins.counts.length + 1 }, (_, at) => shareOf(edgeOf(bins, at), frame));
}

/** The bin at a share of the drawing; null beside them all. */
export function binAt(edges: readonly number[], share: number): number | null {
  const last = edges.length - 1;
  if (!(share >= edges[0]! && share <= edges[last]!)) return null;
  const after = edges.findIndex((edge) => edge > share);
  return after < 0 ? last - 1 : after - 1;
}

/** The heights at each of `places`, which have all edges among them: none beside the bins. */
export function heightsAt(counts: readonly number[], edges: readonly number[], places: readonly number[]): number[] {
  let passed = 0;
  return places.map((place) => {
    while (passed < edges.length && edges[passed]! <= place) passed++;
    return counts[passed - 1] ?? 0;
  });
}

export interface Mark {
  /** From 0 at the left edge to 1 at the right one. */
  at: number;
  label: string;
}

/** What stands below the drawing, `most` labels at most. */
export function marksOf({ isWhole, isTight, low, high }: Bins, frame: Frame, dtype: string, most: number): Mark[] {
  if (isTight) return [{ at: 0, label: real(low) }, { at: 1, label: real(high) }];
  const words = (value: number) => (dtype === "bool" ? (value ? "True" : "False") : real(value, 5));
  return roundValues(frame, most, isWhole).map((value) => ({ at: shareOf(value, frame), label: words(value) }));
}

/** Round values within the frame, `most` of them at most; of integers only whole ones. */
export function roundValues({ low, high }: Frame, most: number, isWhole: boolean): number[] {
  const span = high - low;
  if (!Number.isFinite(span)) return [low, 0, high];
  const rough = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  let step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough) ?? rough;
  if (isWhole) step = Math.max(1, step);
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step) - first + 1;
  // Too close to each other for numbers of this size: the ends say all that can be said.
  if (!(step > 0) || !(count >= 1 && count <= most + 1)) return low < high ? [low, high] : [low];
  return Array.from({ length: count }, (_, at) => (first + at) * step);
}
