import { expect, test } from "vitest";
import type { Condition, ConditionParameter, Hit } from "../api/watch";
import { watchEn, watchZh } from "./text";
import { conditionText, hitLines, rangeText, setText } from "./words";

function parameter(name: string, en: string, zh: string, given: Partial<ConditionParameter> = {}): ConditionParameter {
  return {
    name, label: { en, zh }, unit: "", role: "check", default: null, hidden: false, low: null, high: null, low_inclusive: true,
    needs: [], ...given,
  }; // prettier-ignore
}

const RANGE = ["range_start_inclusive", "range_end_inclusive"];
const CONDITIONS: Condition[] = [
  {
    id: "tensor_range", abbreviation: "TR", category: "tensor", name: { en: "Tensor value range", zh: "检查张量值范围" },
    description: { en: "", zh: "" }, advice: [], initial_only: false, needs_previous: false, needs_inputs: false, base: "tensor",
    parameters: [
      parameter(RANGE[0]!, "start", "下界", { role: "support" }),
      parameter(RANGE[1]!, "end", "上界", { role: "support" }),
      parameter("range_percentage_gt", "values in range >", "在范围中的值所占百分比>", { unit: "%", needs: RANGE, low: 0, high: 100 }),
      parameter("max_min_gt", "max-min >", "MAX-MIN >", { low: 0 }),
    ],
  },
]; // prettier-ignore

const GIVEN = { range_start_inclusive: -1, range_end_inclusive: 0, range_percentage_gt: 99.9, max_min_gt: 1e-9 };

test("a condition in words", () => {
  const of = { condition: "tensor_range", parameters: GIVEN };
  expect(conditionText(CONDITIONS, of, "en")).toBe("Tensor value range (values in range [-1, 0] > 99.9 %, max-min > 1e-9)");
  expect(conditionText(CONDITIONS, of, "zh")).toBe("检查张量值范围（在范围中的值所占百分比 [-1, 0] > 99.9 %，MAX-MIN > 1e-9）");
  expect(conditionText(CONDITIONS, { condition: "tensor_range", parameters: {} }, "en")).toBe("Tensor value range");
  expect(conditionText([], { condition: "of_tomorrow", parameters: { new: 1 } }, "en")).toBe("of_tomorrow (new 1)");
});

test("a hit says what was set and what was found", () => {
  const hit: Hit = {
    step: 1, graph: "g", node: "a/b", slot: 0, rank: 0, watchpoint: 1, watchpoint_name: "", condition: "tensor_range", position: 3, error: [],
    params: Object.entries(GIVEN).map(([name, value]) => ({ name, value, hit: name === "max_min_gt", actual: name === "max_min_gt" ? "inf" : null })),
  }; // prettier-ignore
  expect(hitLines(CONDITIONS, hit, "en", watchEn)).toEqual({
    checks: [{ label: "max-min >", set: "1e-9", actual: "Inf" }],
    reasons: [],
  });
  const error: Hit = { ...hit, params: [], error: ["nan", "no_previous"] };
  expect(hitLines(CONDITIONS, error, "zh", watchZh).reasons).toEqual(["张量中含有 NaN", "没有上一轮次的值"]);
});

test("allowed numbers in words", () => {
  const [, , percentage, difference] = CONDITIONS[0]!.parameters;
  expect(rangeText(percentage!, watchEn)).toBe("0 to 100 %");
  expect(rangeText(difference!, watchEn)).toBe("0 or more");
  expect(rangeText({ ...difference!, low_inclusive: false }, watchZh)).toBe("大于 0");
  expect(rangeText(CONDITIONS[0]!.parameters[0]!, watchEn)).toBe("any number");
  expect(setText(0.1, "%")).toBe("0.1 %");
});

test("both languages have a text for the same errors and warnings", () => {
  expect(Object.keys(watchZh.errors)).toEqual(Object.keys(watchEn.errors));
  expect(Object.keys(watchZh.warnings)).toEqual(Object.keys(watchEn.warnings));
});
