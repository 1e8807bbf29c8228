/** What stands in a cell: values and differences as text, with the tone and the strength of the colour. Pure. */

import type { Real, Statistics } from "../api/client";
import type { Values } from "../api/tensor";
import { real } from "../i18n/numbers";
import type { Of } from "./parts";

export interface NumberFormat {
  kind: "auto" | "decimal" | "scientific";
  /** Behind the point, 0 to 10; "auto" does without. */
  decimals: number;
}

export const AUTO: NumberFormat = { kind: "auto", decimals: 6 };
export const MOST_DECIMALS = 10;

export interface Cell {
  text: string;
  /** What stands out: no number, or a change that is within the tolerance. */
  tone: "" | "nan" | "inf" | "quiet";
  /** −1 at the smallest value of the tensor, 1 at the largest: the strength of the colour. */
  weight: number;
}

/** Smallest and largest finite value of the whole tensor (of the differences), and the value that has no colour. */
export interface Scale {
  low: number;
  middle: number;
  high: number;
}

export interface Look {
  of: Of;
  format: NumberFormat;
  /** Null while the figures are on their way. */
  scale: Scale | null;
  /** Differences up to here count as 0; null for none. */
  tolerated: number | null;
  words: { changed: string; unchanged: string };
}

/** The values of a place in the table: the step's, the one before's, or both for a comparison. */
export interface Source {
  current?: Values;
  previous?: Values;
}

const TRUE_WEIGHT = 0.45; // a colour that many cells can have

export function cellOf(source: Source, at: number, look: Look): Cell | null {
  if (look.of === "difference") return source.current && source.previous ? changeOf(source.current, source.previous, at, look) : null;
  const values = source[look.of];
  if (!values) return null;
  const value = values.get(at);
  if (values.kind === "bool") return { text: truth(value), tone: "", weight: value ? TRUE_WEIGHT : 0 };
  const imaginary = values.imaginary(at);
  const size = values.kind === "complex" ? Math.hypot(Number(value), imaginary) : Number(value);
  return { text: valueText(values, at, look.format), tone: toneOf(value, imaginary), weight: weightOf(size, look.scale) };
}

function changeOf(current: Values, previous: Values, at: number, { format, scale, tolerated, words }: Look): Cell {
  const [now, before] = [current.get(at), previous.get(at)];
  if (current.kind === "bool") {
    const isChanged = now !== before;
    return { text: isChanged ? words.changed : words.unchanged, tone: isChanged ? "" : "quiet", weight: isChanged ? TRUE_WEIGHT : 0 };
  }
  const change = difference(now, before);
  const imaginary = current.imaginary(at) - previous.imaginary(at);
  const size = current.kind === "complex" ? Math.hypot(Number(change), imaginary) : Number(change);
  if (tolerated !== null && Math.abs(size) <= tolerated) return { text: "0", tone: "quiet", weight: 0 };
  return { text: numberText(change, imaginary, current, format), tone: toneOf(change, imaginary), weight: weightOf(size, scale) };
}

/** Integers exactly, whatever their type; floats in double precision, which no half-precision number overflows. */
export function difference(now: number | bigint, before: number | bigint): number | bigint {
  if (typeof now === "bigint" || typeof before === "bigint") {
    return typeof now === "bigint" && typeof before === "bigint" ? now - before : Number(now) - Number(before);
  }
  return now - before;
}

/** Changes up to `percent` of the largest one are tolerated: how much that is. */
export function toleratedChange(percent: number, change: Statistics | undefined): number | null {
  if (percent <= 0 || !change || change.dtype === "bool") return null;
  const largest = Math.max(...[change.min, change.max].map((value) => (typeof value === "number" ? Math.abs(value) : 0)));
  return (largest * percent) / 100;
}

/** No colour is that of 0, or of the value that is nearest to it. */
export function scaleOf(figures: Statistics | undefined, of: Of): Scale | null {
  if (!figures) return null;
  const [low, high] = [finite(figures.min), finite(figures.max)];
  return { low, middle: of === "difference" ? 0 : Math.min(Math.max(0, low), high), high };
}

function finite(value: Real): number {
  return typeof value === "number" ? value : 0;
}

function weightOf(value: number, scale: Scale | null): number {
  if (!scale || !Number.isFinite(value) || value === scale.middle) return 0;
  const { low, middle, high } = scale;
  if (value < middle) return low < middle ? -Math.min(1, (middle - value) / (middle - low)) : 0;
  return high > middle ? Math.min(1, (value - middle) / (high - middle)) : 0;
}

function toneOf(value: number | bigint, imaginary: number): Cell["tone"] {
  if (typeof value === "bigint") return "";
  if (Number.isNaN(value) || Number.isNaN(imaginary)) return "nan";
  return Number.isFinite(value) && Number.isFinite(imaginary) ? "" : "inf";
}

const truth = (value: number | bigint): string => (value ? "True" : "False");

export function valueText(values: Values, at: number, format: NumberFormat = AUTO): string {
  const value = values.get(at);
  return values.kind === "bool" ? truth(value) : numberText(value, values.imaginary(at), values, format);
}

/** All the digits of a value. */
export function exactText(values: Values, at: number): string {
  const value = values.get(at);
  if (values.kind === "bool") return truth(value);
  if (values.kind !== "complex") return typeof value === "bigint" || Number.isFinite(value) ? String(value) : real(value);
  return numberText(value, values.imaginary(at), { ...values, digits: 17 }, AUTO);
}

function numberText(value: number | bigint, imaginary: number, { kind, digits }: Values, format: NumberFormat): string {
  const isWhole = kind === "whole";
  if (kind !== "complex") return oneText(value, isWhole, digits, format);
  const sign = imaginary < 0 || Object.is(imaginary, -0) ? "-" : "+";
  return `${oneText(value, false, digits, format)}${sign}${oneText(Math.abs(imaginary), false, digits, format)}i`;
}

function oneText(value: number | bigint, isWhole: boolean, digits: number, { kind, decimals }: NumberFormat): string {
  if (isWhole && kind !== "scientific") return String(value);
  const number = Number(value);
  if (kind === "auto" || !Number.isFinite(number)) return real(number, digits);
  return kind === "decimal" ? number.toFixed(decimals) : number.toExponential(decimals);
}
