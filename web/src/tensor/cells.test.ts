import { describe, expect, it } from "vitest";
import type { Statistics } from "../api/client";
import { decode } from "../api/tensor";
import { AUTO, type Cell, cellOf, difference, type Look, type Scale, scaleOf, toleratedChange, valueText } from "./cells";

function values(dtype: string, array: { buffer: ArrayBuffer | SharedArrayBuffer }) {
  return decode({ dtype, storage_dtype: dtype, shape: [], full_shape: [], step: 3 }, array.buffer as ArrayBuffer);
}
const floats = (...of: number[]) => values("float32", new Float32Array(of));
const look = (more: Partial<Look> = {}): Look => ({
  of: "current", format: AUTO, scale: null, tolerated: null, words: { changed: "changed", unchanged: "same" }, ...more,
}); // prettier-ignore
const texts = (cells: (Cell | null)[]) => cells.map((cell) => cell?.text);

describe("values as text", () => {
  it("have the digits that mean something, or those that are asked for", () => {
    const made = floats(0.1, 16777216, -1.5e-7, NaN, -Infinity);
    const all = (format: Look["format"]) => [0, 1, 2, 3, 4].map((at) => valueText(made, at, format));
    expect(all(AUTO)).toEqual(["0.1", "16777216", "-1.5e-7", "NaN", "-Inf"]);
    expect(all({ kind: "decimal", decimals: 3 })).toEqual(["0.100", "16777216.000", "-0.000", "NaN", "-Inf"]);
    expect(all({ kind: "decimal", decimals: 10 })[0]).toBe("0.1000000015"); // what a float32 holds
    expect(all({ kind: "scientific", decimals: 2 })).toEqual(["1.00e-1", "1.68e+7", "-1.50e-7", "NaN", "-Inf"]);
    expect(valueText(values("float64", new Float64Array([1 / 3])), 0)).toBe("0.333333333333");
  });

  it("are exact for integers, in both number formats", () => {
    const big = values("int64", new BigInt64Array([2n ** 53n + 1n, -(2n ** 63n)]));
    for (const format of [AUTO, { kind: "decimal", decimals: 2 } as const]) {
      expect(valueText(big, 0, format)).toBe("9007199254740993");
      expect(valueText(big, 1, format)).toBe("-9223372036854775808");
    }
    expect(valueText(values("uint64", new BigUint64Array([2n ** 64n - 1n])), 0)).toBe("18446744073709551615");
    expect(valueText(big, 0, { kind: "scientific", decimals: 3 })).toBe("9.007e+15");
    expect(valueText(values("int32", new Int32Array([1234567890])), 0)).toBe("1234567890");
  });

  it("may be truths and complex numbers", () => {
    const truths = values("bool", new Uint8Array([0, 1]));
    expect([valueText(truths, 0), valueText(truths, 1, { kind: "scientific", decimals: 2 })]).toEqual(["False", "True"]);
    const complex = values("complex64", new Float32Array([1, -2, 0.5, 0, -1, NaN]));
    expect([0, 1, 2].map((at) => valueText(complex, at))).toEqual(["1-2i", "0.5+0i", "-1+NaNi"]);
    expect(valueText(complex, 0, { kind: "decimal", decimals: 1 })).toBe("1.0-2.0i");
  });
});

describe("cells", () => {
  it("are coloured from the smallest value to the largest", () => {
    const scale = { low: -4, middle: 0, high: 2 };
    const cells = [-4, -1, 0, 1, 2, 3].map((value) => cellOf({ current: floats(value) }, 0, look({ scale })));
    expect(cells.map((cell) => cell?.weight)).toEqual([-1, -0.25, 0, 0.5, 1, 1]);
  });

  it("of one sign are coloured from the one nearest to 0, however far that is", () => {
    const scales = [[100, 104], [-104, -100], [7, 7]].map(([min, max]) => scaleOf({ min, max } as Statistics, "current"));
    const weights = (scale: Scale | null, ...of: number[]) => of.map((value) => cellOf({ current: floats(value) }, 0, look({ scale }))?.weight);
    expect(weights(scales[0]!, 100, 101, 104)).toEqual([0, 0.25, 1]);
    expect(weights(scales[1]!, -104, -101, -100)).toEqual([-1, -0.25, 0]);
    expect(weights(scales[2]!, 7)).toEqual([0]);
    expect(scaleOf({ min: 5, max: 7 } as Statistics, "difference")).toEqual({ low: 5, middle: 0, high: 7 });
  });

  it("have no colour before the figures are there, nor where these say nothing", () => {
    expect(cellOf({ current: floats(1) }, 0, look())).toEqual({ text: "1", tone: "", weight: 0 });
    expect(cellOf({ current: floats(1) }, 0, look({ scale: { low: 0, middle: 0, high: 0 } }))?.weight).toBe(0);
  });

  it("stand out where there is no number", () => {
    const cells = [0, 1, 2].map((at) => cellOf({ current: floats(NaN, Infinity, -Infinity) }, at, look({ scale: { low: -1, middle: 0, high: 1 } })));
    expect(cells).toEqual([
      { text: "NaN", tone: "nan", weight: 0 },
      { text: "Inf", tone: "inf", weight: 0 },
      { text: "-Inf", tone: "inf", weight: 0 },
    ]);
  });

  it("take complex numbers by their magnitude", () => {
    const complex = values("complex64", new Float32Array([3, -4, 1, NaN]));
    expect(cellOf({ current: complex }, 0, look({ scale: { low: 1, middle: 1, high: 9 } }))?.weight).toBe(0.5);
    expect(cellOf({ current: complex }, 1, look({ scale: { low: 1, middle: 1, high: 9 } }))?.tone).toBe("nan");
  });

  it("are not there while the values are on their way", () => {
    expect(cellOf({}, 0, look())).toBeNull();
    expect(cellOf({ current: floats(1) }, 0, look({ of: "previous" }))).toBeNull();
    expect(cellOf({ current: floats(1) }, 0, look({ of: "difference" }))).toBeNull();
  });
});

