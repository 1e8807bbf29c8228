import { describe, expect, it } from "vitest";
import type { Statistics } from "../api/client";
import { figuresOf } from "./statistics";
import { tensorEn } from "./text";

const BASE: Statistics = {
  dtype: "float32", shape: [3], step: 1, count: 3, max: 2.5, min: -1, mean: 0.5, abs_mean: 1, std: 0.25, zero_count: 1, negative_count: 1,
  positive_count: 1, nan_count: 0, positive_inf_count: 0, negative_inf_count: 0,
};

function told(of: Partial<Statistics>): Record<string, string> {
  const figures = { ...BASE, ...of };
  return Object.fromEntries(figuresOf(figures.dtype).map(({ label, value }) => [label(tensorEn), value(figures)]));
}

describe("the figures of a tensor", () => {
  it("has none of values where none is finite", () => {
    const none = { max: "nan", min: "nan", mean: "nan", abs_mean: "nan", std: "nan" } as const;
    for (const figures of [told({ ...none, shape: [0, 3], count: 0, std: 0 }), told({ ...none, negative_count: 3, negative_inf_count: 3 })]) {
      expect(["max", "min", "mean", "mean |x|", "std"].map((name) => figures[name])).toEqual(Array(5).fill("–"));
    }
  });

  it("has every digit of a whole number, as long as they are exact", () => {
    expect(told({ dtype: "int32", max: 2_000_000_123 })["max"]).toBe("2000000123");
    expect(told({ dtype: "int64", max: 2 ** 60 + 256 })["max"]).toBe("1.1529e+18");
    expect(told({ max: 2_000_000_123 })["max"]).toBe("2e+9");
  });

  it("says of complex numbers that it is their magnitudes that it tells of", () => {
    const names = Object.keys(told({ dtype: "complex64" }));
    expect(names).toEqual(["max |x|", "min |x|", "mean |x|", "std |x|", "zeros", "NaN", "Inf", "elements"]);
  });

  it("only counts truths", () => expect(Object.keys(told({ dtype: "bool" }))).toEqual(["True", "False", "elements"]));
});
