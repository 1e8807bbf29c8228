/** The texts of the tuning guide: its frame, and a sentence for each kind of fact. */

import { number, percent, real } from "../../i18n/numbers";
import type { Fact, Given, Piece } from "./facts";

/** One for each kind: a kind without a sentence does not compile. */
type Sentences = Record<Fact["kind"], (given: Given) => Piece[]>;

const sentence = (strings: TemplateStringsArray, ...pieces: (Piece | Piece[])[]): Piece[] =>
  strings.flatMap((text, at) => [text, ...[pieces[at] ?? []].flat()]).filter((piece) => piece !== "");

const share = ({ value }: Given, part: string, whole: string): string => percent(Number(value(part)), Number(value(whole)));
const count = ({ value }: Given, name: string): string => number(Number(value(name)));
const figure = ({ value }: Given, name: string): string => real(value(name));
const counted = (given: Given, name: string, one: string, more: string): string => `${count(given, name)} ${given.value(name) === 1 ? one : more}`;

const MANY_LINKS = 6;

/** "10 NaN, 2 +Inf": those that there are. */
function specials(given: Given, separator: string): string {
  return kindsIn(given).map(([name, label]) => `${count(given, name)} ${label}`).join(separator);
}

/** What a scalar is. */
function theOne(given: Given): string {
  return kindsIn(given)[0]?.[1] ?? "";
}

function kindsIn({ value }: Given): [name: string, label: string][] {
  return Object.entries({ nan: "NaN", positive_inf: "+Inf", negative_inf: "−Inf" }).filter(([name]) => Number(value(name)) > 0);
}

/** 10^6, from the logarithm of a ratio. */
function power({ value }: Given): string {
  return `10^${real(Math.abs(Number(value("ratio_exponent"))), 2)}`;
}

/** Of many the first and the last ones. */
function listed(links: Piece[]): Piece[] {
  const shown = links.length <= MANY_LINKS ? links : [...links.slice(0, 2), "…", ...links.slice(-2)];
  return shown.flatMap((link, at) => (at === 0 ? [link] : [" → ", link]));
}

/** What it does to negative values is no fault by itself. */
function isRectifier({ text }: Given): boolean {
  return /relu/i.test(text);
}

export const guideEn = {
  title: "Tuning guide",
  hits: "Watchpoints hit",
  meaning: "What it means",
  check: "What to check",
  data: "What the data say",
  noHits: "No watchpoint was hit by this tensor.",
  noFacts: "Nothing conspicuous.",
  nothing: "No watchpoint was hit by this tensor, and its values are not conspicuous.",
  trace: "Trace to origin",
  waiting: "Looking at the data…",
  paused: "Shown when the training pauses.",

  facts: {
    nonfinite_first: (given) =>
      given.position === "[]" ? sentence`The value is ${theOne(given)}.` : sentence`${share(given, "count", "total")} of the values are not finite (${specials(given, ", ")}); the first is at ${given.position}.`,
    zero_rows: (given) =>
      given.value("axis") === 0
        ? sentence`${share(given, "zero", "of")} of rows are all zero (${count(given, "zero")} of ${count(given, "of")}).`
        : sentence`${share(given, "zero", "of")} of channels are all zero (${count(given, "zero")} of ${count(given, "of")}, along dimension ${count(given, "axis")}).`,
    zero_share: (given) => sentence`${share(given, "zero", "total")} of the values are zero (${count(given, "zero")} of ${count(given, "total")}).`,
    constant: (given) => sentence`All values are the same: ${figure(given, "value")}.`,
    near_limit: (given) =>
      sentence`The largest magnitude, ${figure(given, "max_abs")}, is close to the limit of ${given.text} (${figure(given, "limit")}): a little more overflows.`,
    saturated: (given) =>
      sentence`${share(given, "count", "total")} of the values are exactly ${figure(given, "value")}, as if cut off there.`,
    input_nonfinite: (given) => sentence`Input ${given.links} contains ${counted(given, "count", "value that is", "values that are")} not finite (of ${count(given, "total")}).`,
    input_zeros: (given) => sentence`Input ${given.links} contains ${counted(given, "zero", "zero", "zeros")} (of ${count(given, "total")}): ${given.text} gives nothing finite there.`,
    input_negative: (given) =>
      isRectifier(given)
        ? sentence`Input ${given.links} has no positive value: ${given.text} makes all of it zero.`
        : sentence`Input ${given.links} contains ${counted(given, "negative", "negative value", "negative values")} (of ${count(given, "total")}): ${given.text} gives NaN there.`,
    input_large: (given) => sentence`Input ${given.links} reaches ${figure(given, "max")}: ${given.text} overflows there.`,
    all_inputs_finite: () => sentence`All inputs are finite: it began in this node.`,
    gradient_trend: (given) =>
      Number(given.value("ratio_exponent")) < 0
        ? sentence`The gradient norm fell by ${power(given)} over these ${count(given, "layers")} layers: ${listed(given.links)}.`
        : sentence`The gradient norm rose by ${power(given)} over these ${count(given, "layers")} layers: ${listed(given.links)}.`,
    weight_no_update: () => sentence`No optimizer reads this weight: nothing ever updates it.`,
    weight_zero_gradient: (given) => sentence`Its gradient ${given.links} is all zero.`,
    weight_unchanged: (given) =>
      given.value("unchanged") === given.value("total")
        ? sentence`No value changed in this step.`
        : sentence`${share(given, "unchanged", "total")} of the values did not change in this step (${count(given, "unchanged")} of ${count(given, "total")}).`,
    update_ratio: (given) => sentence`In this step the weight changed by ${figure(given, "ratio")} of its size (mean |change| / mean |weight|).`,
  } satisfies Sentences as Sentences,
};

