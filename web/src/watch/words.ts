/** Watchpoints and hits in words: the names come from the server's table, in the language of the page. */

import type { Condition, ConditionParameter, Hit, Watchpoint } from "../api/watch";
import type { Real } from "../api/client";
import type { Language } from "../i18n";
import { real } from "../i18n/numbers";
import type { watchZh } from "./text";

export type WatchTexts = typeof watchZh;

const START = "range_start_inclusive";
const END = "range_end_inclusive";

export function conditionName(conditions: readonly Condition[], id: string, language: Language): string {
  return conditions.find((each) => each.id === id)?.name[language] ?? id;
}

/** A value as it was set: all its digits, as short as they can be. */
export function setText(value: Real, unit = ""): string {
  const text = typeof value === "number" ? shortest(value) : real(value);
  return unit === "%" ? `${text} %` : text;
}

function shortest(value: number): string {
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-3 || size >= 1e9) ? value.toExponential() : String(value);
}

/** "max > 10", "values in range < 0.1 % in [-1, 1]": what is checked, without the range's own parameters. */
export function checkTexts(condition: Condition | undefined, given: Readonly<Record<string, Real>>, language: Language): string[] {
  const texts: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    const parameter = condition?.parameters.find((each) => each.name === name);
    if (parameter?.role === "support" || parameter?.hidden) continue;
    texts.push(`${checkName(parameter, name, given, language)} ${setText(value, parameter?.unit)}`);
  }
  return texts;
}

/** The name of a check, with the range that it counts in. */
export function checkName(
  parameter: ConditionParameter | undefined,
  name: string,
  given: Readonly<Record<string, Real>>,
  language: Language,
): string {
  const label = parameter?.label[language] ?? name;
  const start = given[START];
  const end = given[END];
  if (!parameter?.needs.includes(START) || start === undefined || end === undefined) return label;
  const range = `[${setText(start)}, ${setText(end)}]`;
  // "share of values in the range >": the range belongs before the sign
  const sign = /\s*([<>]=?|[≥≤])$/.exec(label);
  return sign ? `${label.slice(0, sign.index)} ${range} ${sign[1]}` : `${label} ${range}`;
}

/** "Tensor above threshold (max > 10)" */
export function conditionText(conditions: readonly Condition[], of: Pick<Watchpoint, "condition" | "parameters">, language: Language): string {
  const condition = conditions.find((each) => each.id === of.condition);
  const checks = checkTexts(condition, of.parameters, language);
  const name = condition?.name[language] ?? of.condition;
  if (checks.length === 0) return name;
  return language === "zh" ? `${name}（${checks.join("，")}）` : `${name} (${checks.join(", ")})`;
}

export function warningText({ code, message, number }: Watchpoint["warnings"][number], text: WatchTexts): string {
  return text.warnings[code]?.(number ?? 0) ?? message;
}

/** Which numbers are allowed, in words. */
export function rangeText({ low, high, low_inclusive, unit }: ConditionParameter, text: WatchTexts): string {
  if (typeof low !== "number") return text.anyNumber;
  if (typeof high === "number") return text.between(setText(low), setText(high, unit));
  return low_inclusive ? text.atLeast(setText(low)) : text.above(setText(low));
}

export interface HitLine {
  /** The check that hit. */
  label: string;
  set: string;
  /** Empty where it was not computed. */
  actual: string;
}

/** What was hit, or the reasons why it could not be evaluated. */
export function hitLines(conditions: readonly Condition[], hit: Hit, language: Language, text: WatchTexts): { checks: HitLine[]; reasons: string[] } {
  const condition = conditions.find((each) => each.id === hit.condition);
  const given = Object.fromEntries(hit.params.map(({ name, value }) => [name, value]));
  const checks = hit.params
    .filter((each) => each.hit)
    .map(({ name, value, actual }) => {
      const parameter = condition?.parameters.find((each) => each.name === name);
      return {
        label: checkName(parameter, name, given, language),
        set: setText(value, parameter?.unit),
        actual: actual === null ? "" : `${real(actual, 8)}${parameter?.unit === "%" ? " %" : ""}`,
      };
    });
  return { checks, reasons: hit.error.map((kind) => text.errors[kind] ?? kind) };
}

/** One of its kind among the hits of a check. */
export function hitKey(hit: Hit): string {
  return `${hit.graph}\n${hit.node}\n${hit.slot}\n${hit.rank}\n${hit.watchpoint}`;
}
