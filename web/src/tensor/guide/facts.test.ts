import { describe, expect, it } from "vitest";
import { type Fact, linkLabel, sentenceOf } from "./facts";
import { guideEn, guideZh } from "./text";

const link = (node: string) => ({ graph: "g", node, slot: 0 });
const fact = (kind: Fact["kind"], numbers: Fact["numbers"] = {}, more: Partial<Fact> = {}): Fact => ({
  kind, level: "bad", numbers, position: null, text: "", links: [], ...more,
});

function said(of: Fact, texts: typeof guideEn | typeof guideZh): string | null {
  const pieces = sentenceOf(of, texts);
  return pieces && pieces.map((piece) => (typeof piece === "string" ? piece : `‹${linkLabel(piece)}›`)).join("");
}

const LOG = { links: [link("Default/net/Sub-op3")], text: "Log" };

const CASES: [Fact, string, string][] = [
  [
    fact("nonfinite_first", { count: 12, total: 4096, nan: 10, positive_inf: 2, negative_inf: 0 }, { position: [3, 17] }),
    "0.3 % of the values are not finite (10 NaN, 2 +Inf); the first is at [3, 17].",
    "0.3 % 的值不是有限值（10 NaN，2 +Inf），第一个位于 [3, 17]。",
  ],
  [
    fact("nonfinite_first", { count: 1, total: 1, nan: 0, positive_inf: 0, negative_inf: 1 }, { position: [] }),
    "The value is −Inf.",
    "该值为 −Inf。",
  ],
  [
    fact("zero_rows", { axis: 0, zero: 37, of: 100 }),
    "37 % of rows are all zero (37 of 100).",
    "37 % 的行全为 0（100 行中有 37 行）。",
  ],
  [
    fact("zero_rows", { axis: 1, zero: 12, of: 64 }),
    "19 % of channels are all zero (12 of 64, along dimension 1).",
    "19 % 的通道全为 0（第 1 维的 64 个中有 12 个）。",
  ],
  [
    fact("zero_share", { zero: 3, total: 4 }),
    "75 % of the values are zero (3 of 4).",
    "75 % 的值为 0（4 个中有 3 个）。",
  ],
  [fact("constant", { value: 0.5 }), "All values are the same: 0.5.", "所有值都相同：0.5。"],
  [
    fact("near_limit", { max_abs: 65000, limit: 65504 }, { text: "float16" }),
    "The largest magnitude, 65000, is close to the limit of float16 (65504): a little more overflows.",
    "最大绝对值 65000 已接近 float16 的上限（65504），再大一些就会溢出。",
  ],
  [
    fact("saturated", { value: 6, count: 30, total: 100 }),
    "30 % of the values are exactly 6, as if cut off there.",
    "30 % 的值恰为 6，像是在此处被截断。",
  ],
  [
    fact("input_nonfinite", { input: 0, count: 5, total: 10 }, LOG),
    "Input ‹net/Sub-op3:0› contains 5 values that are not finite (of 10).",
    "输入 ‹net/Sub-op3:0› 中含有 5 个非有限值（共 10 个）。",
  ],
  [
    fact("input_nonfinite", { input: 0, count: 1, total: 10 }, LOG),
    "Input ‹net/Sub-op3:0› contains 1 value that is not finite (of 10).",
    "输入 ‹net/Sub-op3:0› 中含有 1 个非有限值（共 10 个）。",
  ],
  [
    fact("input_zeros", { input: 0, zero: 12, total: 1000 }, LOG),
    "Input ‹net/Sub-op3:0› contains 12 zeros (of 1,000): Log gives nothing finite there.",
    "输入 ‹net/Sub-op3:0› 中含有 12 个 0（共 1,000 个）：Log 在这些位置得不到有限值。",
  ],
  [
    fact("input_negative", { input: 0, negative: 3, total: 10 }, LOG),
    "Input ‹net/Sub-op3:0› contains 3 negative values (of 10): Log gives NaN there.",
    "输入 ‹net/Sub-op3:0› 中含有 3 个负值（共 10 个）：Log 在这些位置得到 NaN。",
  ],
  [
    fact("input_negative", { input: 0, negative: 10, total: 10 }, { ...LOG, text: "ReLU" }),
    "Input ‹net/Sub-op3:0› has no positive value: ReLU makes all of it zero.",
    "输入 ‹net/Sub-op3:0› 中没有正值：ReLU 的输出全为 0。",
  ],
  [
    fact("input_large", { input: 0, max: 120 }, { ...LOG, text: "Exp" }),
    "Input ‹net/Sub-op3:0› reaches 120: Exp overflows there.",
    "输入 ‹net/Sub-op3:0› 的最大值达到 120：Exp 在此处溢出。",
  ],
  [fact("all_inputs_finite"), "All inputs are finite: it began in this node.", "所有输入均为有限值：异常始于该节点。"],
  [
    fact("gradient_trend", { ratio_exponent: -6, layers: 2 }, { links: [link("a/x"), link("b/y")] }),
    "The gradient norm fell by 10^6 over these 2 layers: ‹a/x:0› → ‹b/y:0›.",
    "梯度范数经过以下 2 层缩小为原来的 1/10^6：‹a/x:0› → ‹b/y:0›。",
  ],
  [
    fact("gradient_trend", { ratio_exponent: 3.46, layers: 2 }, { links: [link("a/x"), link("b/y")] }),
    "The gradient norm rose by 10^3.5 over these 2 layers: ‹a/x:0› → ‹b/y:0›.",
    "梯度范数经过以下 2 层增大到原来的 10^3.5 倍：‹a/x:0› → ‹b/y:0›。",
  ],
  [
    fact("gradient_trend", { ratio_exponent: -7, layers: 8 }, { links: [..."abcdefgh"].map(link) }),
    "The gradient norm fell by 10^7 over these 8 layers: ‹a:0› → ‹b:0› → … → ‹g:0› → ‹h:0›.",
    "梯度范数经过以下 8 层缩小为原来的 1/10^7：‹a:0› → ‹b:0› → … → ‹g:0› → ‹h:0›。",
  ],
  [
    fact("weight_no_update"),
    "No optimizer reads this weight: nothing ever updates it.",
    "没有优化器读取该权重：它不会被更新。",
  ],
  [fact("weight_zero_gradient", {}, { links: [link("g/dW")] }), "Its gradient ‹g/dW:0› is all zero.", "它的梯度 ‹g/dW:0› 全为 0。"],
  [fact("weight_unchanged", { unchanged: 8, total: 8 }), "No value changed in this step.", "本轮次没有任何值发生变化。"],
  [
    fact("weight_unchanged", { unchanged: 6, total: 8 }),
    "75 % of the values did not change in this step (6 of 8).",
    "本轮次 75 % 的值没有变化（8 个中有 6 个）。",
  ],
  [
    fact("update_ratio", { ratio: 0.25 }),
    "In this step the weight changed by 0.25 of its size (mean |change| / mean |weight|).",
    "本轮次该权重的变化幅度为其自身大小的 0.25（|变化| 平均值 / |权重| 平均值）。",
  ],
  [fact("constant", { value: "nan" }), "All values are the same: NaN.", "所有值都相同：NaN。"],
];

describe("what the data say", () => {
  it.each(CASES)("%o", (given, en, zh) => {
    expect(said(given, guideEn)).toBe(en);
    expect(said(given, guideZh)).toBe(zh);
  });

  it("has a sentence for every kind, in both languages", () => {
    const kinds = new Set(CASES.map(([{ kind }]) => kind));
    expect(Object.keys(guideEn.facts).sort()).toEqual([...kinds].sort());
    expect(Object.keys(guideZh.facts).sort()).toEqual([...kinds].sort());
  });

  it("says nothing of kinds that the page does not know", () => expect(said(fact("of_tomorrow" as Fact["kind"]), guideEn)).toBeNull());
});
