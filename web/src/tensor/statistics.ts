/** Which figures are told of a tensor, by its type. Pure. */

import type { Real, Statistics } from "../api/client";
import { number, real, whole } from "../i18n/numbers";
import type { tensorZh } from "./text";

type Words = typeof tensorZh;

export interface Figure {
  label(text: Words): string;
  value(of: Statistics): string;
  isBad?(of: Statistics): boolean;
}

type Name = "max" | "min" | "mean" | "abs_mean" | "std";
type CountName = "zero_count" | "negative_count" | "positive_count" | "nan_count" | "positive_inf_count" | "negative_inf_count";

/** They are those of the finite values. */
function hasFinite({ count, nan_count, positive_inf_count, negative_inf_count }: Statistics): boolean {
  return count > nan_count + positive_inf_count + negative_inf_count;
}

function figure(label: Figure["label"], name: Name): Figure {
  return { label, value: (of) => (hasFinite(of) ? real(of[name]) : "–") };
}

/** A value of the tensor itself: of whole numbers every digit. */
function extreme(label: Figure["label"], name: "max" | "min"): Figure {
  const text = (value: Real, dtype: string) => (/int/.test(dtype) && typeof value === "number" ? whole(value) : real(value));
  return { label, value: (of) => (hasFinite(of) ? text(of[name], of.dtype) : "–") };
}

function count(label: Figure["label"], name: CountName): Figure {
  return { label, value: (of) => number(of[name]) };
}

function bad(label: Figure["label"], name: CountName): Figure {
  return { ...count(label, name), isBad: (of) => of[name] > 0 };
}

const ELEMENTS: Figure = { label: (text) => text.count, value: (of) => number(of.count) };
const ZEROS = count((text) => text.zeros, "zero_count");
const NAN = bad((text) => text.nan, "nan_count");

const NUMBERS: readonly Figure[] = [
  extreme((text) => text.max, "max"),
  extreme((text) => text.min, "min"),
  figure((text) => text.mean, "mean"),
  figure((text) => text.absMean, "abs_mean"),
  figure((text) => text.std, "std"),
  ZEROS,
  count((text) => text.negatives, "negative_count"),
  count((text) => text.positives, "positive_count"),
  NAN,
  bad((text) => text.positiveInf, "positive_inf_count"),
  bad((text) => text.negativeInf, "negative_inf_count"),
  ELEMENTS,
];

/** They are described by their magnitudes. */
const COMPLEX: readonly Figure[] = [
  figure((text) => text.absMax, "max"),
  figure((text) => text.absMin, "min"),
  figure((text) => text.absMean, "abs_mean"),
  figure((text) => text.absStd, "std"),
  ZEROS,
  NAN,
  bad((text) => text.infinite, "positive_inf_count"),
  ELEMENTS,
];

const TRUTHS: readonly Figure[] = [
  count((text) => text.trues, "positive_count"),
  count((text) => text.falses, "zero_count"),
  ELEMENTS,
];

/** Of the comparison of truths. */
export const CHANGES: readonly Figure[] = [
  count((text) => text.changed, "positive_count"),
  count((text) => text.unchanged, "zero_count"),
];

export function figuresOf(dtype: string | undefined): readonly Figure[] {
  if (dtype === "bool") return TRUTHS;
  return dtype?.startsWith("complex") ? COMPLEX : NUMBERS;
}
