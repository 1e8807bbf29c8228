/**
 * What is filled in to make a watchpoint: pure rules, the same as the server's, so that most mistakes show while one
 * types. The server has the last word; its answers name the same fields and codes.
 */

import type { Condition, ConditionParameter } from "../api/watch";
import type { Real } from "../api/client";

export type Code =
  | "unknown_condition" | "unknown_parameter" | "missing_parameter" | "missing_companion" | "start_after_end"
  | "not_a_number" | "out_of_range" | "no_nodes" | "not_watchable"; // prettier-ignore

/** What shall be watched: what the condition is for, every node, or what is selected. */
export type Nodes = "base" | "all" | "selection";

export interface Field {
  /** Whether a check is wanted; fields that belong to a check are on when the check is. */
  on: boolean;
  text: string;
}

export interface Form {
  condition: string;
  fields: Readonly<Record<string, Field>>;
  name: string;
  nodes: Nodes;
  /** Given values of parameters that are not shown: they stay as they are. */
  kept: Readonly<Record<string, number>>;
}

/** A number as people type it: 10, -.5, 1e-9, also with a typographic minus; null for everything else. */
export function parseNumber(text: string): number | null {
  const plain = text.trim().replace(/^[−–]/, "-").replace(/(e)[−–]/i, "$1-");
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) return null;
  const value = Number(plain);
  return Number.isFinite(value) ? value : null;
}

/** The number in a field; a percentage may have its sign. */
function valueIn({ unit }: ConditionParameter, text: string): number | null {
  return parseNumber(unit === "%" ? text.replace(/\s*[%％]\s*$/, "") : text);
}

/** Shortest text that is read back as the same number. */
export function numberText(value: Real | null | undefined): string {
  if (value === null || value === undefined) return "";
  return typeof value === "number" && (Math.abs(value) >= 1e9 || (value !== 0 && Math.abs(value) < 1e-4))
    ? value.toExponential()
    : String(value);
}

export function checksOf(condition: Condition): ConditionParameter[] {
  return condition.parameters.filter(({ role, hidden }) => role === "check" && !hidden);
}

/** A fresh form: defaults filled in, and the checks on that have one, else the first. */
export function startForm(condition: Condition, nodes: Nodes): Form {
  const checks = checksOf(condition);
  const hasDefaults = checks.some((each) => each.default !== null);
  const fields: Record<string, Field> = {};
  for (const each of condition.parameters) {
    const on = hasDefaults ? each.default !== null : each.name === checks[0]?.name;
    fields[each.name] = { on: each.role === "check" && on, text: numberText(each.default) };
  }
  return { condition: condition.id, fields, name: "", nodes, kept: {} };
}

/** The form of a watchpoint that there is. */
export function formOf(condition: Condition, given: { name: string; parameters: Readonly<Record<string, Real>> }): Form {
  const form = startForm(condition, "base");
  const fields: Record<string, Field> = {};
  for (const each of condition.parameters) {
    const value = given.parameters[each.name];
    fields[each.name] =
      value === undefined ? { on: false, text: form.fields[each.name]?.text ?? "" } : { on: each.role === "check", text: numberText(value) };
  }
  const hidden = condition.parameters.filter((each) => each.hidden).map(({ name }) => [name, given.parameters[name]] as const);
  const kept = Object.fromEntries(hidden.filter((each): each is readonly [string, number] => typeof each[1] === "number"));
  return { ...form, fields, name: given.name, kept };
}

/** The fields that count: checks that are on, and what these need. */
export function wanted(condition: Condition, form: Form): ConditionParameter[] {
  const on = checksOf(condition).filter((each) => form.fields[each.name]?.on);
  const needed = new Set(on.flatMap((each) => each.needs));
  return condition.parameters.filter((each) => on.includes(each) || needed.has(each.name));
}

/** What is wrong, by field; `condition` where no check is wanted at all. */
export function problemsOf(condition: Condition, form: Form): Map<string, Code> {
  const problems = new Map<string, Code>();
  const fields = wanted(condition, form);
  const values = new Map<string, number>();
  for (const each of fields) {
    const text = form.fields[each.name]?.text.trim() ?? "";
    const value = valueIn(each, text);
    if (text === "") problems.set(each.name, each.role === "check" ? "missing_parameter" : "missing_companion");
    else if (value === null) problems.set(each.name, "not_a_number");
    else if (!isInRange(each, value)) problems.set(each.name, "out_of_range");
    else values.set(each.name, value);
  }
  if (checksOf(condition).length > 0 && fields.length === 0) problems.set("condition", "missing_parameter");
  const start = values.get("range_start_inclusive");
  const end = values.get("range_end_inclusive");
  if (start !== undefined && end !== undefined && start > end) problems.set("range_end_inclusive", "start_after_end");
  return problems;
}

function isInRange({ low, high, low_inclusive }: ConditionParameter, value: number): boolean {
  if (typeof low === "number" && (low_inclusive ? value < low : value <= low)) return false;
  return !(typeof high === "number" && value > high);
}

/** The values to send: of the fields that count, as numbers. Call it on a form without problems. */
export function valuesOf(condition: Condition, form: Form): Record<string, number> {
  const values: Record<string, number> = { ...form.kept };
  for (const each of wanted(condition, form)) {
    const value = valueIn(each, form.fields[each.name]?.text ?? "");
    if (value !== null) values[each.name] = value;
  }
  return values;
}

export type Futile = "always" | "never";

/** Values that are allowed and of no use: the check hits whatever the tensor holds, or nothing. */
export function futileOf(condition: Condition, form: Form): Map<string, Futile> {
  const futile = new Map<string, Futile>();
  const values = valuesOf(condition, form);
  for (const [name, value] of Object.entries(values)) {
    const [least, most] = boundsOf(name);
    const compare = name.slice(name.lastIndexOf("_") + 1);
    if (compare === "ge" && value <= least) futile.set(name, "always");
    else if (compare === "gt" && value < least) futile.set(name, "always");
    else if (compare === "lt" && value > most) futile.set(name, "always");
    else if (compare === "gt" && value >= most) futile.set(name, "never");
    else if (compare === "ge" && value > most) futile.set(name, "never");
    else if (compare === "lt" && value <= least) futile.set(name, "never");
  }
  for (const [above, below] of [["range_percentage_gt", "range_percentage_lt"], ["max_min_gt", "max_min_lt"]] as const) {
    const [low, high] = [values[above], values[below]];
    if (low !== undefined && high !== undefined && low < high) futile.set(below, "always");
  }
  return futile;
}

/** Between which values the figure behind a check lies, whatever the tensor. */
function boundsOf(check: string): [number, number] {
  if (check.includes("percentage")) return [0, 100];
  if (/^(abs_mean|max_min)_/.test(check)) return [0, Infinity];
  return check.startsWith("abs_mean_update_ratio") ? [0, Infinity] : [-Infinity, Infinity];
}
