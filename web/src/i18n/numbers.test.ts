import { describe, expect, it } from "vitest";
import { number, percent, real } from "./numbers";

describe("numbers", () => {
  it.each([
    [0, "0"],
    [1234567, "1,234,567"],
  ])("whole: %d", (value, text) => expect(number(value)).toBe(text));

  it.each<[number | string, string]>([
    [0, "0"],
    [1.5, "1.5"],
    [-0.25, "-0.25"],
    [123456.789, "123457"],
    [1e9, "1e+9"],
    [1.25e-7, "1.25e-7"],
    [-1e-10, "-1e-10"],
    [999999999, "1000000000"],
    [0.001, "0.001"],
    [NaN, "NaN"],
    [Infinity, "Inf"],
    [-Infinity, "-Inf"],
    ["nan", "NaN"],
    ["inf", "Inf"],
    ["-inf", "-Inf"],
  ])("real: %s is %s", (value, text) => expect(real(value)).toBe(text));

  it("real: has as many digits as asked for", () => {
    expect(real(1 / 3, 3)).toBe("0.333");
    expect(real(1 / 3, 12)).toBe("0.333333333333");
  });

  it.each<[number, number, string]>([
    [0, 100, "0 %"],
    [1, 100000, "< 0.1 %"],
    [99999, 100000, "> 99.9 %"],
    [100, 100, "100 %"],
    [1, 8, "13 %"],
    [1, 16, "6.3 %"],
    [3, 0, "0 %"],
  ])("share: %d of %d", (part, whole, text) => expect(percent(part, whole)).toBe(text));
});