describe("comparisons", () => {
  const changes = (current: ReturnType<typeof values>, previous: ReturnType<typeof values>, more: Partial<Look> = {}) =>
    Array.from({ length: current.length }, (_, at) => cellOf({ current, previous }, at, look({ of: "difference", ...more })));

  it("of unsigned integers do not wrap", () => {
    expect(texts(changes(values("uint8", new Uint8Array([1, 255])), values("uint8", new Uint8Array([3, 0]))))).toEqual(["-2", "255"]);
  });

  it("of half-precision numbers do not overflow", () => {
    const half = (...bits: number[]) => values("float16", new Uint16Array(bits));
    expect(texts(changes(half(0x7bff), half(0xfbff)))).toEqual(["131008"]);
  });

  it("of 64-bit integers are exact, also where they do not fit", () => {
    const [low, high] = [values("int64", new BigInt64Array([-(2n ** 63n)])), values("int64", new BigInt64Array([2n ** 63n - 1n]))];
    expect(texts(changes(high, low))).toEqual(["18446744073709551615"]);
    expect(difference(2n ** 53n + 1n, 2n ** 53n)).toBe(1n);
  });

  it("of truths say whether they changed", () => {
    const cells = changes(values("bool", new Uint8Array([0, 1, 1])), values("bool", new Uint8Array([0, 1, 0])), { tolerated: 5 });
    expect(texts(cells)).toEqual(["same", "same", "changed"]);
    expect(cells[2]?.weight).toBeGreaterThan(0);
  });

  it("of NaN and of infinity less itself are NaN, and never tolerated", () => {
    const cells = changes(floats(NaN, Infinity, 1), floats(NaN, Infinity, -Infinity), { tolerated: 1e9 });
    expect(cells.map((cell) => cell?.tone)).toEqual(["nan", "nan", "inf"]);
  });

  it("are 0 and quiet up to the tolerance", () => {
    const cells = changes(floats(1, 2, 5, -3), floats(0, 0, 0, 0), { tolerated: 2, scale: { low: -3, middle: 0, high: 5 } });
    expect(texts(cells)).toEqual(["0", "0", "5", "-3"]);
    expect(cells.map((cell) => cell?.tone)).toEqual(["quiet", "quiet", "", ""]);
    expect(cells.map((cell) => cell?.weight)).toEqual([0, 0, 1, -1]);
  });

  it("tolerate a share of the largest change", () => {
    const change = { min: -8, max: 2, dtype: "float64" } as Statistics;
    expect(toleratedChange(25, change)).toBe(2);
    expect(toleratedChange(100, change)).toBe(8);
    expect(toleratedChange(0, change)).toBeNull();
    expect(toleratedChange(25, undefined)).toBeNull();
    expect(toleratedChange(25, { ...change, dtype: "bool" })).toBeNull();
    expect(toleratedChange(25, { ...change, min: "nan", max: "nan" })).toBe(0);
  });
});

it("a scale is made of the finite figures", () => {
  expect(scaleOf({ min: -1, max: 3 } as Statistics, "current")).toEqual({ low: -1, middle: 0, high: 3 });
  expect(scaleOf({ min: "nan", max: "nan" } as Statistics, "current")).toEqual({ low: 0, middle: 0, high: 0 });
  expect(scaleOf(undefined, "current")).toBeNull();
});