type Widened<T> = T extends string ? string : T extends (...given: infer A) => string ? (...given: A) => string : T;

export const guideZh: { [K in keyof typeof guideEn]: Widened<(typeof guideEn)[K]> } = {
  title: "调优向导",
  hits: "命中的监测点",
  meaning: "含义",
  check: "调优建议",
  data: "数据表明",
  noHits: "该张量没有命中监测点。",
  noFacts: "没有明显异常。",
  nothing: "该张量没有命中监测点，数值也没有明显异常。",
  trace: "追溯源头",
  waiting: "正在分析数据…",
  paused: "训练暂停后显示。",

  facts: {
    nonfinite_first: (given) =>
      given.position === "[]" ? sentence`该值为 ${theOne(given)}。` : sentence`${share(given, "count", "total")} 的值不是有限值（${specials(given, "，")}），第一个位于 ${given.position}。`,
    zero_rows: (given) =>
      given.value("axis") === 0
        ? sentence`${share(given, "zero", "of")} 的行全为 0（${count(given, "of")} 行中有 ${count(given, "zero")} 行）。`
        : sentence`${share(given, "zero", "of")} 的通道全为 0（第 ${count(given, "axis")} 维的 ${count(given, "of")} 个中有 ${count(given, "zero")} 个）。`,
    zero_share: (given) => sentence`${share(given, "zero", "total")} 的值为 0（${count(given, "total")} 个中有 ${count(given, "zero")} 个）。`,
    constant: (given) => sentence`所有值都相同：${figure(given, "value")}。`,
    near_limit: (given) => sentence`最大绝对值 ${figure(given, "max_abs")} 已接近 ${given.text} 的上限（${figure(given, "limit")}），再大一些就会溢出。`,
    saturated: (given) => sentence`${share(given, "count", "total")} 的值恰为 ${figure(given, "value")}，像是在此处被截断。`,
    input_nonfinite: (given) => sentence`输入 ${given.links} 中含有 ${count(given, "count")} 个非有限值（共 ${count(given, "total")} 个）。`,
    input_zeros: (given) => sentence`输入 ${given.links} 中含有 ${count(given, "zero")} 个 0（共 ${count(given, "total")} 个）：${given.text} 在这些位置得不到有限值。`,
    input_negative: (given) =>
      isRectifier(given)
        ? sentence`输入 ${given.links} 中没有正值：${given.text} 的输出全为 0。`
        : sentence`输入 ${given.links} 中含有 ${count(given, "negative")} 个负值（共 ${count(given, "total")} 个）：${given.text} 在这些位置得到 NaN。`,
    input_large: (given) => sentence`输入 ${given.links} 的最大值达到 ${figure(given, "max")}：${given.text} 在此处溢出。`,
    all_inputs_finite: () => sentence`所有输入均为有限值：异常始于该节点。`,
    gradient_trend: (given) =>
      Number(given.value("ratio_exponent")) < 0
        ? sentence`梯度范数经过以下 ${count(given, "layers")} 层缩小为原来的 1/${power(given)}：${listed(given.links)}。`
        : sentence`梯度范数经过以下 ${count(given, "layers")} 层增大到原来的 ${power(given)} 倍：${listed(given.links)}。`,
    weight_no_update: () => sentence`没有优化器读取该权重：它不会被更新。`,
    weight_zero_gradient: (given) => sentence`它的梯度 ${given.links} 全为 0。`,
    weight_unchanged: (given) =>
      given.value("unchanged") === given.value("total")
        ? sentence`本轮次没有任何值发生变化。`
        : sentence`本轮次 ${share(given, "unchanged", "total")} 的值没有变化（${count(given, "total")} 个中有 ${count(given, "unchanged")} 个）。`,
    update_ratio: (given) => sentence`本轮次该权重的变化幅度为其自身大小的 ${figure(given, "ratio")}（|变化| 平均值 / |权重| 平均值）。`,
  },
};
