import { expect, test } from "vitest";
import type { Condition, ConditionParameter } from "../api/watch";
import { type Form, formOf, futileOf, numberText, parseNumber, problemsOf, startForm, valuesOf, wanted } from "./form";

const text = (en: string) => ({ en, zh: en });

function parameter(name: string, given: Partial<ConditionParameter> = {}): ConditionParameter {
  return {
    name, label: text(name), unit: "", role: "check", default: null, hidden: false, low: null, high: null, low_inclusive: true,
    needs: [], ...given,
  }; // prettier-ignore
}

function condition(id: string, parameters: ConditionParameter[]): Condition {
  return {
    id, abbreviation: "", category: "tensor", name: text(id), description: text(""), advice: [], parameters,
    initial_only: false, needs_previous: false, needs_inputs: false, base: "tensor",
  }; // prettier-ignore
}

const RANGE = condition("tensor_range", [
  parameter("range_start_inclusive", { role: "support" }),
  parameter("range_end_inclusive", { role: "support" }),
  parameter("range_percentage_lt", { unit: "%", low: 0, high: 100, needs: ["range_start_inclusive", "range_end_inclusive"] }),
  parameter("max_min_lt", { low: 0, low_inclusive: false }),
  parameter("max_min_gt", { low: 0 }),
]);
const CHANGE = condition("weight_not_changed", [
  parameter("rtol", { default: 1e-5, low: 0 }),
  parameter("atol", { role: "support", hidden: true, default: 1e-8 }),
]);

function filled(base: Form, texts: Record<string, string>): Form {
  const fields = { ...base.fields };
  for (const [name, value] of Object.entries(texts)) fields[name] = { on: true, text: value };
  return { ...base, fields };
}

test("numbers as people type them", () => {
  const good = { "10": 10, " 1e-9 ": 1e-9, "-.5": -0.5, "+3.": 3, "1E5": 1e5, "−2": -2, "1e−9": 1e-9, "007": 7 };
  for (const [typed, value] of Object.entries(good)) expect(parseNumber(typed), typed).toBe(value);
  for (const bad of ["", "-", ".", "e5", "1e", "1,5", "0x10", "nan", "inf", "1e999", "1 2", "十"]) {
    expect(parseNumber(bad), bad).toBeNull();
  }
});

test("a number's text is read back as the same number", () => {
  for (const value of [0, 1, 0.1, 1e-9, -2.5e-7, 1e20, 123456.789, 99.9]) expect(parseNumber(numberText(value))).toBe(value);
  expect(numberText(null)).toBe("");
});

test("defaults are filled in; without any, the first check is on", () => {
  expect(startForm(CHANGE, "base").fields.rtol).toEqual({ on: true, text: "1e-5" });
  const range = startForm(RANGE, "base");
  expect(wanted(RANGE, range).map(({ name }) => name)).toEqual([
    "range_start_inclusive", "range_end_inclusive", "range_percentage_lt",
  ]); // prettier-ignore
});

test("a percentage may have its sign, other numbers not", () => {
  const form = filled(startForm(RANGE, "base"), { range_percentage_lt: "0.1 %", range_start_inclusive: "0", range_end_inclusive: "5%" });
  expect(Object.fromEntries(problemsOf(RANGE, form))).toEqual({ range_end_inclusive: "not_a_number" });
  expect(valuesOf(RANGE, form).range_percentage_lt).toBe(0.1);
});

test("the range is asked for only where a check needs it", () => {
  const form = filled({ ...startForm(RANGE, "base"), fields: {} }, { max_min_gt: "3" });
  expect(valuesOf(RANGE, form)).toEqual({ max_min_gt: 3 });
  expect(problemsOf(RANGE, form).size).toBe(0);
});

test("hidden parameters are not asked for", () => {
  expect(valuesOf(CHANGE, startForm(CHANGE, "base"))).toEqual({ rtol: 1e-5 });
  const given = formOf(CHANGE, { name: "", parameters: { rtol: 0.1, atol: 0.5 } });
  expect(valuesOf(CHANGE, given)).toEqual({ rtol: 0.1, atol: 0.5 }); // unless a program gave them
});

test("each mistake is told at its field", () => {
  const empty = startForm(RANGE, "base");
  expect(Object.fromEntries(problemsOf(RANGE, empty))).toEqual({
    range_start_inclusive: "missing_companion",
    range_end_inclusive: "missing_companion",
    range_percentage_lt: "missing_parameter",
  });
  const bad = filled(empty, { range_start_inclusive: "2", range_end_inclusive: "1", range_percentage_lt: "101", max_min_lt: "0", max_min_gt: "x" });
  expect(Object.fromEntries(problemsOf(RANGE, bad))).toEqual({
    range_end_inclusive: "start_after_end",
    range_percentage_lt: "out_of_range",
    max_min_lt: "out_of_range",
    max_min_gt: "not_a_number",
  });
  expect(problemsOf(RANGE, { ...empty, fields: {} }).get("condition")).toBe("missing_parameter");
  expect(problemsOf(condition("tensor_overflow", []), { ...empty, fields: {} }).size).toBe(0);
});

test("an existing watchpoint comes back as it was given", () => {
  const form = formOf(RANGE, { name: "mine", parameters: { max_min_gt: 0 } });
  expect(form.name).toBe("mine");
  expect(valuesOf(RANGE, form)).toEqual({ max_min_gt: 0 });
});

test("checks that always or never hit", () => {
  const of = (name: string, value: string) => futileOf(condition("any", [parameter(name)]), filled(startForm(RANGE, "base"), { [name]: value })).get(name);
  expect(of("zero_percentage_ge", "0")).toBe("always");
  expect(of("zero_percentage_ge", "100")).toBeUndefined();
  expect(of("range_percentage_gt", "100")).toBe("never");
  expect(of("range_percentage_gt", "99.9")).toBeUndefined();
  expect(of("range_percentage_lt", "0")).toBe("never");
  expect(of("abs_mean_lt", "0")).toBe("never");
  expect(of("abs_mean_gt", "0")).toBeUndefined();
  expect(of("abs_mean_update_ratio_lt", "0")).toBe("never");
  expect(of("max_gt", "-1e30")).toBeUndefined();
  expect(of("rtol", "0")).toBeUndefined();
  const both = filled(startForm(RANGE, "base"), { max_min_lt: "3", max_min_gt: "2", range_start_inclusive: "0", range_end_inclusive: "1", range_percentage_lt: "5" });
  expect(futileOf(RANGE, both).get("max_min_lt")).toBe("always");
});
