import { describe, expect, it } from "vitest";
import { css, heatColours, NAN, NEGATIVE_INF, pixelsOf, POSITIVE_INF, type Rgb, scaleOf, shareOf } from "./colours";

describe("the scale of colours", () => {
  it("goes through zero, with either side to its own end", () => {
    const scale = scaleOf(-2, 10, "zero")!;
    expect([-4, -2, -1, 0, 5, 10, 11].map((value) => shareOf(value, scale))).toEqual([-1, -1, -0.5, 0, 0.5, 1, 1]);
  });

  it("has one side only where all values have one sign", () => {
    const scale = scaleOf(3, 4, "zero")!;
    expect(scale).toEqual({ low: 0, centre: 0, high: 4 });
    expect(shareOf(-1, scale)).toBe(0);
  });

  it("goes from end to end where the middle is asked for", () => {
    const scale = scaleOf(100, 102, "middle")!;
    expect([100, 100.5, 101, 102].map((value) => shareOf(value, scale))).toEqual([-1, -0.5, 0, 1]);
  });

  it("holds for the largest doubles and for a single value", () => {
    const huge = Number.MAX_VALUE;
    const scale = scaleOf(-huge, huge, "middle")!;
    expect([-huge, 0, huge].map((value) => shareOf(value, scale))).toEqual([-1, 0, 1]);
    expect(shareOf(7, scaleOf(7, 7, "middle")!)).toBe(0);
  });

  it("is none without a finite value", () => expect(scaleOf("nan", "nan", "zero")).toBeNull());
});

describe("pixels", () => {
  const rgb = (pixel: number): Rgb => [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];

  it.each([false, true])("have the colours of the legend, dark: %s", (isDark) => {
    const colours = heatColours(isDark);
    const values = Float32Array.from([-1, 0, 2, 1, NaN, NaN, 2]);
    const flags = Uint8Array.from([0, 0, 0, NAN | POSITIVE_INF, POSITIVE_INF, NEGATIVE_INF, 0]);
    const pixels = [...pixelsOf(values, flags, scaleOf(-1, 2, "zero"), colours)];
    const expected = [colours.below, colours.ground, colours.above, colours.nan, colours.infinite, colours.infinite, colours.above];
    expect(pixels.map(rgb)).toEqual(expected);
    expect(pixels.every((pixel) => pixel >>> 24 === 255)).toBe(true);
  });

  it("are the ground's without a scale, and a text for style sheets is the same colour", () => {
    const colours = heatColours(false);
    expect(rgb(pixelsOf(Float32Array.of(NaN), Uint8Array.of(0), null, colours)[0]!)).toEqual(colours.ground);
    expect(css(colours.below)).toBe("rgb(214 97 0)");
  });
});
