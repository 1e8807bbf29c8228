/**
 * The choice of a part of a tensor, one field per dimension: an index or a slice as Python has them. Pure.
 *
 * At most two dimensions are free (ranges): they become the rows and columns of what is shown.
 */

/** A range of a dimension: `length` indices from `start` on, `step` apart (negative: backwards). */
export interface Range {
  kind: "range";
  start: number;
  step: number;
  length: number;
}

export type Choice = { kind: "one"; at: number } | Range;

/** Why a field can't be read. */
export type Mistake = "empty" | "syntax" | "colons" | "step" | "outside" | "free";

export const MOST_FREE = 2;

const WHOLE = /^\s*[+-]?\d+(_\d+)*\s*$/;

/** Reads a field, for a dimension of `size`. */
export function parseField(text: string, size: number): Choice | Mistake {
  if (text.trim() === "") return "empty";
  const pieces = text.split(":");
  if (pieces.some((piece) => piece.trim() !== "" && !WHOLE.test(piece))) return "syntax";
  if (pieces.length > 3) return "colons";
  const numbers = pieces.map((piece) => (piece.trim() === "" ? null : Number(piece.replaceAll("_", ""))));
  if (pieces.length > 1) return numbers[2] === 0 ? "step" : sliceOf(numbers, size);
  const at = numbers[0] ?? 0;
  if (at < -size || at >= size) return "outside";
  return { kind: "one", at: at < 0 ? at + size : at + 0 };
}

/** What `range(*slice.indices(size))` is in Python. */
function sliceOf([start = null, stop = null, given = null]: (number | null)[], size: number): Range {
  const step = given ?? 1;
  const [low, high] = step > 0 ? [0, size] : [-1, size - 1];
  const clip = (value: number) => Math.min(Math.max(value < 0 ? value + size : value, low), high);
  const first = start === null ? (step > 0 ? low : high) : clip(start);
  const end = stop === null ? (step > 0 ? high : low) : clip(stop);
  return { kind: "range", start: first, step, length: Math.max(0, Math.ceil((end - first) / step)) };
}

/** The fields with which a tensor opens: data in sight, whatever its shape is. */
export function firstChoice(shape: readonly number[]): string[] {
  const free = new Set(freeAtFirst(shape));
  // There is no index into a dimension of size 0.
  return shape.map((size, dimension) => (free.has(dimension) || size === 0 ? ":" : "0"));
}

/** The last two dimensions; where one of them has nothing to choose from, the two largest. */
function freeAtFirst(shape: readonly number[]): number[] {
  const last = [shape.length - 2, shape.length - 1].filter((dimension) => dimension >= 0);
  const real = shape.flatMap((size, dimension) => (size > 1 ? [dimension] : []));
  if (shape.length <= MOST_FREE || real.length === 0 || last.every((dimension) => real.includes(dimension))) return last;
  const largest = [...real].sort((one, other) => (shape[other] ?? 0) - (shape[one] ?? 0) || other - one).slice(0, MOST_FREE);
  if (largest.length === MOST_FREE) return largest;
  // One dimension has all the data: another one beside it, so that it is a row or a column.
  return [...largest, last.find((dimension) => !largest.includes(dimension)) ?? 0];
}

export interface Part {
  choices: Choice[];
  /** As the server reads it: the same part for the same text. */
  index: string;
  /** Lengths of the free dimensions. */
  shape: number[];
  /** Their numbers. */
  free: number[];
}

/** All fields read; or the mistakes, by dimension. */
export function partOf(fields: readonly string[], shape: readonly number[]): Part | Map<number, Mistake> {
  const mistakes = new Map<number, Mistake>();
  const choices: Choice[] = [];
  const free: number[] = [];
  const isEmpty = shape.includes(0);
  shape.forEach((size, dimension) => {
    const read = parseField(fields[dimension] ?? "", size);
    if (typeof read === "string") {
      mistakes.set(dimension, read);
      return;
    }
    choices.push(read);
    if (read.kind !== "range") return;
    free.push(dimension);
    if (free.length > MOST_FREE && !isEmpty) mistakes.set(dimension, "free");
  });
  if (mistakes.size > 0) return mistakes;
  return { choices, index: indexText(choices, shape), shape: lengths(choices), free };
}

function lengths(choices: readonly Choice[]): number[] {
  return choices.flatMap((choice) => (choice.kind === "range" ? [choice.length] : []));
}

/** "0, :, 3:9:2" */
export function indexText(choices: readonly Choice[], shape: readonly number[]): string {
  return choices.map((choice, dimension) => choiceText(choice, shape[dimension] ?? 0)).join(", ");
}

function choiceText(choice: Choice, size: number): string {
  if (choice.kind === "one") return String(choice.at);
  if (choice.step === 1 && choice.start === 0 && choice.length === size) return ":";
  return rangeText(choice);
}

function rangeText({ start, step, length }: Range): string {
  if (length === 0) return "0:0";
  const stop = start + step * length;
  // Before the first element there is no number to name: it would count from the end.
  return `${start}:${stop < 0 ? "" : stop}${step === 1 ? "" : `:${step}`}`;
}

/** The index of a piece of a part: `from` to `to` (not included) of each free dimension, in places of the part. */
export function pieceText(part: Part, from: readonly number[], to: readonly number[]): string {
  let at = 0;
  const pieces = part.choices.map((choice) => {
    if (choice.kind === "one") return String(choice.at);
    const [low = 0, high = 0] = [from[at], to[at]];
    at += 1;
    return rangeText({ ...choice, start: choice.start + choice.step * low, length: Math.max(0, high - low) });
  });
  return pieces.join(", ");
}

/** The index into a dimension at a place of its range. */
export function realIndex({ start, step }: Range, place: number): number {
  return start + step * place;
}

function placeInRange({ start, step, length }: Range, index: number): number | null {
  const place = (index - start) / step;
  return Number.isInteger(place) && place >= 0 && place < length ? place : null;
}

/** Where a place of the part is in the whole tensor. */
export function realPosition(part: Part, position: readonly number[]): number[] {
  let at = 0;
  return part.choices.map((choice) => (choice.kind === "one" ? choice.at : realIndex(choice, position[at++] ?? 0)));
}

/** Where a place of the whole tensor is in the part; null where the part does not have it. */
export function placeInPart(part: Part, position: readonly number[]): number[] | null {
  const found: number[] = [];
  for (const [dimension, choice] of part.choices.entries()) {
    const at = position[dimension] ?? 0;
    if (choice.kind === "one") {
      if (choice.at !== at) return null;
      continue;
    }
    const place = placeInRange(choice, at);
    if (place === null) return null;
    found.push(place);
  }
  return found;
}

/** The fields of a part that has a place of the whole tensor: as like those that are given as can be. */
export function fieldsAt(fields: readonly string[], part: Part, position: readonly number[]): string[] {
  return part.choices.map((choice, dimension) => {
    const at = position[dimension] ?? 0;
    if (choice.kind === "one") return String(at);
    return placeInRange(choice, at) === null ? ":" : (fields[dimension] ?? ":");
  });
}

/** The fields after a press of an arrow in one of them: an index goes up or down by one, around the ends. */
export function stepField(text: string, by: 1 | -1, size: number): string | null {
  const read = parseField(text, size);
  if (typeof read === "string" || read.kind !== "one") return null;
  return String((read.at + by + size) % size);
}
